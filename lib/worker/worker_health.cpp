// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker's health: probes, the verdicts on its calls, suspension, and its stacks when it has to go.

#include "core/clock.hpp"
#include "core/exception_text.hpp"
#include "core/utf8.hpp"
#include "policy/remote_error.hpp"
#include "worker/worker.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace skep {

namespace {

constexpr std::string_view no_answer = "no answer in time";

// Of what a failed probe says: it goes into the history and the log.
constexpr std::size_t longest_complaint = 1024;

/// How the user's probe ended. Shared, as a probe that ignores its cancellation outlives those who asked.
struct probe_outcome {
    health_probe probe; ///< what runs may refer to its captures
    asio::cancellation_signal cancel;
    bool over = false;
    std::string complaint;
};

/// What faulthandler printed, from its first thread on.
std::string stacks_in(const std::string& output) {
    const auto first = std::min(output.find("Thread 0x"), output.find("Current thread 0x"));
    return first == std::string::npos ? std::string() : output.substr(first);
}

} // namespace

bool worker::has_probe() const noexcept {
    return config_.health_check.probe || !probe_command_.empty();
}

/// Work in progress is a sign of life, and a probe would have to wait behind it; one that is wanted needs a free place.
/// One that was sent is waited for.
bool worker::is_probeable() const noexcept {
    const bool has_place = probe_wanted_ ? load() < capacity_ : calls_.empty();
    return in_service_ && (probe_unanswered_ || (!suspending_ && has_place));
}

asio::awaitable<void> worker::watch_health() {
    auto not_before = clock::now();
    while (!is_over() && !is_retired()) {
        look_now_.close();
        const auto due = probe_wanted_ ? not_before : std::max(health_->next_probe(), not_before);
        const bool woken = co_await look_now_.wait_until(due);
        if (woken) {
            not_before = clock::now();
        }
        if (woken || (!probe_wanted_ && clock::now() < health_->next_probe())) {
            continue;
        }
        if (!is_probeable()) {
            not_before = clock::now() + config_.health_check.retry_interval;
            continue;
        }
        const std::string complaint = co_await probe();
        if (!is_over() && !is_retired()) {
            judge_probe(complaint);
        }
        if (std::exchange(probe_wanted_, false)) {
            events_.on_room(*this); // now it may get calls again, if it is well
        }
    }
}

/// What is wrong with it; empty if nothing is.
asio::awaitable<std::string> worker::probe() {
    return config_.health_check.probe ? probe_by_function() : probe_by_command();
}

asio::awaitable<std::string> worker::probe_by_command() {
    probe_over_.close();
    probe_complaint_ = no_answer;
    if (!probe_unanswered_) { // else it has not even answered the one before
        const call_ptr which(new call(request(probe_command_)));
        which->is_probe = true;
        which->state = call_state::abandoned; // nobody waits for it who could keep the worker from leaving
        which->encode(config_.limits);
        const auto now = clock::now();
        which->deadline = now + config_.health_check.limit;
        assign(*which, now);
        probe_unanswered_ = true;
        events_.on_room(*this); // it has less now
    }
    const auto limit = config_.health_check.limit;
    patient_deadline deadline(after_limit(clock::now(), limit), limit);
    co_await probe_over_.wait_until(deadline);
    co_return probe_complaint_;
}

void worker::settle_probe(const std::string& complaint) {
    probe_unanswered_ = false;
    probe_complaint_ = beginning_of(complaint, longest_complaint);
    probe_over_.open();
    show_suspension();
    events_.on_room(*this);
}

asio::awaitable<std::string> worker::probe_by_function() {
    const auto outcome = std::make_shared<probe_outcome>();
    auto finish = [outcome, weak = weak_from_this()](const std::exception_ptr& problem) {
        outcome->complaint = problem ? beginning_of(text_of(problem), longest_complaint) : "";
        outcome->over = true;
        if (const auto self = weak.lock()) {
            self->probe_over_.open();
        }
    };
    outcome->probe = config_.health_check.probe;
    try {
        auto token = asio::bind_cancellation_slot(outcome->cancel.slot(), finish);
        asio::co_spawn(context_.executor, outcome->probe(id_, pid_), std::move(token));
    } catch (...) {
        finish(std::current_exception());
    }
    const auto limit = config_.health_check.limit;
    patient_deadline deadline(after_limit(clock::now(), limit), limit);
    bool in_time = true;
    while (in_time && !outcome->over && !is_over()) { // one that was given up may end meanwhile
        probe_over_.close();
        in_time = co_await probe_over_.wait_until(deadline);
    }
    if (!outcome->over) {
        outcome->cancel.emit(asio::cancellation_type::terminal);
        co_return std::string(no_answer);
    }
    co_return outcome->complaint;
}

void worker::judge_probe(const std::string& complaint) {
    if (!complaint.empty()) {
        note_failure("it failed its health check: " + complaint);
        return;
    }
    if (health_->passed_probe(clock::now()) == health_verdict::restore) {
        machine_.set_health(worker_health::healthy, context_.wall_now());
        if (machine_.state() == worker_state::degraded) {
            move_to(worker_state::ready, "it passed its health check");
        }
        events_.on_room(*this);
    }
}

void worker::note_failure(std::string detail) {
    const auto verdict = health_->failed(clock::now());
    look_now_.open(); // the next probe is due sooner
    if (verdict == health_verdict::degrade || verdict == health_verdict::remove) {
        events_.on_failure(*this, failure_kind::probe_failed, health_->failures(),
                           config_.health_check.failures, std::move(detail));
    }
}

void worker::note_error(const error_message& error) {
    ++errors_;
    const auto& failing = config_.health_check.failing_errors;
    const bool counts = std::find(failing.begin(), failing.end(), error.type) != failing.end();
    if (!health_ || !(counts || may_be_workers_fault(error.type, error.code))) {
        return;
    }
    if (counts) {
        note_failure("a call ended with " + error.type);
        health_->probe_at(clock::now()); // callers wait to know
    } else {
        health_->answered(clock::now());
    }
}

void worker::probe_at_once() {
    if (health_ && in_service_) {
        probe_wanted_ = true;
        look_now_.open();
    }
}

void worker::degrade(std::string reason) {
    machine_.set_health(worker_health::unhealthy, context_.wall_now());
    if (machine_.state() != worker_state::degraded) {
        move_to(worker_state::degraded, std::move(reason));
        events_.on_room(*this);
    }
}

void worker::suspend() {
    if (in_service_ && !suspending_) {
        suspending_ = true;
        events_.on_room(*this);
        show_suspension();
    }
}

/// Suspended means drained.
void worker::show_suspension() {
    const bool drained = load() == (probe_unanswered_ ? 1u : 0u);
    if (suspending_ && drained && in_service_ && !is_suspended()) {
        move_to(worker_state::suspended, "suspended");
        events_.on_suspended(*this);
    }
}

void worker::resume() {
    if (!suspending_) {
        return;
    }
    suspending_ = false;
    if (is_suspended()) {
        move_to(worker_state::ready, "resumed");
    }
    if (health_ && health_->is_degraded() && machine_.state() != worker_state::degraded) {
        machine_.set_health(worker_health::unhealthy, context_.wall_now());
        move_to(worker_state::degraded, "it was so before it was suspended");
    }
    look_now_.open();
    events_.on_room(*this);
}

recycle_plan::verdict worker::judge_recycling(time_point now, bool with_memory) const {
    if (!recycle_ || process_ended_ || is_stopping()) {
        return {};
    }
    return recycle_->judge(now, completed_, with_memory ? process_->resident_bytes() : 0);
}

/// Only of one that is frozen or fails for no visible reason is it worth the time.
bool worker::wants_stacks() const noexcept {
    const bool froze = failure_ && failure_->code == errc::heartbeat_lost;
    const bool unwell =
        retired_ && retired_->what == retirement::kind::unwell; // an oversized one would go on growing
    return was_ready() && stack_signal_ != 0 && config_.stop.dump > duration::zero() && (froze || unwell);
}

asio::awaitable<void> worker::take_stacks() {
    process_->signal(stack_signal_);
    const auto deadline = clock::now() + config_.stop.dump;
    bool in_time = true;
    while (in_time && !process_ended_ && stop_from_ != stop_rung::kill) {
        wake_.close();
        in_time = co_await wake_.wait_until(deadline);
    }
    stacks_ = stacks_in(process_->output_tail());
}

} // namespace skep
