// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/supervisor.hpp"

#include "core/pool_size.hpp"
#include "policy/start_plan.hpp"

#include <algorithm>
#include <thread>
#include <tuple>

namespace skep {

namespace {

// Unplanned ends that a pool tolerates within its window: as configured, or by its size.
std::size_t tolerated_ends(const pool_config& config) {
    constexpr std::size_t per_worker = 5;
    constexpr std::size_t at_least = 10;
    const auto most_workers = size_of(config.scaling, *config.workers).limits.max;
    return config.restart.limit.value_or(std::max(at_least, per_worker * most_workers));
}

/// A worker ended for its size, not caused by its calls, counts as failed: its successors will fail the same
/// way.
worker_death death_of(const worker& leaver, time_point now) {
    const auto& why = *leaver.life().departure();
    const bool has_failed = why.cause == departure_cause::memory_limit && leaver.recycling().is_in_vain();
    const bool was_retired = why.planned || kind_of(why.cause) == departure_kind::fault;
    return {was_retired && !has_failed, leaver.life().was_up(), leaver.life().uptime(now),
            leaver.calls().completed(), has_failed ? exit_status() : leaver.life().process().status};
}

/// The worker ended by itself, and its exit class will be known in a moment.
bool may_have_crashed(const worker& leaver) {
    const auto& why = *leaver.life().departure();
    const bool is_by_itself =
        why.cause == departure_cause::process_exit || why.cause == departure_cause::lost_channel;
    return leaver.life().was_up() && is_by_itself && !why.planned;
}

} // namespace

supervisor::supervisor(const worker_surroundings& surroundings, const pool_log& log, roster& workers,
                       condition_variable& change_signal)
    : surroundings_(surroundings),
      context_(surroundings.context),
      config_(surroundings.config),
      log_(log),
      roster_(workers),
      replacement_(context_, config_, log, workers, change_signal,
                   [this](std::size_t index) { return make_worker(index); }),
      intensity_(tolerated_ends(config_), config_.restart, config_.start.timeout),
      lives_(context_.executor,
             [this](const std::exception_ptr& problem) { surroundings_.limit.cross(problem); }),
      progress_(context_.executor) {}

void supervisor::reset() {
    last_failure_ = {};
    intensity_.reset();
    for (auto& slot : roster_.slots()) {
        slot.plan.reset();
        slot.trial.reset();
    }
}

std::shared_ptr<worker> supervisor::make_worker(std::size_t index) {
    auto& slot = roster_[index];
    worker_id id{config_.name, static_cast<std::uint32_t>(index), ++slot.generation};
    roster_.expect_worker();
    surroundings_.events.expect_worker();
    auto fresh = std::make_shared<worker>(surroundings_, std::move(id), slot.vacancy);
    if (slot.current) {
        fresh->follow(slot.current->id().generation, {});
    } else {
        fresh->follow(slot.last_process_of, slot.left_as);
    }
    // The pool must outlive its workers: their tasks refer to parts of the pool.
    const auto both = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<worker>>>(
        surroundings_.owner.lock(), fresh);
    lives_.spawn(both, fresh->run());
    roster_.started();
    return fresh;
}

void supervisor::begin_launch() {
    launch_.begin(roster_.vacant());
    for (const auto index : roster_.vacant()) {
        roster_[index].plan.set_in_launch(true);
    }
}

time_point supervisor::launch_due(time_point now) {
    if (launch_.is_due(roster_.starting(), now)) {
        for (std::size_t started = 0; started < config_.start.batch_size && !launch_.empty();) {
            const auto index = launch_.take();
            if (roster_.vacant().contains(index)) { // the slot may be unwanted by now
                start(index);
                ++started;
            }
        }
        launch_.batch_done(now, config_.start);
    }
    return launch_.next();
}

void supervisor::end_launch() noexcept {
    while (!launch_.empty()) {
        roster_[launch_.take()].plan.set_in_launch(false);
    }
}

void supervisor::start(std::size_t index) {
    roster_.fill(index, make_worker(index));
}

void supervisor::on_up(worker& new_worker) {
    roster_.came_up();
    ++counters_.workers_started;
    start_time_.record(context_.now() - new_worker.asked_for());
    auto& slot = roster_.slot_of(new_worker);
    slot.plan.came_up();
    if (const auto trial = std::exchange(slot.trial, {})) {
        intensity_.came_up(*trial, context_.now());
    }
    if (slot.successor.get() == &new_worker) {
        replacement_.succeed(slot);
    }
    progress_.open();
}

/// The slot of a worker that has served is free at once; the worker may take a while to leave.
void supervisor::on_left_service(worker& leaver) {
    if (leaver.life().was_up()) {
        roster_.left_service(leaver);
        if (!leaver.life().departure()->planned) {
            intensity_.ended(context_.now());
        }
        if (roster_.slot_of(leaver).current.get() == &leaver) {
            free_slot(leaver);
        }
    }
    record_fault(leaver); // last: may lack memory
}

void supervisor::free_slot(worker& leaver) {
    const auto index = leaver.id().slot;
    auto& slot = roster_[index];
    slot.left_by = leaver.id().generation;
    if (leaver.life().process().exists) {
        slot.last_process_of = leaver.id().generation;
        slot.left_as.reset();
    }
    const auto now = context_.now();
    slot.plan.left(death_of(leaver, now), may_have_crashed(leaver), context_.random(), now);
    replacement_.forget(index);
    roster_.make_room(index);
    if (roster_.vacant().contains(index) && is_held(index, now)) {
        hold_back(index, now);
    }
}

bool supervisor::is_held(std::size_t index, time_point now) const {
    const auto& plan = roster_[index].plan;
    const auto start = plan.earliest_start(roster_.ready() + roster_.starting());
    return !plan.is_in_launch() && (start > now || plan.failure_streak() > 0);
}

/// Makes its next worker pending.
void supervisor::hold_back(std::size_t index, time_point now) {
    const auto& plan = roster_[index].plan;
    const auto start = plan.earliest_start(roster_.ready() + roster_.starting());
    boost::json::object facts;
    if (start > now && !plan.awaits_verdict()) {
        facts["held_for_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(start - now).count();
    }
    facts["failure_count"] = plan.failure_streak();
    roster_.hold_back(index,
                      !roster_.may_start(index)   ? "two workers are still leaving its slot"
                      : start > now               ? "its slot is held back after the last worker's end"
                      : plan.failure_streak() > 0 ? "its slot has failed"
                                                  : "workers are started a few at a time",
                      std::move(facts));
}

void supervisor::drop_vacancies() {
    for (const auto index : roster_.vacant()) {
        roster_.drop_vacancy(index, transition_reason::shutdown, "the pool was stopped");
    }
}

void supervisor::on_ended(worker& ended_worker) {
    if (!ended_worker.life().was_up()) {
        roster_.start_ended();
    }
    try {
        draw_conclusions(ended_worker);
    } catch (...) { // without memory the pool fails, but the worker has ended all the same
        remove(ended_worker);
        throw;
    }
    remove(ended_worker);
}

void supervisor::draw_conclusions(worker& ended_worker) {
    record_end(ended_worker);
    judge(ended_worker, context_.now());
    if (!ended_worker.life().was_up()) { // the cause of its failure is known only now
        on_start_failed(ended_worker);
    }
}

void supervisor::remove(const worker& ended_worker) {
    pass_on_slot_of(ended_worker);
    surroundings_.events.forget_worker();
    count_end(ended_worker); // together with the next line
    roster_.ended(ended_worker);
    progress_.open();
}

/// The exit class and the last answers are known only now.
void supervisor::judge(const worker& ended_worker, time_point now) {
    auto& slot = roster_.slot_of(ended_worker);
    const auto death = death_of(ended_worker, now);
    const auto kind = ended_worker.life().process().verdict.kind;
    const bool is_latest =
        slot.left_by == ended_worker.id().generation; // later workers may have failed to start
    if (is_latest && ended_worker.life().was_up()) {
        slot.plan.verdict_is_out();
    }
    if (!ended_worker.life().departure()->planned && slot.plan.judged(kind, death, now)) {
        context_.publish<events::worker_tainted>([&] {
            return events::worker_tainted{ended_worker.id(), std::string(to_string(kind))};
        });
        const auto describe = [&] {
            return to_string(ended_worker.id()) + " ended as " + std::string(to_string(kind)) +
                   ": its slot is held back";
        };
        log_(log_level::warning, describe, subject_of(ended_worker));
    }
    if (ended_worker.life().was_up() && is_latest && !slot.current) {
        slot.plan.reconsider(death, context_.random(), now);
    }
}

void supervisor::on_start_failed(worker& failed_worker) {
    auto& slot = roster_.slot_of(failed_worker);
    const auto now = context_.now();
    const bool was_stopped = failed_worker.life().is_stopping();
    if (!was_stopped) {
        intensity_.ended(now);
    }
    if (slot.successor.get() == &failed_worker) {
        replacement_.on_successor_failed(failed_worker, context_.random(), now);
        return;
    }
    if (slot.current.get() == &failed_worker) {
        if (const auto trial = std::exchange(slot.trial, {})) {
            if (was_stopped) {
                intensity_.abandoned(*trial, now);
            } else {
                intensity_.failed(*trial, now);
            }
        }
        free_slot(failed_worker);
    }
}

/// The next worker may be starting already. Tells it the exit class of the old worker, if its handshake is
/// not over.
void supervisor::pass_on_slot_of(const worker& ended_worker) {
    auto& slot = roster_.slot_of(ended_worker);
    const auto generation = ended_worker.id().generation;
    const auto kind = ended_worker.life().process().verdict.kind;
    if (generation == slot.last_process_of) {
        slot.left_as = kind;
    }
    for (const auto& each : {slot.current, slot.successor}) {
        if (each && each->follows() == generation) {
            each->follow(generation, kind);
        }
    }
}

void supervisor::count_end(const worker& ended_worker) {
    const auto& life = ended_worker.life();
    counters_.output_lines_dropped += ended_worker.output_lines_dropped();
    counters_.attachments_lent += ended_worker.calls().memory().lent();
    counters_.attachments_passed += ended_worker.calls().memory().passed();
    counters_.attachments_received += ended_worker.calls().received_memory().taken();
    counters_.shared_fallbacks += ended_worker.calls().memory().fallbacks();
    counters_.shared_results += ended_worker.calls().received_memory().results().opened();
    if (!life.was_up()) {
        counters_.start_failures += life.is_lost() ? 1 : 0;
    } else if (life.is_lost()) {
        ++counters_.workers_lost;
        counters_.crashes += is_crash(life.process().verdict.kind) ? 1 : 0;
    } else {
        const auto cause = life.departure()->cause;
        ++(kind_of(cause) == departure_kind::fault ? counters_.workers_replaced
           : cause == departure_cause::recycling   ? counters_.workers_recycled
                                                   : counters_.workers_removed);
    }
}

void supervisor::record_end(const worker& ended_worker) {
    const auto& status = ended_worker.life().process().status;
    if (status.was_taken() && !warned_of_reapers_) { // once in a pool's life
        warned_of_reapers_ = true;
        log_(log_level::warning,
             [&] { return "how " + to_string(ended_worker.id()) + " ended is " + likely_cause(status); });
    }
    auto& slot = roster_.slot_of(ended_worker);
    if (record_fault(ended_worker) && ended_worker.id().generation >= slot.failed_generation) {
        slot.failed_generation = ended_worker.id().generation;
        slot.last_failure = last_failure_.info().detail + (status.known() ? ", " + to_string(status) : "");
    }
}

/// Returns false if the worker has left as planned, or has not left.
bool supervisor::record_fault(const worker& leaver) {
    const auto& why = leaver.life().departure();
    const bool is_fault = why && kind_of(why->cause) != departure_kind::plan;
    if (is_fault) {
        const auto code = why->code == errc::worker_lost ? context_.lost_code() : why->code;
        last_failure_ = error(code, leaver.describe());
    }
    return is_fault;
}

void supervisor::record_failure_under_way() {
    if (!has_failure()) {
        roster_.for_each([this](const worker& each) { record_fault(each); });
    }
}

/// Returns the failure of a worker, perhaps without a call, in front of its detail.
std::string supervisor::what_failed(errc code, const error_info& info) const {
    if (code == errc::spawn_failed && context_.has_nodes) {
        return "no link was opened";
    }
    return code == errc::worker_lost ? "the worker was lost"
           : code == errc::node_lost ? "node " + info.node + " was lost"
                                     : make_error_code(code).message();
}

error_info supervisor::last_cause() const {
    auto info = last_failure();
    const auto what = what_failed(last_failure_code(), info);
    info.detail = "the last failure was: " + what + ": " + info.detail;
    return info;
}

/// Publishes the circuit's state if it has changed.
void supervisor::publish_circuit(time_point now) {
    const auto is = intensity_.state(now);
    const auto was = std::exchange(reported_circuit_, is);
    if (was != is) {
        context_.publish<events::breaker_changed>([&] {
            return events::breaker_changed{config_.name, std::string(to_string(was)),
                                           std::string(to_string(is))};
        });
    }
}

/// Warns about an execution context that several threads run: each call then wakes threads in vain.
void supervisor::watch_threads() {
    if (thread_watch_.observe(std::this_thread::get_id())) {
        log_(log_level::warning,
             "several threads run the execution context of the pool; a call then takes about twice the CPU "
             "time. Give the pool a context with one thread: see skep::context_group");
    }
}

asio::awaitable<void> supervisor::supervise() {
    auto next_tick = context_.now() + config_.restart.safety_tick;
    for (;;) {
        surroundings_.events.catch_up();
        roster_.work().close(); // before the check: a start may fail at once
        const auto now = context_.now();
        publish_circuit(now);
        watch_threads();
        const bool tick = now >= next_tick;
        if (intensity_.state(now) != circuit_state::closed) {
            end_launch(); // from now on each start needs a permit
        }
        const auto next_batch = launch_due(now);
        start_due(tick ? config_.restart.starts_per_tick : 0, now);
        hold_back_vacant(now);
        replacement_.plan(now);
        next_tick = tick ? now + config_.restart.safety_tick : next_tick;
        const auto next = std::min({next_tick, next_batch, next_start(now), replacement_.next_check(now)});
        co_await roster_.work().wait_until(next);
    }
}

void supervisor::start_due(std::size_t at_least, time_point now) {
    const auto is_due = [&](std::size_t index) {
        return roster_.may_start(index) &&
               roster_[index].plan.earliest_start(roster_.ready() + roster_.starting()) <= now;
    };
    const auto rank = [&](std::size_t index) {
        return std::tuple_cat(roster_[index].plan.rank(now), std::tuple(index));
    };
    std::vector<std::size_t> due;
    std::copy_if(roster_.vacant().begin(), roster_.vacant().end(), std::back_inserter(due), is_due);
    std::sort(due.begin(), due.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    due.resize(starts_allowed(due.size(), roster_.starting(), config_.start.batch_size, at_least));
    for (const auto index : due) {
        if (!is_due(index)) {
            continue; // a start just before has changed that
        }
        roster_[index].trial = intensity_.admit(now);
        if (!roster_[index].trial) {
            break;
        }
        start(index);
    }
}

/// Slots not started now wait.
void supervisor::hold_back_vacant(time_point now) {
    for (const auto index : roster_.vacant()) {
        if (!roster_[index].plan.is_in_launch() && roster_.vacancy(index).state() == worker_state::created) {
            hold_back(index, now);
        }
    }
}

/// Returns the next moment at which a slot may be filled. Slots already due wait for room or for the end of
/// leaving workers, signalled by roster::work(), or for the restart intensity.
time_point supervisor::next_start(time_point now) {
    auto next = time_point::max();
    const bool is_closed = intensity_.state(now) == circuit_state::closed;
    for (const auto index : roster_.vacant()) {
        const auto due = roster_[index].plan.earliest_start(roster_.ready() + roster_.starting());
        const auto admitted = is_closed ? due : std::max(due, intensity_.next_admission(now));
        if (admitted > now) {
            next = std::min(next, admitted);
        }
    }
    return next;
}

void supervisor::stop_all(stop_stage first) {
    roster_.for_each([first](worker& each) { each.stop(first); });
}

void supervisor::kill_all() noexcept {
    roster_.for_each([](worker& each) { each.kill(); }); // first: takes no memory
    roster_.for_each([](worker& each) {
        try {
            each.stop(stop_stage::kill);
        } catch (...) {
            each.end_now();
        }
    });
}

void supervisor::end_now() noexcept {
    roster_.for_each([](worker& each) { each.kill(); }); // all at once: ends in parallel take less time
    roster_.for_each([](worker& each) { each.end_now(); });
}

} // namespace skep
