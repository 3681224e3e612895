// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/health_check.hpp"

#include "core/text.hpp"
#include "core/visible_text.hpp"
#include "wire/message_cost.hpp"
#include "worker/worker.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace skep {

namespace {

constexpr std::string_view no_answer = "no answer in time";

// The longest part of a probe's error for the history and the log.
constexpr std::size_t longest_complaint = 1024;

/// Returns the pause after another worker's probe took the turn.
duration pause_before_turn(const health_check_options& options) {
    constexpr duration least = std::chrono::milliseconds(1);
    return std::clamp(options.interval / 16, least, options.retry_interval);
}

/// Workers that came up together must not all run probes together: their probes are spread over the interval.
duration phase_of(std::uint32_t slot, duration interval) {
    constexpr double golden_ratio = 0.6180339887;
    const double share = std::fmod(golden_ratio * slot, 1.0);
    return std::chrono::duration_cast<duration>(interval * share);
}

} // namespace

health_check::health_check(worker_core& core, guest_group& guests)
    : core_(core),
      guests_(guests),
      monitor_(core.config.health_check, false, core.context.now()),
      wake_(core.context.executor),
      probe_over_(core.context.executor) {}

void health_check::introduce(const hello_message& hello) {
    const auto& options = core_.config.health_check;
    command_ = options.command.empty() ? hello.health_check : options.command;
    own_ = hello.own_health_check || !options.command.empty() || options.probe;
}

bool health_check::begin(time_point now) {
    const auto& options = core_.config.health_check;
    begun_ = options.enabled && (options.probe || !command_.empty());
    monitor_ = health_monitor(options, own_, now - phase_of(core_.id.slot, options.interval));
    return begun_;
}

asio::awaitable<void> health_check::run() {
    auto not_before = core_.context.now();
    while (core_.life.is_in_service()) {
        wake_.close();
        const auto due = is_wanted() ? not_before : std::max(monitor_.next_probe(), not_before);
        const bool woken = co_await wake_.wait_until(due);
        if (woken) {
            not_before = core_.context.now();
            continue;
        }
        if (!is_wanted() && core_.context.now() < monitor_.next_probe()) {
            continue;
        }
        if (!can_probe_now()) {
            expect_probe((own_ || asked_) && !core_.life.readiness().has(obstacle::suspended));
            not_before = core_.context.now() + core_.config.health_check.retry_interval;
            continue;
        }
        expect_probe(false); // a probe takes the place in a moment, or the place is for calls again
        if (!asked_ && !core_.life.readiness().awaits_probe() &&
            !core_.surroundings.answers.may_be_probed(core_.self)) {
            not_before = core_.context.now() + pause_before_turn(core_.config.health_check);
            continue;
        }
        auto probing = probe_and_judge();
        co_await std::move(probing);
    }
}

bool health_check::can_probe_now() const noexcept {
    const auto& calls = core_.self.calls();
    const bool may_be_beside_calls = core_.life.readiness().has(obstacle::doubted) || is_own() || asked_;
    const bool has_place = may_be_beside_calls ? !calls.is_full() : calls.empty();
    return core_.life.is_in_service() &&
           (is_probing() || (!core_.life.readiness().has(obstacle::suspended) && has_place));
}

void health_check::expect_probe(bool is_due) {
    if (core_.life.readiness().has(obstacle::due) != is_due) {
        core_.life.expect_probe(is_due);
        core_.announce_room();
    }
}

/// Returns true if a probe is wanted now, before its regular time.
bool health_check::is_wanted() const noexcept {
    return asked_ || core_.life.readiness().has(obstacle::doubted);
}

asio::awaitable<void> health_check::probe_and_judge() {
    const auto begun = core_.context.now();
    asked_ = false;
    ++begun_probes_;
    value_ = nullptr;
    const std::string complaint = co_await probe();
    ++ended_probes_;
    last_ = {core_.id,
             core_.context.present().wall,
             core_.context.now() - begun,
             complaint.empty(),
             complaint,
             std::move(value_)};
    core_.context.publish<events::worker_health_check>([&] {
        return events::worker_health_check{core_.id, last_->took, last_->passed, complaint};
    });
    if (core_.life.is_in_service()) {
        judge(complaint);
        dispel_doubt();
        core_.announce_room(); // the caller of probe() checks again
    }
}

/// Returns the complaint of a failed probe, or an empty text if the probe passed.
asio::awaitable<std::string> health_check::probe() {
    return core_.config.health_check.probe ? probe_by_function() : probe_by_command();
}

asio::awaitable<std::string> health_check::probe_by_command() {
    const auto limit = core_.config.health_check.timeout;
    probe_over_.close();
    complaint_ = no_answer;
    if (!unanswered_) { // else even the previous probe is unanswered
        const call_ptr probe_call(new call(request(command_), this));
        probe_call->encode(core_.config.limits);
        probe_call->deadline = core_.context.now() + limit;
        core_.self.calls().assign_private(*probe_call);
        unanswered_ = probe_call;
        core_.announce_room(); // the worker has one place less
    }
    patient_deadline deadline(after_limit(core_.context.now(), limit), limit);
    co_await probe_over_.wait_until(deadline);
    if (unanswered_) {
        core_.self.calls().abandon_private(*unanswered_);
    }
    co_return complaint_;
}

void health_check::put_answer(reply&& answer) {
    constexpr std::size_t most = 16u << 10; // the value is kept, and goes into every status
    value_ = memory_of(answer.value) <= most ? std::move(answer.value) : boost::json::value();
    complaint_.clear();
    put_loss();
}

void health_check::put_failure(lazy_error&& failure) {
    if (const auto* const info = failure.info()) {
        complaint_ = beginning_of(info->remote_type + ": " + info->remote_message, longest_complaint);
    }
    put_loss();
}

void health_check::put_loss() noexcept {
    unanswered_.reset();
    probe_over_.open();
}

asio::awaitable<std::string> health_check::probe_by_function() {
    const auto limit = core_.config.health_check.timeout;
    auto body = [probe = core_.config.health_check.probe, id = core_.id, pid = core_.life.process().pid] {
        return probe(id, pid);
    };
    const patient_deadline deadline(after_limit(core_.context.now(), limit), limit);
    const guest_outcome outcome = co_await guests_.run(std::move(body), deadline);
    co_return outcome.has_ended ? beginning_of(outcome.complaint(), longest_complaint)
                                : std::string(no_answer);
}

void health_check::judge(const std::string& complaint) {
    if (!complaint.empty()) {
        report("it failed its health check: " + visible(complaint));
    } else if (monitor_.passed_probe(core_.context.now()) == health_verdict::restore) {
        restore();
    }
}

void health_check::restore() {
    const bool was_degraded = core_.life.readiness().has(obstacle::degraded);
    core_.life.restore(core_.context.present());
    if (was_degraded) {
        core_.announce(condition_changed{condition_changed::change::restored});
    }
    core_.announce_room();
}

void health_check::dispel_doubt() {
    if (core_.life.readiness().has(obstacle::doubted)) {
        core_.life.dispel_doubt();
        core_.announce_room(); // now it may get calls again, if it is well
    }
}

void health_check::report(std::string detail) {
    const auto verdict = monitor_.failed(core_.context.now());
    wake_.open(); // the next probe is due sooner
    if (verdict == health_verdict::degrade || verdict == health_verdict::remove) {
        core_.self.report({departure_cause::failed_probes, std::move(detail), errc::worker_lost,
                           monitor_.failures(), core_.config.health_check.failures});
    }
}

void health_check::answered(time_point now) noexcept {
    monitor_.answered(now);
}

void health_check::failed_call(const call& subject, const error_message& error, time_point now) {
    const auto& failing = core_.config.health_check.failing_errors;
    const bool counts = std::find(failing.begin(), failing.end(), error.type) != failing.end();
    if (begun_ && counts && std::exchange(failed_place_, subject.place_id) != subject.place_id) {
        report("a call ended with " + visible(error.type));
        monitor_.probe_at(now); // callers wait for the verdict
    }
}

} // namespace skep
