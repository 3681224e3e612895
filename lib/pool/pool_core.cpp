// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_core.hpp"

#include "async/pause.hpp"
#include "core/text.hpp"
#include "policy/remote_error.hpp"
#include "pool/demand/tool_cycle.hpp"
#include "process/usable_cpus.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace skep {

namespace {

// When a shutdown first says who keeps it waiting, and how often from then on.
constexpr duration first_straggler_report = std::chrono::seconds(1);
constexpr duration straggler_report_interval = std::chrono::seconds(5);

pool_config completed(pool_config config) {
    if (config.workers == 0) {
        config.workers = usable_cpus();
    }
    config.capacity = std::max(config.capacity, config.threads_per_worker);
    return config;
}

std::string label_of(const output_line& line) {
    auto text = to_string(line.worker) + (line.is_stderr ? " stderr" : " stdout");
    const auto* separator = " [";
    for (const auto& id : line.correlation_ids) {
        text += separator + id;
        separator = " ";
    }
    return text.append(line.correlation_ids.empty() ? ": " : "]: ");
}

pool_context with_events(pool_context context, const pool_config& config) {
    context.events = config.events ? config.events : std::make_shared<event_bus>();
    return context;
}

} // namespace

pool_core::pool_core(pool_context context, pool_config config, const runtime_factory& make_runtime,
                     pool_membership of_manager)
    : context_(with_events(std::move(context), config)),
      config_(completed(std::move(config))),
      log_(config_, context_),
      runtime_(make_runtime(context_, config_, [this](const output_line& line) { handle_output(line); })),
      boundary_([this](const std::exception_ptr& problem) { break_down(problem); }),
      events_([this] { wake_for_events(); }, [this] { apply_events(); }),
      around_{context_, config_, *runtime_, *this, boundary_, events_, tools_, {}},
      changed_(context_.executor),
      dispatcher_(around_),
      leases_(around_, dispatcher_, log_),
      roster_(context_, config_),
      supervisor_(around_, log_, roster_, changed_),
      suspension_(config_, roster_, changed_),
      inspection_(context_, config_.heartbeat, roster_, changed_),
      autoscaler_(around_, dispatcher_, roster_, suspension_, log_, std::move(of_manager.share)),
      hooks_(context_, config_, log_),
      streaks_(config_.health_check.error_streak),
      supply_(make_group()),
      demand_(make_group()),
      phases_(make_group()),
      starts_(make_group()),
      stragglers_(make_group()),
      waits_(context_.executor),
      exhausted_(failure(errc::out_of_memory)),
      starts_again_(of_manager.starts_again) {}

task_group pool_core::make_group() {
    return {context_.executor, [this](const std::exception_ptr& problem) { boundary_.cross(problem); }};
}

/// Ends the pool, as something has failed that the pool cannot go on without: every open call and checkout is completed, every
/// worker killed with its group. What that needs was made while there was memory. What is open is completed each time: to
/// refuse a call may fail as well.
void pool_core::break_down(const std::exception_ptr& problem) noexcept {
    const bool is_first = phase_ != pool_phase::failed && phase_ != pool_phase::stopped;
    const bool was_stopping = phase_ == pool_phase::stopping;
    if (is_first) {
        spare_.reset();
        broken_.emplace(exhausted_);
        try {
            std::rethrow_exception(problem);
        } catch (const error& stated) {
            broken_.emplace(stated);
        } catch (...) {}
        phase_ = was_stopping ? pool_phase::stopped : pool_phase::failed;
        log_(log_level::error, "the pool has failed", problem);
    }
    const auto aborted = dispatcher_.break_down(broken_ ? *broken_ : exhausted_);
    report_.calls_aborted += was_stopping ? aborted : 0;
    if (is_first) {
        end_broken(was_stopping);
    }
}

void pool_core::end_broken(bool was_stopping) noexcept {
    hooks_.cancel_start();
    for (auto* const each : {&supply_, &demand_, &phases_, &starts_, &stragglers_, &waits_.changes()}) {
        each->cancel();
    }
    dispatcher_.sessions().cancel_touches();
    supervisor_.end_launch();
    supervisor_.kill_all();
    if (start_ && !start_->is_over) {
        start_->problem = broken_;
        start_->is_over = true;
    }
    ++failed_starts_;
    if (was_stopping) { // whoever waits for the shutdown is not kept waiting
        supervisor_.end_now();
        runtime_->close();
        end_shutdown();
    }
    while (!events_.empty()) {
        try {
            apply_events();
        } catch (...) {} // that one was taken
    }
    changed_.notify_all();
    if (starts_again_ && start_ && !was_stopping) {
        try {
            plan_another_start();
        } catch (...) {} // it stays failed
    }
}

error pool_core::failure_of(const std::exception_ptr& problem, bool was_cancelled) noexcept {
    try {
        try {
            std::rethrow_exception(problem);
        } catch (const boost::system::system_error& thrown) {
            if (const auto* const stated = dynamic_cast<const error*>(&thrown)) {
                return *stated;
            }
            // Its task was cancelled.
            return was_cancelled || !broken_ ? failure(was_cancelled ? errc::cancelled : errc::shutting_down)
                                             : *broken_;
        }
    } catch (...) {
        boundary_.cross(std::current_exception());
        return exhausted_;
    }
}

admission_facts pool_core::facts_of_admission() {
    admission_facts facts;
    facts.phase = phase_;
    facts.failure = broken_ ? broken_->errc() : errc::out_of_memory;
    facts.has_start_failed = failed_start() != nullptr;
    facts.is_unavailable = supervisor_.is_unavailable();
    return facts;
}

void pool_core::refuse_if_forked() const {
    if (is_forked()) {
        throw failure(errc::forked);
    }
}

void pool_core::check_out(lease_claim& fresh) {
    leases_.receive(fresh);
    events_.settle();
    std::optional<route_refusal> refusal;
    if (const auto code = refusal_of(facts_of_admission())) {
        refusal.emplace(route_refusal{*code, cause_of_refusal()});
    }
    leases_.check_out(fresh, refusal);
    note_waiting();
}

void pool_core::submit(call& fresh) {
    dispatcher_.receive(fresh);
    events_.settle();
    auto facts = facts_of_admission();
    facts.is_part_of_another = dispatcher_.is_part_of_running_call(fresh);
    if (const auto refusal = refusal_of(facts)) {
        dispatcher_.refuse(fresh, *refusal, cause_of_refusal());
        return;
    }
    const bool may_grow = outer_of(fresh) != nullptr && may_get_more_workers();
    dispatcher_.submit(fresh, may_grow);
    note_waiting();
}

void pool_core::take_chunks(call& from, stream_credit taken) {
    events_.settle();
    dispatcher_.take_chunks(from, taken);
}

/// What has brought the pool into a state in which it refuses calls.
error_info pool_core::cause_of_refusal() const {
    if (const auto* const failed = failed_start()) {
        return failed->info();
    }
    return phase_ == pool_phase::running ? last_cause() : error_info();
}

/// Acts on deadlines until it is cancelled. All that has happened before comes first.
asio::awaitable<void> pool_core::watch_deadlines() {
    auto& deadlines = dispatcher_.room().deadlines();
    for (;;) {
        co_await deadlines.wait();
        events_.settle();
        deadlines.tell_due({shortage(), may_get_more_workers()}, events_);
        for (const auto& each : dispatcher_.take_timed_out()) {
            note_failed_call(*each.at, *each.given_up, "timeout");
        }
        note_waiting();
    }
}

/// Workers that were to come may not: tools' calls that have waited for them may wait for each other alone.
void pool_core::refuse_circles() {
    if (!may_get_more_workers()) {
        dispatcher_.refuse_circles();
    }
}

std::size_t pool_core::fail_queue(errc code, const error_info& info) {
    leases_.refuse_checkouts(code, info); // calls are left
    return dispatcher_.fail_queue(code, info);
}

std::size_t pool_core::abort_all(errc code) {
    leases_.refuse_checkouts(code);
    return dispatcher_.abort_all(code);
}

asio::awaitable<shutdown_report> pool_core::shutdown() {
    events_.settle();
    begin_shutdown();
    while (phase_ != pool_phase::stopped) {
        co_await changed_.wait();
    }
    co_return report_;
}

void pool_core::abandon() {
    events_.settle();
    hurry_ = true;
    begin_shutdown();
    if (phase_ == pool_phase::stopping) {
        report_.calls_aborted += abort_all(errc::shutting_down);
        supervisor_.stop_all(stop_stage::kill);
    }
}

void pool_core::end_now(const asio::execution_context&) noexcept {
    supervisor_.end_now();
    runtime_->close(); // after the workers: it ends what is left of their groups, and a launch under way
    waits_.forget_callers();
    dispatcher_.forget_callers();
}

void pool_core::begin_shutdown() {
    if (phase_ == pool_phase::stopping || phase_ == pool_phase::stopped) {
        return;
    }
    phase_ = pool_phase::stopping;
    hurry_ = hurry_ || is_forked(); // nothing may be sent to workers of another process
    hooks_.cancel_start();
    supervisor_.progress().open(); // a start that is under way looks up
    changed_.notify_all();
    run_in(phases_, run_shutdown());
}

asio::awaitable<void> pool_core::run_shutdown() {
    const auto began = context_.now();
    log_(log_level::debug, [&] { return "shutdown: " + describe_state(); });
    run_in(stragglers_, name_stragglers(began));
    while (start_ && !start_->is_over) {
        co_await changed_.wait();
    }
    starts_.cancel();
    co_await starts_.join();
    supply_.cancel();
    supervisor_.end_launch();
    leases_.refuse_checkouts(errc::shutting_down); // they would have no calls
    dispatcher_.room().serve_all();
    const auto before = dispatcher_.queued() + dispatcher_.in_flight();
    give_up_queue_if_hopeless();
    if (!hurry_) {
        co_await dispatcher_.drain(began + config_.stop.drain_timeout);
    }
    report_.calls_aborted += abort_all(errc::shutting_down);
    report_.calls_drained = before - std::min(before, report_.calls_aborted);
    co_await take_down(hurry_ ? stop_stage::kill : stop_stage::ask);
    stragglers_.cancel();
    co_await stragglers_.join();
    supervisor_.drop_vacancies();
    report_.took = context_.now() - began;
    phase_ = pool_phase::stopped;
    end_shutdown();
}

void pool_core::end_shutdown() noexcept {
    if (!config_.events) {
        context_.events->end_waits(); // a subscriber would keep its context at work
    }
    started_in_ = 0;
    autoscaler_.give_up_share();
    changed_.notify_all();
}

/// A pool that shuts down starts no workers and ends no suspension: what those it has will not take, nobody will.
void pool_core::give_up_queue_if_hopeless() {
    if (phase_ == pool_phase::stopping && !suspension_.will_serve()) {
        report_.calls_aborted += fail_queue(errc::shutting_down, {});
    }
}

/// Says at intervals who keeps a shutdown waiting.
asio::awaitable<void> pool_core::name_stragglers(time_point began) {
    auto next = began + first_straggler_report;
    for (;;) {
        co_await pause_until(context_.executor, next);
        const auto now = context_.now();
        log_(log_level::info, [&] { return describe_stragglers(now - began); });
        next = now + straggler_report_interval;
    }
}

std::string pool_core::describe_stragglers(duration waited) {
    constexpr std::size_t most = 8;
    const auto picture = status();
    std::string text = "shutdown has taken " + std::to_string(waited / std::chrono::seconds(1)) + " s; " +
                       std::to_string(picture.in_flight) + " calls run, " + std::to_string(picture.queued) +
                       " wait; waiting for";
    std::size_t named = 0;
    std::size_t others = 0;
    for (const auto& each : picture.workers) {
        if (each.state == worker_state::created || each.state == worker_state::pending) {
            continue;
        }
        if (named == most) {
            ++others;
            continue;
        }
        text += (named++ == 0 ? " " : ", ") + to_string(each.id) + " (" + std::string(to_string(each.state)) +
                ", pid " + std::to_string(each.pid);
        text += each.calls.empty() ? ")" : ", at " + each.calls.front().command + ")";
    }
    text += named == 0 ? " what the workers have left" : "";
    return text + (others == 0 ? "" : " and " + std::to_string(others) + " more");
}

std::string pool_core::describe_state() {
    const auto picture = status();
    std::size_t available = 0;
    std::size_t busy = 0;
    for (const auto& each : picture.workers) {
        available += each.state == worker_state::ready && !each.retiring ? 1 : 0;
        busy += each.state == worker_state::busy ? 1 : 0;
    }
    const bool is_starting = start_ && !start_->is_over;
    const bool has_started = start_ && start_->is_over && !start_->problem;
    return std::string("initialised ") + (has_started ? "yes" : "no") + ", workers " +
           std::to_string(picture.live) + " of " + std::to_string(picture.desired) + ", available " +
           std::to_string(available) + ", busy " + std::to_string(busy) + ", queued " +
           std::to_string(picture.queued) + ", waiters " +
           std::to_string(ready_waiters_ + (is_starting ? 1 : 0));
}

/// Stops every worker, ends the loops, and gives back the thread.
asio::awaitable<void> pool_core::take_down(stop_stage first) {
    supply_.cancel();
    waits_.changes().cancel();
    dispatcher_.sessions().cancel_touches();
    supervisor_.stop_all(first);
    co_await supervisor_.join();
    events_.settle();
    demand_.cancel();
    co_await supply_.join();
    co_await demand_.join();
    co_await hooks_.join();
    roster_.for_each([this](worker& each) { // whose end was lost, with the memory for it
        dispatcher_.remove(each);
        supervisor_.count_end(each);
    });
    roster_.clear();
    runtime_->close();
}

pool_status pool_core::status() {
    events_.settle();
    pool_status result;
    result.name = config_.name;
    result.phase = phase_;
    result.queued = dispatcher_.queued();
    result.in_flight = dispatcher_.in_flight();
    result.leases = leases_.size();
    result.sessions = dispatcher_.sessions().known().bound();
    const auto now = context_.now();
    auto& waiting = dispatcher_.room().queue();
    result.oldest_wait = waiting.empty() ? duration::zero() : duration(now - waiting.oldest().submitted);
    result.retry_tokens = dispatcher_.retry_tokens();
    result.counters = dispatcher_.counters();
    autoscaler_.count(result.counters);
    result.suspended = suspension_.is_on();
    supervisor_.report(result, now);
    return result;
}

pool_metrics pool_core::metrics() {
    pool_metrics result;
    result.status = status();
    result.start_time = supervisor_.start_time();
    dispatcher_.report(result);
    return result;
}

error pool_core::failure(errc code, error_info info) const {
    info.pool = config_.name;
    return error(code, std::move(info));
}

error_info pool_core::last_cause() const {
    auto info = supervisor_.last_failure();
    const auto code = supervisor_.last_failure_code();
    const auto what = code == errc::worker_lost ? "the worker was lost" // not one that had a call
                                                : make_error_code(code).message();
    info.detail = "the last failure was: " + what + ": " + info.detail;
    return info;
}

void pool_core::handle_output(const output_line& printed) noexcept {
    const auto level = printed.is_stderr ? log_level::warning : log_level::info;
    const bool is_told = context_.events->wants<events::worker_printed>();
    if (!config_.output.handler && !log_.wants(level) && !is_told) {
        return;
    }
    hand_on_output([&] {
        const auto* const by = roster_.find_anywhere(printed.worker);
        const auto ids = by != nullptr ? by->calls().correlation_ids() : std::vector<std::string>();
        const output_line line{printed.worker, printed.is_stderr, printed.text, ids};
        tell_printed(line);
        config_.output.handler ? config_.output.handler(line) : log_line_of_worker(level, line, by);
    });
}

void pool_core::tell_printed(const output_line& line) const noexcept {
    context_.tell<events::worker_printed>([&] {
        return events::worker_printed{line.worker, line.is_stderr, to_utf8(line.text),
                                      line.correlation_ids.size() == 1 ? line.correlation_ids.front() : ""};
    });
}

void pool_core::on_log(const worker& sender, const log_message& said) noexcept {
    hand_on_output([&] {
        const auto prefix = said.logger.empty() ? "" : said.logger + ": ";
        const auto text = prefix + said.text;
        const std::span ids(&said.correlation_id, said.correlation_id.empty() ? 0 : 1);
        const output_line line{sender.id(), true, text, ids};
        tell_printed(line);
        config_.output.handler ? config_.output.handler(line)
                               : log_record_of_worker(sender, said, to_string(sender.id()) + " " + prefix);
    });
}

template <class HandOn>
void pool_core::hand_on_output(HandOn hand_on) noexcept {
    try {
        hand_on();
    } catch (...) {
        log_(log_level::error, "a line of output was lost as it was handed on", std::current_exception());
    }
}

void pool_core::log_line_of_worker(log_level level, const output_line& line, const worker* by) const {
    const auto label = label_of(line);
    log_subject about;
    about.channel = "skep.worker";
    about.worker = &line.worker;
    about.pid = by != nullptr ? by->life().pid() : 0;
    if (line.correlation_ids.size() == 1) {
        about.correlation_id = line.correlation_ids.front();
    }
    const auto session = by != nullptr ? by->calls().session_of(about.correlation_id) : std::string();
    about.session = session;
    about.logger = line.is_stderr ? "stderr" : "stdout";
    about.label = label;
    log_(level, line.text, about);
}

void pool_core::log_record_of_worker(const worker& by, const log_message& said,
                                     const std::string& label) const {
    auto about = subject_of(by);
    about.channel = "skep.worker";
    about.correlation_id = said.correlation_id;
    const auto session = by.calls().session_of(said.correlation_id);
    about.session = session;
    about.logger = said.logger;
    about.label = label;
    log_(said.level, said.text, about);
}

void pool_core::on_result(worker& sender, call& answered, result_message& answer, time_point now) {
    if (answered.state == call_state::running) {
        streaks_.succeeded(sender.id().slot, answered.req.command());
    }
    dispatcher_.on_result(sender, answered, answer, now);
}

void pool_core::on_remote_error(worker& sender, call& answered, error_message& answer) {
    if (answered.state == call_state::running && may_be_workers_fault(answer.type, answer.code)) {
        note_failed_call(sender, answered, answer.type);
    }
    dispatcher_.on_remote_error(sender, answered, answer);
}

void pool_core::note_failed_call(worker& at, const call& failed, const std::string& how) {
    if (at.life().departure()) {
        return;
    }
    const auto& command = failed.req.command();
    const auto verdict = streaks_.failed(at.id().slot, command);
    const bool has_own_check = at.health().is_own();
    if (verdict == streak_verdict::none || (verdict == streak_verdict::streak && !has_own_check)) {
        return;
    }
    auto story = verdict == streak_verdict::streak
                     ? "each of its last " + std::to_string(config_.health_check.error_streak) +
                           " calls of '" + command + "' failed"
                     : std::string("it fails many more calls than its siblings");
    story += "; the last one: " + how;
    if (verdict == streak_verdict::convict && !has_own_check) {
        at.report({failure_kind::fails_alone, std::move(story)});
    } else if (at.health().can_probe()) {
        at.report({failure_kind::error_streak, std::move(story)});
    }
}

void pool_core::require_running() {
    events_.settle();
    switch (phase_) {
    case pool_phase::running: return;
    case pool_phase::created:
        if (const auto* const failed = failed_start()) {
            throw *failed;
        }
        [[fallthrough]];
    case pool_phase::starting: throw failure(errc::not_started);
    case pool_phase::failed: throw *broken_;
    default: throw failure(errc::shutting_down);
    }
}

std::string pool_core::shortage() const {
    if (suspension_.is_on()) {
        return "the pool is suspended";
    }
    if (roster_.ready() == 0 && !supervisor_.last_failure().detail.empty()) {
        return last_cause().detail;
    }
    const auto idle = roster_.out_of_rotation();
    return idle == 0 ? ""
                     : std::to_string(idle) + " of " + std::to_string(roster_.desired()) +
                           " workers take no calls: they are degraded, suspended or not up";
}

} // namespace skep
