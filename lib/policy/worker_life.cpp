// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/worker_life.hpp"

#include "core/clock.hpp"

#include <boost/assert.hpp>
#include <boost/json/object.hpp>

#include <new>
#include <type_traits>

namespace skep {

namespace json = boost::json;

namespace {

/// Returns advice on a missing package. Python names the package, but not the remedy.
std::string advice_in(std::string_view last_words) {
    return last_words.find("No module named 'skep'") == std::string_view::npos
               ? ""
               : ": Python did not find the package skep; name the folder that holds it in the variable "
                 "SKEP_PYTHON_SDK, or install it for this interpreter";
}

/// Returns the result of `make`, or an empty result if memory is lacking: an event counts more than its text.
template <class Make>
std::invoke_result_t<Make> made_if_possible(Make&& make) noexcept {
    try {
        return make();
    } catch (const std::bad_alloc&) {
        return {};
    }
}

} // namespace

worker_life::worker_life(const pool_config& config, moment now,
                         std::optional<worker_state_machine> initial_state)
    : machine_(initial_state ? std::move(*initial_state) : worker_state_machine(now.now, now.wall)),
      start_(config.start.timeout, now.now),
      ending_(config.stop) {
    record(transition_reason::launch, "launch", now);
}

void worker_life::launched(int pid) noexcept {
    process_.exists = true;
    process_.pid = pid;
    start_.end_launch();
}

void worker_life::launch_failed(errc code, std::string reason, moment now) {
    start_.end_launch();
    fail({departure_cause::failed_start, std::move(reason), code}, now);
}

void worker_life::greeted(int stack_signal) noexcept {
    process_.has_greeted = true;
    process_.stack_signal = stack_signal;
}

void worker_life::came_up(moment now) {
    if (is_over()) {
        return;
    }
    process_.up_since = now.now;
    readiness_.set(obstacle::not_up, false);
    readiness_.set_full(false); // ready comes before busy
    machine_.set_health(worker_health::healthy, now.wall);
    record(transition_reason::init_complete, "handshake complete", now);
}

void worker_life::data_ended(std::string stray) noexcept {
    process_.is_heard_out = true;
    process_.stray = std::move(stray);
}

void worker_life::process_ended(moment now) {
    process_.has_ended = true;
    machine_.set_health(worker_health::unhealthy, now.wall);
    if (!ending_.was_stopped()) { // else the process has ended as ordered
        auto detail = made_if_possible([] { return std::string("its process ended"); });
        const auto code = was_up() ? errc::worker_lost : errc::handshake_failed;
        depart(skep::departure(departure_cause::process_exit, std::move(detail), code), now);
    }
}

void worker_life::reaped(exit_evidence evidence, moment now) {
    process_.status = evidence.status;
    evidence.killed_by_pool =
        ending_.last_stage() == stop_stage::terminate || ending_.last_stage() == stop_stage::kill;
    try {
        if (leaves_for(departure_cause::process_exit)) {
            departure_->detail += was_up() ? "" : " before it was ready" + advice_in(evidence.last_words);
            departure_->detail += process_.stray.empty() ? "" : "; " + process_.stray;
        }
        process_.verdict = classify_exit(evidence);
    } catch (const std::bad_alloc&) {} // the end counts more than its reason
    steps_.push_back(life_step::release_calls);
    steps_.push_back(life_step::close);
    end(now);
}

void worker_life::break_off(std::string reason, moment now) {
    depart(skep::departure(departure_cause::host_memory, std::move(reason)), now);
    steps_.clear();
    if (!ending_.is_finished()) {
        end(now);
    }
}

recovery_action worker_life::fail(failure new_failure, moment now) {
    const auto action = recover_worker(new_failure, state());
    if (action >= recovery_action::replace) {
        if (new_failure.cause == departure_cause::failed_probes) {
            new_failure.detail.insert(0, "unhealthy_worker_terminated: ");
        }
        const bool is_news =
            depart(skep::departure(new_failure.cause, std::move(new_failure.detail), new_failure.code), now);
        return is_news ? action : recovery_action::none;
    }
    if (departure_) {
        return recovery_action::none; // a leaving worker is past recovery
    }
    if (action == recovery_action::degrade) {
        degrade(new_failure, now);
    } else if (action == recovery_action::probe) {
        readiness_.set(obstacle::doubted, true);
    }
    return action;
}

void worker_life::degrade(const failure& new_failure, moment now) {
    machine_.set_health(worker_health::unhealthy, now.wall);
    if (!readiness_.has(obstacle::degraded)) {
        readiness_.set(obstacle::degraded, true);
        record(transition_reason::health_check_failed, new_failure.detail, now, made_if_possible([&] {
                   return json::object{{"error", to_string(new_failure.code)},
                                       {"failure_count", new_failure.count},
                                       {"failure_limit", new_failure.limit}};
               }));
    }
}

bool worker_life::depart(skep::departure reason, moment now) noexcept {
    const bool is_news = raise(departure_, std::move(reason));
    if (is_news && kind_of(departure_->cause) != departure_kind::plan) {
        machine_.set_health(worker_health::unhealthy, now.wall);
    }
    return is_news;
}

void worker_life::restore(moment now) {
    readiness_.set(obstacle::degraded, false);
    machine_.set_health(worker_health::healthy, now.wall);
    record(transition_reason::health_check_passed, "it passed its health check", now);
}

void worker_life::retire(departure_cause cause, std::string detail, moment now) {
    depart(skep::departure(cause, std::move(detail)), now);
}

void worker_life::suspend() noexcept {
    if (is_in_service() && !readiness_.has(obstacle::suspended)) {
        readiness_.set(obstacle::suspended, true);
    }
}

void worker_life::resume(bool is_well, moment now) {
    if (!readiness_.has(obstacle::suspended)) {
        return;
    }
    readiness_.set(obstacle::suspended, false);
    if (!is_well && !readiness_.has(obstacle::degraded)) {
        readiness_.set(obstacle::degraded, true);
        machine_.set_health(worker_health::unhealthy, now.wall);
    }
    record(transition_reason::resume, is_well ? "resumed" : "resumed; it failed its health check before",
           now);
}

bool worker_life::drained(moment now) {
    if (!readiness_.has(obstacle::suspended) || !is_in_service() || state() == worker_state::suspended) {
        return false;
    }
    readiness_.set_drained();
    record(transition_reason::suspend, "suspended", now);
    return true;
}

void worker_life::stop(stop_stage first) {
    skep::departure shutdown(departure_cause::shutdown, "asked to stop");
    shutdown.urgency = first;
    raise(departure_, std::move(shutdown));
}

life_step worker_life::next(moment now) {
    bool goes_on = true;
    while (steps_.empty() && goes_on) {
        goes_on = advance(now);
    }
    if (steps_.empty()) {
        return ending_.is_finished() ? life_step::done : life_step::wait;
    }
    const auto step = steps_.front();
    steps_.erase(steps_.begin());
    return step;
}

time_point worker_life::deadline() const noexcept {
    return was_up() || ending_.has_begun() ? ending_.deadline() : start_.deadline();
}

/// Advances to the next step or stage. Returns false if nothing is to be done yet.
bool worker_life::advance(moment now) {
    if (ending_.has_begun()) {
        return advance_ending(now);
    }
    if (!was_up()) {
        return advance_start(now);
    }
    if (is_over()) {
        ending_.begin(*departure_, now.now);
    }
    return is_over();
}

bool worker_life::advance_start(moment now) {
    if (!start_.is_launching() && !process_.exists) {
        end(now);
        return true;
    }
    if (!is_over()) {
        auto complaint = start_.complaint(now.now, process_.has_greeted);
        if (!complaint.empty()) {
            fail({departure_cause::failed_start, std::move(complaint), errc::startup_timeout}, now);
        }
    }
    if (is_over() && !start_.is_launching()) {
        ending_.begin(*departure_, now.now);
        return true;
    }
    const bool is_cancelled = is_over() && start_.cancel_launch();
    if (is_cancelled) {
        steps_.push_back(life_step::cancel_launch);
    }
    return is_cancelled;
}

bool worker_life::advance_ending(moment now) {
    const bool was_stopped = ending_.was_stopped();
    const bool was_finished = ending_.is_finished();
    const bool goes_on = ending_.advance(*departure_, process_, steps_, now.now);
    if (!was_stopped && ending_.was_stopped()) {
        auto facts = made_if_possible([this] {
            return is_lost() ? json::object{{"error", to_string(departure_->code)}} : json::object();
        });
        record(code_of(*departure_), departure_->detail, now, std::move(facts));
    }
    if (!was_finished && ending_.is_finished()) {
        end(now);
    }
    return goes_on;
}

void worker_life::end(moment now) noexcept {
    ending_.finish();
    const auto how =
        made_if_possible([this] { return is_lost() ? departure_->detail : to_string(process_.status); });
    auto facts = made_if_possible([this] {
        return process_.exists ? json::object{{"status", to_string(process_.status)},
                                              {"exit_class", to_string(process_.verdict.kind)}}
                               : json::object();
    });
    record(code_of(*departure_), how, now, std::move(facts));
}

/// Moves to the state that follows from the known facts, if different. The only place that changes a state.
/// Succeeds even if memory is lacking to note the reason.
void worker_life::record(transition_reason code, std::string_view reason, moment now,
                         json::object metadata) noexcept {
    const auto state = ending_.is_finished()   ? end_state()
                       : ending_.was_stopped() ? worker_state::stopping
                                               : readiness_.state();
    if (state == machine_.state()) {
        return;
    }
    auto why = made_if_possible([&] { return std::string(reason); });
    const auto ec = machine_.move_to(state, code, std::move(why), now.now, now.wall, std::move(metadata));
    BOOST_ASSERT_MSG(!ec, "an illegal transition of a worker's state");
    static_cast<void>(ec);
}

worker_state worker_life::end_state() const noexcept {
    if (!process_.exists && !is_lost()) {
        return worker_state::stopped; // the process never existed
    }
    const bool broke = is_lost() && !(was_up() && leaves_for(departure_cause::process_exit));
    const bool forced = ending_.last_stage() >= stop_stage::kill;
    return terminal_state({forced, is_stopping(), broke, process_.status});
}

} // namespace skep
