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

// Of what a failed probe says: it goes into the history and the log.
constexpr std::size_t longest_complaint = 1024;

/// After another's probe was given way to.
duration pause_before_turn(const health_check_options& options) {
    constexpr duration least = std::chrono::milliseconds(1);
    return std::clamp(options.interval / 16, least, options.retry_interval);
}

/// Workers that came up together must not all be at their probes together: they are spread over the interval.
duration phase_of(std::uint32_t slot, duration interval) {
    constexpr double golden_ratio = 0.6180339887;
    const double share = std::fmod(golden_ratio * slot, 1.0);
    return std::chrono::duration_cast<duration>(interval * share);
}

} // namespace

health_check::health_check(const pool_context& context, const pool_config& config, guest_group& guests,
                           worker& patient)
    : context_(context),
      config_(config),
      guests_(guests),
      patient_(patient),
      monitor_(config.health_check, false, context.now()),
      look_now_(context.executor),
      probe_over_(context.executor) {}

void health_check::introduce(const hello_message& hello) {
    const auto& options = config_.health_check;
    command_ = options.command.empty() ? hello.health_check : options.command;
    own_ = hello.own_health_check || !options.command.empty() || options.probe;
}

bool health_check::begin(time_point now) {
    const auto& options = config_.health_check;
    begun_ = options.enabled && (options.probe || !command_.empty());
    monitor_ = health_monitor(options, own_, now - phase_of(patient_.id().slot, options.interval));
    return begun_;
}

asio::awaitable<void> health_check::run() {
    auto not_before = context_.now();
    while (patient_.life().is_in_service()) {
        look_now_.close();
        const auto due = is_wanted() ? not_before : std::max(monitor_.next_probe(), not_before);
        const bool woken = co_await look_now_.wait_until(due);
        if (woken) {
            not_before = context_.now();
            continue;
        }
        if (!is_wanted() && context_.now() < monitor_.next_probe()) {
            continue;
        }
        if (!patient_.is_probeable()) {
            patient_.expect_probe((own_ || asked_) && !patient_.life().is(obstacle::suspended));
            not_before = context_.now() + config_.health_check.retry_interval;
            continue;
        }
        patient_.expect_probe(false); // its place is taken in a moment, or is for calls again
        if (!asked_ && !patient_.life().awaits_probe() && !patient_.may_be_probed()) {
            not_before = context_.now() + pause_before_turn(config_.health_check);
            continue;
        }
        auto probing = probe_and_judge();
        co_await std::move(probing);
    }
}

/// Whatever the time is.
bool health_check::is_wanted() const noexcept {
    return asked_ || patient_.life().is(obstacle::doubted);
}

asio::awaitable<void> health_check::probe_and_judge() {
    const auto begun = context_.now();
    asked_ = false;
    ++begun_probes_;
    value_ = nullptr;
    const std::string complaint = co_await probe();
    ++ended_probes_;
    last_ = {patient_.id(), context_.present().wall, context_.now() - begun, complaint.empty(),
             complaint,     std::move(value_)};
    context_.tell<events::worker_health_check>([&] {
        return events::worker_health_check{patient_.id(), last_->took, last_->passed, complaint};
    });
    if (patient_.life().is_in_service()) {
        judge(complaint);
        patient_.dispel_doubt();
        patient_.tell_room(); // the caller of probe() looks again
    }
}

/// What is wrong with it; empty if nothing is.
asio::awaitable<std::string> health_check::probe() {
    return config_.health_check.probe ? probe_by_function() : probe_by_command();
}

asio::awaitable<std::string> health_check::probe_by_command() {
    const auto limit = config_.health_check.timeout;
    probe_over_.close();
    complaint_ = no_answer;
    if (!unanswered_) { // else it has not even answered the one before
        const call_ptr probe_call(new call(request(command_), this));
        probe_call->encode(config_.limits);
        probe_call->deadline = context_.now() + limit;
        patient_.assign_private(*probe_call);
        unanswered_ = probe_call;
        patient_.tell_room(); // it has less now
    }
    patient_deadline deadline(after_limit(context_.now(), limit), limit);
    co_await probe_over_.wait_until(deadline);
    if (unanswered_) {
        patient_.abandon_private(*unanswered_);
    }
    co_return complaint_;
}

void health_check::put_answer(reply&& answer) {
    constexpr std::size_t most = 16u << 10; // it is kept, and goes into every status
    value_ = memory_of(answer.value) <= most ? std::move(answer.value) : boost::json::value();
    complaint_.clear();
    put_loss();
}

void health_check::put_failure(claim_failure&& failure) {
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
    const auto limit = config_.health_check.timeout;
    auto body = [probe = config_.health_check.probe, id = patient_.id(), pid = patient_.life().pid()] {
        return probe(id, pid);
    };
    const patient_deadline deadline(after_limit(context_.now(), limit), limit);
    const guest_outcome outcome = co_await guests_.run(std::move(body), deadline);
    co_return outcome.has_ended ? beginning_of(outcome.complaint(), longest_complaint)
                                : std::string(no_answer);
}

void health_check::judge(const std::string& complaint) {
    if (!complaint.empty()) {
        report("it failed its health check: " + visible(complaint));
    } else if (monitor_.passed_probe(context_.now()) == health_verdict::restore) {
        patient_.restore();
    }
}

void health_check::report(std::string detail) {
    const auto verdict = monitor_.failed(context_.now());
    look_now_.open(); // the next probe is due sooner
    if (verdict == health_verdict::degrade || verdict == health_verdict::remove) {
        patient_.report({failure_kind::probe_failed, std::move(detail), errc::worker_lost,
                         monitor_.failures(), config_.health_check.failures});
    }
}

void health_check::answered(time_point now) noexcept {
    monitor_.answered(now);
}

void health_check::failed_call(const error_message& error, time_point now) {
    const auto& failing = config_.health_check.failing_errors;
    const bool counts = std::find(failing.begin(), failing.end(), error.type) != failing.end();
    if (begun_ && counts) {
        report("a call ended with " + visible(error.type));
        monitor_.probe_at(now); // callers wait to know
    }
}

} // namespace skep
