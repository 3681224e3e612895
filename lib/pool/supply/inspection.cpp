// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/supply/inspection.hpp"

#include "core/clock.hpp"
#include "core/duration_text.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

constexpr const char* without_signal = "no signal makes it print its stacks: it is no Python worker of this "
                                       "machine, or its script uses SIGUSR1 and "
                                       "SIGUSR2";
constexpr const char* without_hello = "it has not connected yet, so no signal makes it print its stacks";

error_info info_of(const worker& subject, std::string detail) {
    error_info info;
    info.pool = subject.id().pool;
    info.worker = subject.id();
    info.pid = subject.life().process().pid;
    info.detail = std::move(detail);
    return info;
}

bool is_probeable(const worker& subject) noexcept {
    return subject.life().is_in_service() && !subject.life().readiness().has(obstacle::suspended);
}

/// Registers a reading for its lifetime.
class open_reading {
public:
    open_reading(std::map<worker_id, stack_reading*>& readings, const worker_id& id, stack_reading& reading)
        : readings_(readings), place_(readings.emplace(id, &reading).first) {}
    ~open_reading() { readings_.erase(place_); }
    open_reading(const open_reading&) = delete;
    open_reading& operator=(const open_reading&) = delete;

private:
    std::map<worker_id, stack_reading*>& readings_;
    std::map<worker_id, stack_reading*>::iterator place_;
};

} // namespace

/// Finds a worker in any state before its end. Callers find the worker again after each wait: a kept worker
/// would keep its process and channels.
worker& inspection::find(const worker_id& id) const {
    auto* const found = roster_.find_anywhere(id);
    if (found == nullptr) {
        throw roster_.no_such_worker(id);
    }
    return *found;
}

worker& inspection::find_in_service(const worker_id& id) const {
    auto& found = find(id);
    if (!found.life().is_in_service()) {
        throw roster_.no_such_worker(id);
    }
    return found;
}

/// Finds a worker whose process runs.
worker& inspection::find_process(const worker_id& id) const {
    auto& found = find(id);
    const auto& process = found.life().process();
    if (!process.exists || process.has_ended) {
        throw roster_.no_such_worker(id);
    }
    return found;
}

asio::awaitable<probe_result> inspection::probe(worker_id id) {
    auto& patient = find_in_service(id);
    if (!patient.health().can_probe()) {
        throw error(
            errc::unknown_command,
            info_of(patient, "it has no health check (see health_check.enabled, .command and .probe)"));
    }
    const auto number = patient.health().ask();
    while (find(id).health().ended() < number) {
        find_in_service(id);
        co_await changed_.wait();
    }
    co_return *find(id).health().last();
}

asio::awaitable<std::vector<probe_result>> inspection::probe_all() {
    std::vector<std::pair<worker_id, std::uint64_t>> probes;
    for (const auto& id : roster_.serving()) {
        auto& patient = *roster_.find(id);
        if (is_probeable(patient) && patient.health().can_probe()) {
            probes.emplace_back(id, patient.health().ask());
        }
    }
    std::vector<probe_result> results;
    for (const auto& [id, number] : probes) {
        const auto* patient = roster_.find_anywhere(id);
        while (patient != nullptr && patient->health().ended() < number && is_probeable(*patient)) {
            co_await changed_.wait();
            patient = roster_.find_anywhere(id);
        }
        if (patient != nullptr && patient->health().ended() >= number) {
            results.push_back(*patient->health().last());
        }
    }
    co_return results;
}

asio::awaitable<duration> inspection::ping(worker_id id) {
    const auto sent = context_.now();
    const auto deadline = after_limit(sent, heartbeat_.timeout);
    const auto number = find_in_service(id).pulse().ping_now();
    while (find_in_service(id).pulse().last_pong() < number) {
        if (context_.now() >= deadline) {
            throw error(errc::timeout, info_of(find(id), "no answer to a ping within heartbeat.timeout, " +
                                                             to_text(heartbeat_.timeout)));
        }
        co_await changed_.wait_until(deadline);
    }
    co_return context_.now() - sent;
}

/// Reads one dump at a time: the lines of two dumps look alike.
asio::awaitable<std::string> inspection::stacks(worker_id id) {
    for (auto other = readings_.find(id); other != readings_.end(); other = readings_.find(id)) {
        co_await changed_.wait_until(other->second->due());
    }
    auto& subject = find_process(id);
    const auto& process = subject.life().process();
    if (process.stack_signal == 0) {
        throw error(errc::unknown_command,
                    info_of(subject, process.has_greeted ? without_signal : without_hello));
    }
    stack_reading reading(context_.now());
    const open_reading registration(readings_, id, reading);
    subject.print_stacks();
    while (context_.now() < reading.due()) {
        co_await changed_.wait_until(reading.due());
        find_process(id);
    }
    if (reading.text().empty()) {
        const auto problem = "it printed no stacks within " + to_text(stack_reading::limit);
        throw error(errc::timeout, info_of(find(id), problem));
    }
    co_return reading.text();
}

bool inspection::take_stack_line(const output_line& line) {
    const auto reading = line.is_stderr ? readings_.find(line.worker) : readings_.end();
    const bool is_taken = reading != readings_.end() && reading->second->take(line.text, context_.now());
    if (is_taken) {
        changed_.notify_all(); // the reading ends earlier now
    }
    return is_taken;
}

asio::awaitable<worker_exit> inspection::ended(worker_id id) {
    auto* const found = roster_.find_anywhere(id);
    if (found == nullptr) {
        const auto end =
            std::find_if(ends_.rbegin(), ends_.rend(), [&](const auto& each) { return each.id == id; });
        if (end == ends_.rend()) {
            throw roster_.no_such_worker(id);
        }
        co_return *end;
    }
    const auto waited_for = found->shared_from_this();
    while (roster_.find_anywhere(id) != nullptr) {
        co_await changed_.wait();
    }
    co_return exit_of(*waited_for);
}

} // namespace skep
