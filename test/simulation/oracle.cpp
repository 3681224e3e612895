// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What the oracle hears from callers and workers.

#include "simulation/oracle.hpp"

#include "core/pool_size.hpp"
#include "policy/pipelining.hpp"
#include "policy/remote_error.hpp"

#include <algorithm>
#include <cmath>

namespace skep::simulation {

namespace json = boost::json;
using namespace std::chrono_literals;

time_point call_record::deadline() const noexcept {
    const auto own = std::min(deadline_given.value_or(time_point::max()), after_limit(submitted, timeout));
    return outer == nullptr ? own : std::min(own, outer->deadline());
}

oracle::oracle(world& in, const pool_config& config, const climate& weather,
               const template_climate& templates)
    : world_(in),
      config_(config),
      weather_(weather),
      templates_(in, config, templates),
      limits_(size_of(config.scaling, *config.workers).limits) {}

std::string oracle::about(const call_record& call) const {
    return "call " + call.token + (call.idempotent ? " (idempotent)" : "");
}

sim_worker* oracle::find(const worker_id& id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

const behaviour& oracle::plan_of(const std::string& worker) const {
    return (*std::find_if(workers_.begin(), workers_.end(),
                          [&](const auto& each) { return each->name() == worker; }))
        ->plan();
}

call_record& oracle::new_call() {
    const spared_by_faults here;
    auto& fresh = calls_.emplace_back();
    fresh.number = calls_.size();
    const std::string whose = config_.name == "p" ? "" : config_.name; // so that no two pools have the same
    fresh.token = whose + "c" + std::to_string(fresh.number);
    fresh.correlation = fresh.token;
    by_token_.emplace(fresh.token, &fresh);
    return fresh;
}

std::size_t oracle::open_calls() const {
    return static_cast<std::size_t>(
        std::count_if(calls_.begin(), calls_.end(), [](const auto& each) { return each.is_open(); }));
}

void oracle::on_start_asked() {
    started_ = true;
    start_asked_ = world_.now();
}

void oracle::on_started() {
    running_ = true;
    running_since_ = world_.now();
    const auto up = std::count_if(workers_.begin(), workers_.end(),
                                  [](const auto& each) { return each->ready_seen.has_value(); });
    if (static_cast<std::size_t>(up) < config_.min_ready) {
        wrong("the pool has started with " + std::to_string(up) + " workers up");
    }
}

void oracle::on_shutdown_asked() {
    shutting_down_ = true;
    shutdown_asked_ = shutdown_asked_.value_or(world_.now());
}

void oracle::on_destroyed() {
    destroyed_ = true;
    on_shutdown_asked();
}

void oracle::on_resize_asked(size_limits limits) {
    resized_ = true;
    limits_ = {std::min(limits_.min, limits.min), std::max(limits_.max, limits.max)};
}

void oracle::on_suspension_asked(const worker_id& which) {
    known_suspended_ = false;
    suspended_.insert(which);
}

void oracle::on_pool_suspension_asked() {
    on_suspension_asked();
    known_resumed_ = false;
    pool_suspension_asked_ = world_.now();
}

void oracle::on_pool_resumed(time_point asked) {
    known_resumed_ = !pool_suspension_asked_ || *pool_suspension_asked_ < asked;
}

std::uint64_t oracle::on_wait(wait what) {
    const spared_by_faults here;
    waits_.emplace(++last_wait_, std::move(what));
    return last_wait_;
}

const char* oracle::draw_error() {
    return world_.chance.pick({"ValueError", "ValueError", "ValueError", "MemoryError", "skep.Error",
                               "skep.Cancelled", "skep.DeadlineExceeded"});
}

sim_worker& oracle::add_worker(launch_order order, const climate& weather, const pool_config& config) {
    const spared_by_faults here;
    auto plan = draw_behaviour(world_.chance, weather, config, world_.age());
    if (by_id_.contains(order.worker)) {
        wrong(to_string(order.worker) + " was started twice");
    }
    const int pid = 2'000'000 + static_cast<int>(workers_.size());
    auto fresh =
        std::make_shared<sim_worker>(world_, *this, std::move(order), std::move(plan), weather, config, pid);
    world_.trace(fresh->name() + " is started: " + name_of(fresh->plan().what));
    check_backoff(*fresh);
    check_taint(*fresh);
    check_suspended(*fresh);
    check_in_vain(*fresh);
    workers_.push_back(fresh);
    by_id_.emplace(fresh->id(), fresh.get());
    by_slot_[fresh->id().slot].push_back(fresh.get());
    if (shutting_down_ && shutdown_asked_ < world_.now() && !out_of_memory()) {
        wrong(fresh->name() + " was started while the pool shuts down");
    }
    return *fresh;
}

call_record* oracle::on_sent(sim_worker& to, std::uint64_t id, const json::object& message,
                             std::size_t payload) {
    const auto& command = message.at("command").as_string();
    if (command == "warm") {
        if (to.ready_seen) {
            wrong(to.name() + " was sent a call of its warm-up though it serves");
        }
        return nullptr;
    }
    const auto allowed = to.capacity() + most_ahead(to);
    if (to.load() > allowed) {
        wrong(to.name() + " has " + std::to_string(to.load()) + " calls, but may have " +
              std::to_string(allowed));
    }
    if (!to.ready_seen) {
        wrong(to.name() + " was sent a call before it was ready");
    }
    if (command == "skep.health_check" || command == "check") {
        if (known_suspended_ && known_suspended_since_ < world_.now() && !to.has_had_backlog()) {
            wrong(to.name() + " was probed though the pool is suspended");
        }
        return nullptr;
    }
    const auto& args = message.at("args").as_object();
    const auto* const correlation = message.if_contains("correlation_id");
    const auto* const token = args.contains("token") ? &args.at("token") : correlation;
    const auto found = token == nullptr ? by_token_.end() : by_token_.find(std::string(token->as_string()));
    if (found == by_token_.end()) {
        wrong(to.name() + " was sent a call that nobody made");
        return nullptr;
    }
    auto& call = *found->second;
    if (correlation == nullptr || correlation->as_string() != call.correlation) {
        wrong(about(call) + " was sent without its correlation id");
    }
    if (call.outer != nullptr && to.load() > to.capacity()) {
        wrong(about(call) + " was pipelined, though a call waits for it");
    }
    if (!config_.pipeline_depth && !call.session.empty() && to.load() > to.capacity()) {
        wrong(about(call) + " was pipelined, though it cannot be recalled");
    }
    world_.trace(call.token + " is sent to " + to.name() + (to.load() > to.capacity() ? ", ahead" : ""));
    if (call.is_reset) { // which is made in that moment
        call.submitted = world_.now();
    }
    if (to.stopped_at_step != 0) {
        wrong(to.name() + " was sent " + about(call) + " after it was told to end");
    }
    std::size_t bytes = 0;
    for (const auto each : call.blobs) {
        bytes += each;
    }
    if (command != call.command || args.at("input") != call.input ||
        args.at("padding").as_string().size() != call.padding || payload != bytes) {
        wrong(to.name() + " was sent something else than " + about(call));
    }
    const auto leaving = known_leaving_.find(to.id());
    if (leaving != known_leaving_.end() && call.born_at_step > leaving->second) {
        wrong(to.name() + " was sent " + about(call) + " though it was on its way out");
    }
    if (known_suspended_ && call.submitted > known_suspended_since_) {
        wrong(about(call) + " was sent though the pool is suspended");
    }
    const auto* const left = message.if_contains("deadline_ms");
    const auto due = call.deadline();
    if ((left != nullptr) != (due != time_point::max())) {
        wrong(about(call) + " has a deadline, or its worker was told of one, but not both");
    } else if (left != nullptr && !to.has_had_backlog()) {
        const auto told = std::chrono::milliseconds(left->to_number<std::int64_t>());
        const auto real = std::max(duration(0), due - world_.now());
        if (told > real + 1ms || told + 1ms < real) {
            wrong(about(call) + ": its worker was told a deadline that is " +
                  std::to_string((told - real) / 1ms) + " ms off: " + std::to_string(told / 1ms));
        }
    }
    for (const auto& before : call.visits) {
        const bool is_lost =
            before.at->exited || before.at->terminated || before.at->killed || before.at->did_wrong;
        if (!is_lost && !late() &&
            !out_of_memory()) { // after a stall a short heartbeat is misjudged at times
            wrong(about(call) + " was sent to " + to.name() + " while " + before.at->name() +
                  " still has it");
        }
        if (!call.idempotent && (!before.at->exited || before.begun)) {
            wrong(about(call) + " was sent to " + to.name() + " though " + before.at->name() +
                  " may have begun it");
        }
    }
    const auto* const batch = message.if_contains("batch");
    const bool is_companion = batch != nullptr && batch->at(0).to_number<std::uint64_t>() != id;
    if (call.visits.empty() && !may_be_at_lost(call) && // else it may have been sent before, and goes first
        !is_companion) {
        newest_sent_ = call.is_bound() ? newest_sent_ : std::max(newest_sent_, call.submitted);
        check_checkouts_before(call, to);
        check_given_back_before(call, to);
    }
    check_retry(call);
    check_session(call, to);
    if (!is_companion) {
        check_places(call, to);
    }
    visit fresh;
    fresh.at = &to;
    fresh.id = fresh.place = id;
    if (batch != nullptr) {
        fresh.place = batch->at(0).to_number<std::uint64_t>();
        fresh.batch_size = batch->at(1).to_number<std::size_t>();
    }
    check_batch(call, fresh);
    fresh.sent = world_.now();
    call.visits.push_back(std::move(fresh));
    return &call;
}

/// A call that was given back goes to a free worker before newer calls.
void oracle::check_given_back_before(const call_record& call, const sim_worker& to) {
    const bool may_go_anywhere = !call.is_bound() && call.lease == nullptr && call.outer == nullptr;
    if (!may_go_anywhere || to.load() > to.capacity() || out_of_memory()) {
        return;
    }
    for (const auto number : open_) {
        const auto& other = calls_[number - 1];
        const bool waits = other.is_open() && other.visits.empty() && !other.cancelled && !other.is_bound() &&
                           other.lease == nullptr && other.outer == nullptr;
        if (waits && other.returned && *other.returned < world_.now() && other.submitted < call.submitted &&
            most_in_batch(other.command) == 1) {
            wrong(about(other) + " was given back, and waits behind " + about(call));
        }
    }
}

/// The calls of a batch follow each other, and belong together.
void oracle::check_batch(const call_record& call, const visit& fresh) {
    const auto& at = *fresh.at;
    const auto& last = at.newest;
    const bool is_first = fresh.place == fresh.id;
    const bool is_within = last.call != nullptr && last.id + 1 < last.place + last.batch_size;
    if (is_within != !is_first ||
        (is_within && (last.place != fresh.place || last.batch_size != fresh.batch_size))) {
        wrong(about(call) + " is not in its batch");
    }
    if (is_within && (last.call->session != call.session || last.call->lease != call.lease ||
                      last.call->batch_key != call.batch_key || last.call->command != call.command)) {
        wrong(about(call) + " does not belong to its batch");
    }
    if (fresh.batch_size > most_in_batch(call.command)) {
        wrong(about(call) + " is in too large a batch");
    }
    if (fresh.batch_size > 1 && was_surely_in_crashed_batch(call) && !out_of_memory()) {
        wrong(about(call) + " is in a batch again, though a worker has crashed with such a batch");
    }
}

/// With it, and by itself.
bool oracle::was_surely_crash(const visit& stay) {
    const auto& at = *stay.at;
    return stay.begun && !stay.answered && at.exited_by_itself && at.is_crash() && !at.terminated &&
           !at.killed;
}

/// A worker has crashed with several calls of one batch, and with no other call. What a worker answers after
/// a lie is not read.
bool oracle::was_surely_in_crashed_batch(const call_record& call) {
    return std::any_of(call.visits.begin(), call.visits.end(), [](const visit& stay) {
        std::size_t lost = 0;
        std::size_t lost_in_batch = 0;
        for (const auto& [other, index] : stay.at->calls()) {
            const auto& beside = other->visits[index];
            lost += beside.delivered ? 0 : 1;
            lost_in_batch += !beside.delivered && beside.begun && beside.place == stay.place ? 1 : 0;
        }
        return was_surely_crash(stay) && !stay.at->did_wrong && lost > 1 && lost == lost_in_batch;
    });
}

std::size_t oracle::most_in_batch(const std::string& command) const {
    if (command != "work" || weather_.batch_most == 1) {
        return 1;
    }
    const auto found = config_.commands.find(command);
    return found == config_.commands.end() ? weather_.batch_most
                                           : found->second.batch.value_or(weather_.batch_most);
}

/// Calls that may be sent to it beyond its capacity.
std::size_t oracle::most_ahead(const sim_worker& to) const {
    return config_.pipeline_depth.value_or(to.plan().gives_back ? skep::most_ahead(pace::fast) : 0);
}

/// It is told how many calls it will have at once.
void oracle::on_welcome(sim_worker& to) {
    const auto wanted = std::max(config_.capacity, config_.threads_per_worker);
    if (to.capacity() != std::min(wanted, to.plan().offers)) {
        wrong(to.name() + " was told to be at " + std::to_string(to.capacity()) + " calls at once");
    }
}

std::size_t oracle::visit_at(const sim_worker& at, const call_record& call) const {
    for (std::size_t i = call.visits.size(); i-- > 0;) {
        if (call.visits[i].at == &at) {
            return i;
        }
    }
    return 0;
}

void oracle::on_begun(sim_worker& at, call_record& call, std::size_t visit_index) {
    world_.trace(call.token + " begins at " + at.name());
    if (call.visits[visit_index].returned) {
        wrong(about(call) + " was begun though it was given back");
    }
    call.visits[visit_index].begun = world_.now();
    const auto begun = std::count_if(call.visits.begin(), call.visits.end(),
                                     [](const auto& each) { return each.begun.has_value(); });
    if (!call.idempotent && begun > 1) {
        wrong(about(call) + " was begun twice");
    }
    const auto begun_alone = std::count_if(call.visits.begin(), call.visits.end(), [](const auto& each) {
        return each.begun && each.batch_size == 1; // a crashed batch is no attempt
    });
    if (begun_alone > config_.retry.attempts) {
        wrong(about(call) + " was begun by more workers than retry.attempts says");
    }
}

/// Every later one that is sent once the timeout of the first is over finds another missed.
void oracle::on_ping_in_vain(sim_worker& to) const {
    constexpr duration under_way = 200ms; // what it had sent before it froze is a sign of life
    if (world_.now() > *to.froze + under_way) {
        to.silent_since = to.silent_since.value_or(world_.now());
        to.pings_missed += world_.now() - *to.silent_since >= config_.heartbeat.timeout ? 1 : 0;
    }
}

/// In a row. One that came too late was counted as missing, and may have been forgiven since. A warm-up call
/// is answered like a probe, but is none.
void oracle::on_probe_answered(sim_worker& from, bool failed) const {
    if (!from.ready_seen) {
        return;
    }
    const bool in_time = world_.now() < from.probe_sent + config_.health_check.timeout;
    from.probes_failed = !failed ? 0 : from.probes_failed + (in_time ? 1 : 0);
    const bool may_be_leaving =
        may_stop_workers() || may_have_been_overdue(from) || from.stopped_at_step != 0 || late();
    from.is_condemned =
        from.is_condemned || (from.probes_failed >= config_.health_check.failures && !may_be_leaving);
}

void oracle::on_cancel_sent(sim_worker& to, std::uint64_t id) {
    for (const auto& [call, index] : to.calls()) {
        auto& stay = call->visits[index];
        if (stay.id == id) {
            world_.trace(to.name() + " is told to cancel " + call->token);
            stay.told_to_stop = stay.told_to_stop.value_or(world_.now());
            to.reset_failed = to.reset_failed || call->is_reset;
            to.did_wrong = to.did_wrong || to.reset_failed;
            to.in_trouble = world_.now();
            return;
        }
    }
    to.unknown_cancels.insert(id);
}

void oracle::on_recall_sent(sim_worker& to, std::uint64_t id) {
    if (config_.pipeline_depth || !to.plan().gives_back || !to.recalled.insert(id).second) {
        wrong(to.name() + " was asked to give call " + std::to_string(id) + " back");
    }
    for (const auto& [call, index] : to.calls()) {
        if (call->visits[index].id == id) {
            world_.trace(to.name() + " is asked to give back " + call->token);
            if (!call->session.empty() || call->lease != nullptr) {
                wrong(about(*call) + " was recalled, though it stays where it is");
            }
        }
    }
}

/// As far as the pool listens, the call is as it was before it was sent.
void oracle::on_returned(sim_worker& from, call_record& call, std::size_t visit_index) {
    world_.trace(from.name() + " has given back " + call.token);
    ++returned_;
    const bool is_broken = from.lie_seen || (from.terminated && (from.did_wrong || late()));
    if (call.is_open() && visit_index + 1 == call.visits.size() && !is_broken) {
        from.forget(call, visit_index);
        call.visits.pop_back();
        call.returned_by = &from;
        call.returned = world_.now();
    } else {
        call.visits[visit_index].delivered = world_.now();
        call.visits[visit_index].returned = true;
    }
}

/// Whether it was at a call for too long after that was given up.
bool oracle::was_overdue(const sim_worker& which) const {
    return std::any_of(which.calls().begin(), which.calls().end(), [&](const auto& each) {
        const auto& stay = each.first->visits[each.second];
        const auto heard = stay.delivered.value_or(world_.now());
        const auto given_up = stay.told_to_stop ? stay.told_to_stop : each.first->completed;
        return given_up && *given_up + config_.cancel_grace <= heard;
    });
}

/// The same, if it may not have been sent that call whole.
bool oracle::may_have_been_overdue(const sim_worker& which) const {
    return which.has_had_backlog() || was_overdue(which);
}

/// For anything but its end.
bool oracle::was_to_be_replaced(const sim_worker& which) const {
    return which.terminated || which.killed || which.reset_failed || may_have_been_overdue(which);
}

/// Whether it may keep a free place for a probe: a worker that is doubted, one with a check of its own that
/// is due, or one that a user has probed.
bool oracle::may_await_probe(const sim_worker& which) const {
    return which.plan().has_probe &&
           (which.plan().own_probe || is_probe_asked_ || config_.health_check.error_streak > 0);
}

/// Whether its own health check may have condemned it: a MemoryError counts as a failure of it.
bool oracle::was_sick(const sim_worker& which) const {
    return which.errors_seen > 0 && which.plan().has_probe;
}

/// Whether so many workers have failed that the pool may give up for a while.
bool oracle::may_be_unavailable() const {
    const auto most_workers = size_of(config_.scaling, *config_.workers).limits.max;
    const auto most = config_.restart.limit.value_or(std::max<std::size_t>(10, 5 * most_workers));
    const auto failed = std::count_if(workers_.begin(), workers_.end(), [this](const auto& each) {
        const bool may_be_misjudged = each->plan().has_probe && late(); // by its probe
        const bool is_too_large =
            config_.recycle.hard_memory > 0 && each->resident() > config_.recycle.hard_memory;
        return each->start_failed || each->is_lost() || may_have_been_overdue(*each) || was_sick(*each) ||
               may_be_misjudged || is_too_large;
    });
    return static_cast<std::size_t>(failed) > most || late(); // a stall can cost workers that are well
}

bool oracle::may_stop_workers() const noexcept {
    const bool scales = limits_.min < limits_.max;
    const bool recycles = config_.recycle.age > 0s || config_.recycle.calls > 0 ||
                          config_.recycle.soft_memory > 0 || config_.recycle.hard_memory > 0;
    return shutting_down_ || start_failed_ || resized_ || restarts_ || scales || recycles ||
           out_of_memory() || config_.health_check.error_streak > 0;
}

void oracle::on_stop(sim_worker& which, std::string_view how) {
    world_.trace(which.name() + " is " + std::string(how));
    which.stopped_at_step = which.stopped_at_step == 0 ? world_.steps() : which.stopped_at_step;
    const auto& recycling = config_.recycle;
    const bool by_calls_only = recycling.calls > 0 && recycling.age == 0s && recycling.soft_memory == 0 &&
                               recycling.hard_memory == 0 && config_.health_check.error_streak == 0;
    const bool is_wanted = !shutting_down_ && !start_failed_ && !resized_ && !restarts_ &&
                           limits_.min == limits_.max && suspended_.empty() && leases_.empty() &&
                           sessions_.empty() && !pool_suspension_asked_; // its successor is spare then
    const auto least =
        std::max(1.0, std::floor(static_cast<double>(recycling.calls) * (1 - recycling.jitter) + 0.5));
    if (how == "asked to stop" && is_wanted && by_calls_only && running_ && !out_of_memory() &&
        static_cast<double>(which.answers_seen) < least && !which.did_wrong) {
        wrong(which.name() + " was recycled after " + std::to_string(which.answers_seen) + " calls");
    }
    if (how == "asked to stop" && !shutting_down_ && !start_failed_ && !which.did_wrong && !out_of_memory()) {
        check_drained(which);
    }
    const bool is_suspended = known_suspended_ && which.ready_seen &&
                              *which.ready_seen < known_suspended_since_ &&
                              known_suspended_since_ < world_.now();
    const bool is_asked_for =
        shutting_down_ || start_failed_ || resized_ || restarts_ || limits_.min < limits_.max;
    if (how == "asked to stop" && is_suspended && !is_asked_for && !which.did_wrong && !out_of_memory()) {
        wrong(which.name() + " was recycled though the pool is suspended");
    }
    const bool is_excused = which.did_wrong || may_have_been_overdue(which) || was_sick(which);
    const bool may_be_hurried = destroyed_ || start_failed_ || !running_ || recycling.hard_memory > 0 ||
                                config_.health_check.error_streak > 0 || late() || out_of_memory();
    const bool was_asked_in_time =
        which.asked && world_.now() + 1us >= *which.asked + config_.stop.shutdown_grace;
    if (how == "sent SIGTERM" && which.ready_seen && !is_excused && !may_be_hurried && !was_asked_in_time) {
        wrong(which.name() + " was sent SIGTERM before it had its time to end by itself");
    }
    check_left_alone(which, how);
    if (may_stop_workers() || which.did_wrong) {
        return;
    }
    if (!running_ || (!which.ready_seen && world_.now() >= which.started + config_.start.timeout)) {
        return; // a start that is undone; one that takes too long
    }
    if (may_have_been_overdue(which) || was_sick(which)) {
        return;
    }
    if (!late()) {
        wrong(which.name() + " is well and wanted, but was " + std::string(how));
    }
}

/// Who is asked to end has finished what somebody waits for. But what it may have begun unseen, once it was
/// through with a call that was given up, the pool does not wait for longer than cancel_grace.
void oracle::check_drained(const sim_worker& which) {
    const auto is_given_up = [this](const auto& each) {
        const auto& stay = each.first->visits[each.second];
        const bool was_open = !stay.delivered || *stay.delivered == world_.now();
        const auto given_up = stay.told_to_stop ? stay.told_to_stop : each.first->completed;
        return given_up && *given_up + config_.cancel_grace <= world_.now() && was_open;
    };
    if (std::any_of(which.calls().begin(), which.calls().end(), is_given_up)) {
        return;
    }
    for (const auto& [call, index] : which.calls()) {
        const auto& stay = call->visits[index];
        const bool is_at_it = stay.begun && !stay.answered && !stay.told_to_stop;
        if (is_at_it && call->is_open() && !which.has_had_backlog()) {
            wrong(which.name() + " was asked to stop while it was at " + about(*call));
        }
    }
}

/// SIGKILL comes when SIGTERM has had its time.
void oracle::on_kill(const sim_worker& which) {
    const auto since = which.terminated.value_or(world_.now());
    if (which.terminated && !destroyed_ && world_.now() + 1us < since + config_.stop.term_grace &&
        !out_of_memory()) {
        wrong(which.name() + " was sent SIGKILL before its grace was over");
    }
}

void oracle::on_ready_seen(sim_worker& which) {
    if (config_.initialization.delegate) {
        world_.trace(which.name() + " is to be warmed up");
        return;
    }
    if (!which.terminated && !which.killed) { // else it is too late
        world_.trace(which.name() + " is ready");
        which.ready_seen = world_.now();
    }
}

void oracle::on_warm(const worker_id& which) {
    const spared_by_faults here;
    auto* const warm = find(which);
    if (warm == nullptr) {
        wrong(to_string(which) + " was warmed up, but never started");
    } else if (!warm->terminated && !warm->killed) {
        world_.trace(warm->name() + " is warm");
        warm->ready_seen = world_.now();
    }
}

void oracle::on_warm_up_failed(const worker_id& which) {
    const spared_by_faults here;
    if (auto* const cold = find(which)) {
        world_.trace(cold->name() + " does not get warm");
        cold->did_wrong = true;
    }
}

void oracle::on_answer_seen(sim_worker& from, call_record& call, std::size_t visit_index) {
    world_.trace("the answer of " + from.name() + " to " + call.token + " has arrived");
    auto& stay = call.visits[visit_index];
    from.reset_failed = from.reset_failed || (call.is_reset && !stay.error.empty());
    from.did_wrong = from.did_wrong || from.reset_failed;
    const bool is_broken = from.lie_seen || (from.terminated && (from.did_wrong || late()));
    const bool is_fresh = call.is_open() && visit_index + 1 == call.visits.size() && !is_broken;
    stay.in_doubt = is_broken || from.was_abandoned;
    stay.owed = is_fresh;
}

} // namespace skep::simulation
