// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_life.hpp"

#include "core/clock.hpp"

#include <boost/assert.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <csignal>
#include <new>
#include <type_traits>

namespace skep {

namespace json = boost::json;

namespace {

// How long the end of the process and the end of its channels may lie apart.
constexpr duration aftermath_time = std::chrono::milliseconds(250);

/// Python says that the package is missing, but not what to do about it.
std::string advice_in(std::string_view last_words) {
    return last_words.find("No module named 'skep'") == std::string_view::npos
               ? ""
               : ": Python did not find the package skep; name the folder that holds it in the variable "
                 "SKEP_PYTHON_SDK, or install it for this interpreter";
}

/// Returns the result of `make`, or an empty one without memory: an event counts more than its words.
template <class Make>
std::invoke_result_t<Make> made_if_possible(Make&& make) noexcept {
    try {
        return make();
    } catch (const std::bad_alloc&) {
        return {};
    }
}

} // namespace

worker_life::worker_life(const pool_config& config, moment at, std::optional<worker_state_machine> begun)
    : config_(config),
      machine_(begun ? std::move(*begun) : worker_state_machine(at.now, at.wall)),
      start_deadline_(after_limit(at.now, config.start.timeout), config.start.timeout) {
    record(transition_reason::launch, "launch", at);
}

void worker_life::launched(int pid) noexcept {
    pid_ = pid;
    milestones_.launch_over = true;
}

void worker_life::launch_failed(errc code, std::string why, moment at) {
    milestones_.launch_over = true;
    fail({failure_kind::start_failed, std::move(why), code}, at);
}

void worker_life::greeted(int stack_signal) noexcept {
    milestones_.greeted = true;
    stack_signal_ = stack_signal;
}

void worker_life::came_up(moment at) {
    if (is_over()) {
        return;
    }
    up_since_ = at.now;
    set(obstacle::not_up, false);
    set_health(worker_health::healthy, at);
    is_full_ = false; // it is ready, before it is busy
    record(transition_reason::init_complete, "handshake complete", at);
}

void worker_life::process_ended(moment at) {
    milestones_.process_ended = true;
    set_health(worker_health::unhealthy, at);
    if (!sequence_) { // else it has ended as it was told to
        auto detail = made_if_possible([] { return std::string("its process ended"); });
        const auto code = was_up() ? errc::worker_lost : errc::handshake_failed;
        depart(skep::departure(departure_cause::process_exit, std::move(detail), code), at);
    }
}

void worker_life::reaped(exit_evidence evidence, moment at) {
    status_ = evidence.status;
    evidence.killed_by_pool = last_stage() == stop_stage::terminate || last_stage() == stop_stage::kill;
    try {
        if (leaves_for(departure_cause::process_exit)) {
            departure_->detail += was_up() ? "" : " before it was ready" + advice_in(evidence.last_words);
            departure_->detail += stray_.empty() ? "" : "; " + stray_;
        }
        verdict_ = classify_exit(evidence);
    } catch (const std::bad_alloc&) {} // that it has ended counts more than why
    steps_.push_back(life_step::release_calls);
    steps_.push_back(life_step::close);
    end(at);
}

void worker_life::break_off(std::string why, moment at) {
    depart(skep::departure(departure_cause::host_memory, std::move(why)), at);
    steps_.clear();
    if (stage_ != stage::over) {
        end(at);
    }
}

recovery_action worker_life::fail(failure what, moment at) {
    const auto action = recover_worker(what, state());
    if (action >= recovery_action::replace) {
        if (what.kind == failure_kind::probe_failed) {
            what.detail.insert(0, "unhealthy_worker_terminated: ");
        }
        const bool is_news =
            depart(skep::departure(cause_of(what.kind), std::move(what.detail), what.code), at);
        return is_news ? action : recovery_action::none;
    }
    if (departure_) {
        return recovery_action::none; // a worker that leaves is past recovery
    }
    if (action == recovery_action::degrade) {
        degrade(what, at);
    } else if (action == recovery_action::probe) {
        set(obstacle::doubted, true);
    }
    return action;
}

void worker_life::degrade(const failure& what, moment at) {
    set_health(worker_health::unhealthy, at);
    if (!is(obstacle::degraded)) {
        set(obstacle::degraded, true);
        record(transition_reason::health_check_failed, what.detail, at, made_if_possible([&] {
                   return json::object{{"error", to_string(what.code)},
                                       {"failure_count", what.count},
                                       {"failure_limit", what.limit}};
               }));
    }
}

bool worker_life::depart(skep::departure why, moment at) noexcept {
    const bool is_news = raise(departure_, std::move(why));
    if (is_news && kind_of(departure_->cause) != departure_kind::plan) {
        set_health(worker_health::unhealthy, at);
    }
    return is_news;
}

void worker_life::restore(moment at) {
    set(obstacle::degraded, false);
    set_health(worker_health::healthy, at);
    record(transition_reason::health_check_passed, "it passed its health check", at);
}

void worker_life::retire(departure_cause why, std::string detail, moment at) {
    depart(skep::departure(why, std::move(detail)), at);
}

void worker_life::suspend() noexcept {
    if (is_in_service() && !is(obstacle::suspended)) {
        set(obstacle::suspended, true);
        is_drained_ = false;
    }
}

void worker_life::resume(bool is_well, moment at) {
    if (!is(obstacle::suspended)) {
        return;
    }
    set(obstacle::suspended, false);
    if (!is_well && !is(obstacle::degraded)) {
        set(obstacle::degraded, true);
        set_health(worker_health::unhealthy, at);
    }
    record(transition_reason::resume, is_well ? "resumed" : "resumed; it failed its health check before", at);
}

bool worker_life::drained(moment at) {
    if (!is(obstacle::suspended) || !is_in_service() || is_suspended()) {
        return false;
    }
    is_drained_ = true;
    record(transition_reason::suspend, "suspended", at);
    return true;
}

void worker_life::stop(stop_stage first) {
    skep::departure shutdown(departure_cause::shutdown, "asked to stop");
    shutdown.urgency = first;
    raise(departure_, std::move(shutdown));
}

life_step worker_life::next(moment at) {
    bool goes_on = true;
    while (steps_.empty() && goes_on) {
        goes_on = advance(at);
    }
    if (steps_.empty()) {
        return stage_ == stage::over ? life_step::done : life_step::wait;
    }
    const auto step = steps_.front();
    steps_.erase(steps_.begin());
    return step;
}

time_point worker_life::deadline() const noexcept {
    switch (stage_) {
    case stage::launch: return milestones_.launch_cancelled ? time_point::max() : start_deadline_.due();
    case stage::handshake: return start_deadline_.due();
    case stage::stopping: return sequence_->deadline().due();
    default: return deadline_;
    }
}

/// Goes on to the next step or stage; false if there is nothing to be done yet.
bool worker_life::advance(moment at) {
    switch (stage_) {
    case stage::launch: return advance_launch(at);
    case stage::handshake: return advance_handshake(at);
    case stage::service:
        if (is_over()) {
            begin_aftermath(at.now);
        }
        return is_over();
    case stage::aftermath: return advance_aftermath(at);
    case stage::stacks: return advance_stacks(at);
    case stage::stopping: return advance_stopping(at);
    case stage::last_reading: return advance_last_reading(at);
    default: return false;
    }
}

/// A program on a dead file system can hang before it runs.
bool worker_life::advance_launch(moment at) {
    if (milestones_.launch_over) {
        if (has_process()) {
            enter(stage::handshake);
        } else {
            end(at);
        }
        return true;
    }
    if (!is_over() && start_deadline_.has_passed(at.now)) {
        run_late(
            "its process could not be created in time; does the file system that its program is on answer?",
            at);
    }
    const bool cancels = is_over() && !milestones_.launch_cancelled;
    if (cancels) {
        milestones_.launch_cancelled = true;
        steps_.push_back(life_step::cancel_launch);
    }
    return cancels;
}

bool worker_life::advance_handshake(moment at) {
    if (is_over()) {
        begin_aftermath(at.now);
        return true;
    }
    if (was_up()) {
        enter(stage::service);
        return true;
    }
    if (!start_deadline_.has_passed(at.now)) {
        return false;
    }
    const std::string missing = milestones_.greeted
                                    ? "it said hello but its on_start did not end in time"
                                    : "it did not say hello in time; does its script call worker.run()?";
    run_late(missing + "; raise start.timeout if loading takes that long", at);
    return true;
}

/// Its start takes too long; `why` unless that is the user's own doing.
void worker_life::run_late(std::string why, moment at) {
    if (!hook_.empty()) {
        why = std::string(hook_) + " did not end in time; raise start.timeout, of which its time is a part";
    }
    fail({failure_kind::start_failed, std::move(why), errc::startup_timeout}, at);
}

/// Where a channel has ended by itself, the process follows within moments as a rule.
void worker_life::begin_aftermath(time_point now) {
    enter(stage::aftermath, leaves_for(departure_cause::lost_channel) ? now + aftermath_time : now);
}

bool worker_life::advance_aftermath(moment at) {
    if (!milestones_.process_ended && at.now < deadline_ && departure_->urgency != stop_stage::kill) {
        return false;
    }
    if (milestones_.process_ended) {
        begin_last_reading(at.now);
    } else if (wants_stacks()) {
        steps_.push_back(life_step::take_stacks);
        enter(stage::stacks, at.now + config_.stop.stack_dump_timeout);
    } else {
        begin_stopping(at);
    }
    return true;
}

bool worker_life::advance_stacks(moment at) {
    if (!milestones_.process_ended && at.now < deadline_ && departure_->urgency != stop_stage::kill) {
        return false;
    }
    steps_.push_back(life_step::keep_stacks);
    if (milestones_.process_ended) {
        begin_last_reading(at.now);
    } else {
        begin_stopping(at);
    }
    return true;
}

void worker_life::begin_stopping(moment at) {
    json::object facts;
    if (is_lost()) {
        steps_.push_back(life_step::release_calls); // its callers need not wait for its end
        facts = made_if_possible([this] { return json::object{{"error", to_string(departure_->code)}}; });
    }
    const auto least = was_up() ? stop_stage::ask : stop_stage::terminate; // it can be asked once it is up
    sequence_.emplace(config_.stop, std::max(departure_->urgency, least), at.now);
    record(code_of(*departure_), departure_->detail, at, std::move(facts));
    enter(stage::stopping);
    begin_stage(sequence_->stage());
}

bool worker_life::advance_stopping(moment at) {
    if (milestones_.process_ended) {
        begin_last_reading(at.now);
        return true;
    }
    const bool is_over_it =
        departure_->urgency > sequence_->stage() || sequence_->deadline().has_passed(at.now);
    if (is_over_it) {
        sequence_->advance(at.now);
        begin_stage(sequence_->stage());
    }
    if (sequence_->stage() == stop_stage::lost) {
        end(at);
    }
    return is_over_it;
}

void worker_life::begin_stage(stop_stage stage) {
    switch (stage) {
    case stop_stage::ask: steps_.push_back(life_step::ask); break;
    case stop_stage::terminate: steps_.push_back(life_step::terminate); break;
    case stop_stage::kill: steps_.push_back(life_step::kill); break;
    case stop_stage::lost:
        for (const auto step : {life_step::release_calls, life_step::give_up, life_step::close}) {
            steps_.push_back(step);
        }
        break;
    default: break;
    }
}

/// What it sent before its end is still to be read.
void worker_life::begin_last_reading(time_point now) {
    steps_.push_back(life_step::hear_out);
    enter(stage::last_reading, now + aftermath_time);
}

bool worker_life::advance_last_reading(moment at) {
    if (!milestones_.data_ended && at.now < deadline_) {
        return false;
    }
    steps_.push_back(life_step::reap);
    enter(stage::reaping);
    return true;
}

void worker_life::end(moment at) noexcept {
    enter(stage::over);
    const auto how = made_if_possible([this] { return is_lost() ? departure_->detail : to_string(status_); });
    auto facts = made_if_possible([this] {
        return has_process()
                   ? json::object{{"status", to_string(status_)}, {"exit_class", to_string(verdict_.kind)}}
                   : json::object();
    });
    record(code_of(*departure_), how, at, std::move(facts));
}

void worker_life::enter(stage next, time_point deadline) noexcept {
    stage_ = next;
    deadline_ = deadline;
}

void worker_life::set(obstacle reason, bool holds) noexcept {
    const auto bit = static_cast<unsigned>(reason);
    obstacles_ = holds ? obstacles_ | bit : obstacles_ & ~bit;
}

/// The one place where a state is decided.
worker_state worker_life::derive_state() const noexcept {
    if (stage_ == stage::over) {
        return end_state();
    }
    if (sequence_) {
        return worker_state::stopping;
    }
    if (!was_up()) {
        return worker_state::starting;
    }
    if (is(obstacle::suspended) && is_drained_) {
        return worker_state::suspended;
    }
    if (is(obstacle::degraded)) {
        return worker_state::degraded;
    }
    return is_full_ ? worker_state::busy : worker_state::ready;
}

/// Moves to the state that follows from what is known, if that is another; whether or not there is memory to note why.
void worker_life::record(transition_reason code, std::string_view reason, moment at,
                         json::object metadata) noexcept {
    const auto state = derive_state();
    if (state == machine_.state()) {
        return;
    }
    auto why = made_if_possible([&] { return std::string(reason); });
    const auto ec = machine_.move_to(state, code, std::move(why), at.now, at.wall, std::move(metadata));
    BOOST_ASSERT_MSG(!ec, "an illegal transition of a worker's state");
    static_cast<void>(ec);
}

/// Only of one that is frozen or fails for no visible reason is it worth the time; and not of one that would go on growing.
bool worker_life::wants_stacks() const noexcept {
    const auto cause = departure_->cause;
    const bool is_health_fault =
        kind_of(cause) == departure_kind::fault && cause != departure_cause::memory_limit;
    return was_up() && stack_signal_ != 0 && config_.stop.stack_dump_timeout > duration::zero() &&
           (is_health_fault || cause == departure_cause::lost_heartbeat);
}

worker_state worker_life::end_state() const noexcept {
    if (!has_process() && !is_lost()) {
        return worker_state::stopped; // before it came to life
    }
    const bool broke = is_lost() && !(was_up() && leaves_for(departure_cause::process_exit));
    const bool forced = sequence_ && sequence_->stage() >= stop_stage::kill;
    return terminal_state({forced, is_stopping(), broke, status_});
}

} // namespace skep
