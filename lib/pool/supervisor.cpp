// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supervisor.hpp"

#include "core/clock.hpp"
#include "core/pool_size.hpp"
#include "policy/backoff.hpp"
#include "policy/start_plan.hpp"

#include <algorithm>
#include <tuple>

namespace skep {

namespace {

// Unplanned ends that a pool of any size tolerates within its window, unless told otherwise.
std::size_t tolerated_ends(const pool_config& config) {
    constexpr std::size_t per_worker = 5;
    constexpr std::size_t at_least = 10;
    return config.restart.limit != 0
               ? config.restart.limit
               : std::max(at_least, per_worker * size_of(config.scaling, config.workers).limits.max);
}

worker_death death_of(const worker& gone, time_point now) {
    return {gone.life().why_retired().has_value(), gone.life().was_up(), gone.uptime(now), gone.completed(),
            gone.exit().status};
}

bool is_unplanned(const worker& gone) {
    const auto& why = gone.life().why_retired();
    return why ? is_unplanned(*why) : !gone.life().is_stopping();
}

/// It ended by itself, and how it did will be known in a moment.
bool may_have_crashed(const worker& gone) {
    const bool by_itself = !gone.life().why_failed() || gone.life().why_failed()->code == errc::worker_lost;
    return gone.life().was_up() && by_itself && !gone.life().why_retired() && !gone.life().is_stopping();
}

/// Its place is to be filled again, for it did not leave as planned.
bool has_failed(const worker& gone) {
    return is_unplanned(gone) && (gone.life().why_failed() || gone.life().why_retired());
}

} // namespace

supervisor::supervisor(const worker_surroundings& around, const pool_log& log)
    : around_(around),
      context_(around.context),
      config_(around.config),
      log_(log),
      intensity_(tolerated_ends(config_), config_.restart, config_.start.timeout),
      lives_(context_.executor,
             [this](std::exception_ptr) { log_(log_level::error, "the supervision of a worker failed"); }),
      changed_(context_.executor),
      work_(context_.executor) {
    grow_to(size_of(config_.scaling, config_.workers).initial);
}

std::shared_ptr<worker> supervisor::make_worker(std::size_t index, const std::shared_ptr<void>& owner) {
    auto& slot = slots_[index];
    worker_id id{config_.name, static_cast<std::uint32_t>(index), ++slot.generation};
    auto fresh = std::make_shared<worker>(around_, std::move(id));
    around_.events.expect_worker();
    slot.current ? fresh->follow(slot.current->id().generation, {})
                 : fresh->follow(slot.vacated_by, slot.vacated_as);
    ++starting_;
    // The pool outlives its workers: their tasks refer to what it owns.
    const auto both =
        std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<worker>>>(owner, fresh);
    lives_.spawn(both, fresh->run());
    return fresh;
}

void supervisor::begin_launch() {
    to_launch_.assign(vacant_.begin(), vacant_.end());
    for (const auto index : to_launch_) {
        slots_[index].to_launch = true;
    }
    batch_due_ = {};
}

/// A batch is due when the one before is up, or after batch_delay.
time_point supervisor::launch_due(time_point now, const std::shared_ptr<void>& owner) {
    if (is_launching() && (starting_ == 0 || now >= batch_due_)) {
        for (std::size_t started = 0; started < config_.start.batch_size && is_launching();) {
            const auto index = to_launch_.front();
            to_launch_.pop_front();
            if (vacant_.contains(index)) { // it may be wanted no more
                start_slot(index, owner);
                ++started;
            }
        }
        batch_due_ = now + config_.start.batch_delay;
    }
    return is_launching() ? batch_due_ : time_point::max();
}

void supervisor::end_launch() noexcept {
    for (const auto index : to_launch_) {
        slots_[index].to_launch = false;
    }
    to_launch_.clear();
}

void supervisor::start_slot(std::size_t index, const std::shared_ptr<void>& owner) {
    vacant_.erase(index);
    slots_[index].to_launch = false;
    slots_[index].current = make_worker(index, owner);
}

void supervisor::on_ready(worker& which) {
    --starting_;
    ++ready_;
    ++past_.workers_started;
    auto& slot = slots_[which.id().slot];
    slot.due = {};
    if (const auto trial = std::exchange(slot.trial, {})) {
        intensity_.came_up(*trial, clock::now());
    }
    if (slot.successor.get() == &which) {
        succeed(slot);
    }
    if (suspended_) {
        which.suspend();
    }
    changed_.open();
    work_.open();
}

/// The slot of a worker that has served is free for another at once; it may take a while to leave.
void supervisor::on_out_of_service(worker& which) {
    if (!which.life().was_up()) {
        return;
    }
    --ready_;
    leaving_.push_back(which.shared_from_this());
    suspensions_.fail(which.id(), no_such_worker(which.id()));
    pool_suspensions_.done(which.id());
    if (is_unplanned(which)) {
        intensity_.ended(clock::now());
    }
    if (slots_[which.id().slot].current.get() == &which) {
        vacate(which);
    }
}

void supervisor::vacate(worker& leaver) {
    const auto index = leaver.id().slot;
    auto& slot = slots_[index];
    const auto now = clock::now();
    if (leaver.life().has_process()) {
        slot.vacated_by = leaver.id().generation;
        slot.vacated_as.reset();
    }
    slot.previous_streak = slot.failure_streak;
    slot.failure_streak = next_failure_streak(slot.failure_streak, death_of(leaver, now), config_.restart);
    slot.due = now + backoff_after(slot.failure_streak);
    slot.awaits_verdict = config_.crash_barrier.enabled && may_have_crashed(leaver);
    slot.current = std::move(slot.successor); // on its way, perhaps
    forget_recycling(index);
    if (!slot.current && slot.wanted) {
        vacant_.insert(index);
    }
    work_.open();
}

duration supervisor::backoff_after(int streak) {
    return backoff_delay(streak, context_.random(), config_.restart);
}

/// How it ended and its last answers are known only now: they may speak for an earlier start of the next, or against
/// it.
void supervisor::reconsider(const worker& gone) {
    auto& slot = slots_[gone.id().slot];
    const auto now = clock::now();
    const auto death = death_of(gone, now);
    if (slot.generation == gone.id().generation) {
        slot.awaits_verdict = false;
    }
    judge_taint(gone, now);
    if (slot.current || slot.generation != gone.id().generation) {
        return; // the next has been started already
    }
    const auto streak = next_failure_streak(slot.previous_streak, death, config_.restart);
    if (streak < slot.failure_streak) {
        slot.failure_streak = streak;
        slot.due = std::min(slot.due, now + backoff_after(streak));
    }
}

/// The next one may be on its way already; it is told if its handshake is not over.
void supervisor::hand_over(const worker& gone) {
    auto& slot = slots_[gone.id().slot];
    const auto generation = gone.id().generation;
    if (generation == slot.vacated_by) {
        slot.vacated_as = gone.life().verdict().kind;
    }
    for (const auto& each : {slot.current, slot.successor}) {
        if (each && each->follows() == generation) {
            each->follow(generation, gone.life().verdict().kind);
        }
    }
}

void supervisor::judge_taint(const worker& gone, time_point now) {
    auto& slot = slots_[gone.id().slot];
    if (is_unplanned(gone) && slot.tainted.ended(gone.life().verdict().kind, gone.exit().status,
                                                 gone.uptime(now), config_.crash_barrier, now)) {
        log_(log_level::warning, to_string(gone.id()) + " ended as " +
                                     std::string(to_string(gone.life().verdict().kind)) +
                                     ": its slot is held back");
    }
}

void supervisor::note_failure(const worker& failed) {
    last_failure_ = failed.describe();
    last_failure_code_ = failed.life().why_failed() ? failed.life().why_failed()->code : errc::worker_lost;
    auto& slot = slots_[failed.id().slot];
    if (failed.id().generation >= slot.failed_generation) {
        slot.failed_generation = failed.id().generation;
        slot.last_failure = last_failure_.detail +
                            (last_failure_.status.known() ? ", " + to_string(last_failure_.status) : "");
    }
}

void supervisor::count_end(const worker& gone) {
    past_.output_lines_dropped += gone.output_lines_dropped();
    if (!gone.life().was_up()) {
        past_.start_failures += gone.life().why_failed() ? 1 : 0;
    } else if (const auto& why = gone.life().why_retired()) {
        ++(is_unplanned(*why)                       ? past_.workers_replaced
           : why->what == retirement::kind::recycle ? past_.workers_recycled
                                                    : past_.workers_removed);
    } else if (gone.life().why_failed()) {
        ++past_.workers_lost;
        past_.crashes += is_crash(gone.life().verdict().kind) ? 1 : 0;
    } else {
        ++past_.workers_removed;
    }
}

void supervisor::tell_end(const worker& gone) {
    warn_of_other_reapers(gone);
    if (has_failed(gone)) {
        note_failure(gone);
    }
}

/// Once in a pool's life.
void supervisor::warn_of_other_reapers(const worker& gone) {
    const auto status = gone.exit().status;
    if (status.was_taken() && !warned_of_reapers_) {
        warned_of_reapers_ = true;
        log_(log_level::warning, "how " + to_string(gone.id()) + " ended is " + likely_cause(status));
    }
}

void supervisor::on_ended(worker& which) {
    count_end(which);
    try {
        tell_end(which);
    } catch (const std::exception&) { // no memory for words
    }
    if (which.life().was_up()) {
        reconsider(which);
    } else { // only now is the cause of its failure known
        --starting_;
        on_start_failed(which);
    }
    hand_over(which);
    around_.events.forget_worker();
    std::erase_if(leaving_, [&which](const auto& each) { return each.get() == &which; });
    restarts_.done(which.id());
    changed_.open();
    work_.open();
}

void supervisor::on_start_failed(worker& which) {
    const auto index = which.id().slot;
    auto& slot = slots_[index];
    const auto now = clock::now();
    if (!which.life().is_stopping()) {
        intensity_.ended(now);
    }
    judge_taint(which, now);
    if (slot.successor.get() == &which) {
        on_successor_failed(which, now);
        return;
    }
    if (slot.current.get() == &which) {
        if (const auto trial = std::exchange(slot.trial, {})) {
            which.life().is_stopping() ? intensity_.abandoned(*trial, now) : intensity_.failed(*trial, now);
        }
        vacate(which);
    }
}

/// The old one goes on serving.
void supervisor::on_successor_failed(worker& which, time_point now) {
    const auto index = which.id().slot;
    auto& slot = slots_[index];
    slot.successor.reset();
    slot.failure_streak += which.life().is_stopping() ? 0 : 1;
    slot.due = now + backoff_after(slot.failure_streak);
    if (restarts_.is_awaited(slot.current->id())) { // somebody decides whether to try again
        break_off_restarts(which);
    } else if (!which.life().is_stopping()) {
        want_recycling(index, slot.why_recycled);
    }
}

asio::awaitable<void> supervisor::reconcile(std::shared_ptr<void> owner) {
    auto next_tick = clock::now() + config_.restart.safety_tick;
    while (!closed_) {
        work_.close(); // before looking: a start may fail at once
        const auto now = clock::now();
        const bool tick = now >= next_tick;
        around_.events.remind();
        if (intensity_.state(now) != circuit_state::closed) {
            end_launch(); // from now on each start needs its permission
        }
        const auto next_batch = launch_due(now, owner);
        start_due(tick ? config_.restart.starts_per_tick : 0, now, owner);
        look_for_recycling(now);
        begin_recycling(now, owner);
        next_tick = tick ? now + config_.restart.safety_tick : next_tick;
        const auto next = std::min({next_tick, next_batch, next_due(now), next_recycling(now)});
        co_await work_.wait_until(next);
    }
}

void supervisor::start_due(std::size_t at_least, time_point now, const std::shared_ptr<void>& owner) {
    std::vector<std::size_t> due;
    std::copy_if(vacant_.begin(), vacant_.end(), std::back_inserter(due),
                 [&](std::size_t index) { return due_at(slots_[index]) <= now; });
    const auto rank = [&](std::size_t index) { // those that crashed come last
        const auto& slot = slots_[index];
        return std::tuple(slot.tainted.is_tainted(now), slot.awaits_verdict, index);
    };
    std::sort(due.begin(), due.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
    due.resize(starts_allowed(due.size(), starting_, config_.start.batch_size, at_least));
    for (const auto index : due) {
        auto& slot = slots_[index];
        if (due_at(slot) > now) {
            continue; // the one before it has changed that
        }
        slot.trial = intensity_.admit(now);
        if (!slot.trial) {
            break;
        }
        start_slot(index, owner);
    }
}

/// When a vacant slot may be filled, as far as it is up to the slot.
time_point supervisor::due_at(const slot_state& slot) const noexcept {
    const auto others = ready_ + starting_;
    const bool waits = slot.awaits_verdict && others > 0; // reconsider() comes soon
    return waits || slot.to_launch ? time_point::max()
                                   : std::max(slot.due, slot.tainted.earliest_start(others));
}

/// The next moment at which a slot may be filled. Those that are due already wait for room, that is for work_, or
/// for intensity_.
time_point supervisor::next_due(time_point now) {
    auto next = time_point::max();
    for (const auto index : vacant_) {
        const auto due = due_at(slots_[index]);
        const auto admitted = intensity_.state(now) == circuit_state::closed
                                  ? due
                                  : std::max(due, intensity_.next_admission(now));
        if (admitted > now) {
            next = std::min(next, admitted);
        }
    }
    return next;
}

void supervisor::close() {
    closed_ = true;
    end_launch();
    work_.open();
}

void supervisor::reopen() {
    closed_ = false;
    suspended_ = false;
    last_failure_ = {};
    last_failure_code_ = errc::worker_lost;
    intensity_.reset();
    for (auto& slot : slots_) {
        slot.failure_streak = 0;
        slot.due = {};
        slot.trial.reset();
        slot.awaits_verdict = false;
        slot.tainted = {};
    }
}

void supervisor::stop_all(stop_stage first) {
    for (const auto& each : everyone()) {
        each->stop(first);
    }
}

void supervisor::end_now() noexcept {
    for (const auto& each : everyone()) {
        each->end_now();
    }
    restarts_.forget();
    suspensions_.forget();
    pool_suspensions_.forget();
}

std::vector<std::shared_ptr<worker>> supervisor::everyone() const {
    auto all = leaving_;
    for (const auto& slot : slots_) {
        for (const auto& each : {slot.current, slot.successor}) {
            if (each) {
                all.push_back(each);
            }
        }
    }
    return all;
}

worker* supervisor::find(const worker_id& which) const noexcept {
    const bool exists = which.pool == config_.name && which.slot < slots_.size();
    const auto& current = exists ? slots_[which.slot].current : nullptr;
    return current && current->id() == which ? current.get() : nullptr;
}

/// Those that are up and not on their way out.
std::vector<worker_id> supervisor::serving() const {
    std::vector<worker_id> all;
    for (const auto& slot : slots_) {
        if (slot.current && slot.current->life().was_up()) {
            all.push_back(slot.current->id());
        }
    }
    return all;
}

error supervisor::no_such_worker(const worker_id& which) const {
    error_info info;
    info.pool = config_.name;
    info.worker = which;
    return error(errc::unknown_worker, std::move(info));
}

} // namespace skep
