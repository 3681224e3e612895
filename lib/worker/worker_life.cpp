// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The coroutines of a worker: its life from launch to reaping, and the tasks beside it.

#include "core/clock.hpp"
#include "policy/stop_ladder.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/worker.hpp"

#include <algorithm>
#include <csignal>

namespace skep {

namespace {

// How long the end of the process and the end of its channels may lie apart.
constexpr duration aftermath = std::chrono::milliseconds(250);

/// Python says that the package is missing, but not what to do about it.
std::string early_end(std::string_view last_words) {
    std::string detail = "its process ended before it was ready";
    if (last_words.find("No module named 'skep'") != std::string_view::npos) {
        detail += ": Python did not find the package skep; name the folder that holds it in the variable "
                  "SKEP_PYTHON_SDK, or install it for this interpreter";
    }
    return detail;
}

} // namespace

asio::awaitable<void> worker::run() {
    try {
        co_await live();
    } catch (const std::exception& problem) { // out of memory: its end must be told all the same
        fail(errc::worker_lost, problem.what());
        end_now();
        release_calls();
    }
    for (auto* each : {&launch_over_, &beat_now_, &look_now_, &probe_over_}) {
        each->open();
    }
    co_await tasks_.join();
    leave_service();
    try {
        move_to(end_state(), failure_ ? failure_->detail : to_string(status_));
        log_end();
    } catch (const std::exception&) { // no memory for words
    }
    events_.on_ended(*this);
}

asio::awaitable<void> worker::live() {
    move_to(worker_state::starting, "launch");
    co_await launch();
    if (process_) {
        co_await await_ready();
        co_await await_end();
        leave_service();
        co_await await_aftermath();
        co_await descend();
        co_await settle();
        co_await collect();
    }
}

worker_state worker::end_state() const {
    if (!process_ && !failure_) {
        return worker_state::stopped; // before it came to life
    }
    const bool broke = failure_ && !(was_ready() && ended_by_itself_);
    return terminal_state(
        {!rungs_.empty() && rungs_.back().rung >= stop_rung::kill, stopping_, broke, status_});
}

void worker::end_now() noexcept {
    if (process_) {
        process_->end_now();
        data_->close();
        control_->close();
    }
}

void worker::log_end() const {
    std::string text = to_string(id_) + " " + std::string(to_string(machine_.state()));
    if (pid_ != 0) {
        text += ", " + to_string(status_);
    }
    if (failure_) {
        text += ": " + failure_->detail;
    }
    log_(failure_ ? log_level::warning : log_level::info, text);
}

asio::awaitable<void> worker::launch() {
    const auto self = shared_from_this();
    start_deadline_ = {after_limit(clock::now(), config_.start.timeout), config_.start.timeout};
    tasks_.spawn(self, guard_launch());
    try {
        launch_order order{id_, token_};
        worker_link link = co_await runtime_.start(std::move(order));
        data_.emplace(context_.executor, std::move(link.data), config_.limits);
        control_.emplace(context_.executor, std::move(link.control), config_.limits);
        process_ = std::move(link.process);
        pid_ = process_->pid();
    } catch (const error& e) {
        fail(errc::spawn_failed, e.info.detail);
    } catch (const std::exception& e) {
        fail(errc::spawn_failed, e.what());
    }
    launch_over_.open();
    if (process_) {
        tasks_.spawn(self, watch_process());
        tasks_.spawn(self, read_data());
        tasks_.spawn(self, read_control());
        tasks_.spawn(self, write_data());
        tasks_.spawn(self, write_control());
    }
}

/// A program on a dead file system can hang before it runs.
asio::awaitable<void> worker::guard_launch() {
    const bool over = co_await launch_over_.wait_until(start_deadline_);
    if (!over) {
        fail(errc::startup_timeout,
             "its process could not be created in time; does the file system that its program is on answer?");
    }
    runtime_.cancel_start(id_); // of no effect if it has returned
}

asio::awaitable<void> worker::await_ready() {
    while (!was_ready() && !is_over()) {
        wake_.close();
        const bool woken = co_await wake_.wait_until(start_deadline_);
        if (!woken && !was_ready() && !is_over()) {
            const std::string missing =
                said_hello_ ? "it said hello but its on_start did not end in time"
                            : "it did not say hello in time; does its script call worker.run()?";
            fail(errc::startup_timeout, missing + "; raise start.timeout if loading takes that long");
        }
    }
}

asio::awaitable<void> worker::await_end() {
    while (!is_over()) {
        wake_.close();
        co_await wake_.wait();
    }
}

/// Where one channel or the process has ended by itself, the rest follows within moments as a rule.
asio::awaitable<void> worker::await_aftermath() {
    const bool ending = !stopping_ && (!failure_ || failure_->code == errc::worker_lost);
    const auto deadline = clock::now() + aftermath;
    bool in_time = ending;
    while (in_time && !process_ended_) {
        wake_.close();
        in_time = co_await wake_.wait_until(deadline);
    }
}

/// The stop ladder: each rung with its time, until the process has ended.
asio::awaitable<void> worker::descend() {
    if (process_ended_) {
        co_return;
    }
    if (wants_stacks()) {
        co_await take_stacks();
    }
    if (failure_) {
        release_calls(); // nothing more is to be expected of it; its callers need not wait for its end
    }
    move_to(worker_state::stopping, failure_   ? failure_->detail
                                    : retired_ ? retired_->reason
                                               : "asked to stop");
    const auto first = stop_from_.value_or(stop_rung::terminate);
    const bool can_be_asked = stopping_ && was_ready();
    stop_ladder ladder(config_.stop, can_be_asked ? first : std::max(first, stop_rung::terminate),
                       clock::now());
    take_rung(ladder.rung());
    while (!process_ended_ && ladder.rung() != stop_rung::lost) {
        wake_.close();
        const bool woken = co_await wake_.wait_until(ladder.deadline());
        bool down = !woken || (stop_from_ && *stop_from_ > ladder.rung());
        while (!process_ended_ && down) {
            ladder.descend(clock::now());
            take_rung(ladder.rung());
            down = stop_from_ && *stop_from_ > ladder.rung();
        }
    }
    rungs_ = ladder.taken();
}

/// Reads what it sent before its end, learns how it ended, and gives back every call that got no answer.
asio::awaitable<void> worker::settle() {
    if (process_ended_) {
        process_->kill(); // its group: nobody else may hold the channels open
        const auto deadline = clock::now() + aftermath;
        bool in_time = true;
        while (in_time && !data_ended_) {
            wake_.close();
            in_time = co_await wake_.wait_until(deadline);
        }
        status_ = process_->reap();
        co_await process_->finish(clock::now() + aftermath);
        note_own_end();
        judge_end();
    }
    release_calls();
}

void worker::note_own_end() {
    const bool by_itself = !stopping_ && rungs_.empty() && (!failure_ || failure_->code == errc::worker_lost);
    if (by_itself) {
        ended_by_itself_ = true;
        failure_ = was_ready() ? worker_failure{errc::worker_lost, "its process ended"}
                               : worker_failure{errc::handshake_failed, early_end(process_->output_tail())};
    }
}

void worker::judge_end() {
    const auto last_words = process_->output_tail();
    exit_evidence evidence;
    evidence.status = status_;
    evidence.killed_by_pool = std::any_of(rungs_.begin(), rungs_.end(), [](const rung_reached& each) {
        return each.rung == stop_rung::terminate || each.rung == stop_rung::kill;
    });
    evidence.oom_kill = status_.signal() == SIGKILL && process_->saw_oom_kill();
    evidence.last_words = last_words;
    verdict_ = classify_exit(evidence);
}

asio::awaitable<void> worker::collect() {
    data_->close();
    control_->close();
    if (!process_ended_) {
        log_(log_level::error,
             to_string(id_) + " (pid " + std::to_string(pid_) + ") does not end even after SIGKILL");
        process_->abandon();
    }
    co_await process_->finish(clock::now() + aftermath);
}

asio::awaitable<void> worker::watch_process() {
    co_await process_->ended();
    process_ended_ = true;
    look_now_.open();
    probe_over_.open();
    machine_.set_health(worker_health::unhealthy, context_.wall_now());
    leave_service();
    wake_.open();
    beat_now_.open();
}

asio::awaitable<void> worker::read_data() {
    bool more = true;
    while (more) {
        more = co_await data_->receive();
        if (heartbeat_) {
            heartbeat_->heard(); // before the messages: the one that makes it ready answers no ping
        }
        try {
            while (auto message = data_->next()) {
                if (std::holds_alternative<pong_message>(*message)) {
                    throw protocol_violation("pong may come over the control channel only");
                }
                std::visit([this](auto& content) { on_message(content); }, *message);
            }
        } catch (const protocol_violation& violation) {
            fail(errc::protocol_error, violation.what());
            more = false;
        }
    }
    data_ended_ = true;
    fail(errc::worker_lost, "it closed its data channel");
    wake_.open();
}

asio::awaitable<void> worker::write_data() {
    bool more = true;
    while (more) {
        more = co_await data_->send_backlog();
        if (takes_calls()) {
            events_.on_room(*this);
        }
    }
    fail(errc::worker_lost, "its data channel cannot be written to"); // though it can still be read, perhaps
}

asio::awaitable<void> worker::write_control() {
    bool more = true;
    while (more) {
        more = co_await control_->send_backlog();
    }
    fail(errc::worker_lost, "its control channel cannot be written to");
}

asio::awaitable<void> worker::read_control() {
    bool more = true;
    while (more) {
        more = co_await control_->receive();
        try {
            while (auto message = control_->next()) {
                auto* const pong = std::get_if<pong_message>(&*message);
                if (pong == nullptr) {
                    throw protocol_violation("only pong may come over the control channel");
                }
                on_message(*pong);
            }
        } catch (const protocol_violation& violation) {
            fail(errc::protocol_error, violation.what());
            more = false;
        }
    }
    fail(errc::worker_lost, "it closed its control channel");
}

asio::awaitable<void> worker::beat() {
    while (!is_over()) {
        co_await beat_now_.wait_until(heartbeat_->next_tick());
        if (is_over()) {
            break;
        }
        const auto verdict = heartbeat_->tick(clock::now());
        missed_pings_ += static_cast<std::uint64_t>(verdict.new_misses);
        if (verdict.lost && config_.heartbeat.dependent) {
            fail(errc::heartbeat_lost, "no answer to " + std::to_string(config_.heartbeat.misses) + " pings");
            break;
        }
        if (verdict.new_misses > 0) {
            log_(log_level::warning,
                 to_string(id_) + " missed " + std::to_string(missed_pings_) + " pings so far");
        }
        append_ping(control_->outbox(), verdict.ping);
        control_->flush();
    }
}

void worker::take_rung(stop_rung rung) {
    switch (rung) {
    case stop_rung::ask:
        append_shutdown(control_->outbox(), config_.stop.ask + config_.stop.grace);
        control_->flush();
        break;
    case stop_rung::terminate: process_->terminate(); break;
    case stop_rung::kill: process_->kill(); break;
    default: break;
    }
}

void worker::release_calls() {
    // Only of a worker that is dead can be said what it has not begun; see is_ahead.
    const std::size_t begun = process_ended_ ? capacity_ : calls_.size();
    lost_alone_ = std::min(begun, load()) == 1;
    while (!calls_.empty()) { // each goes to the front
        const auto last = calls_.end() - 1;
        const auto lost = std::move(last->second);
        calls_.erase(last);
        if (!lost.which->is_probe) {
            const bool may_have_begun = load() < begun && data_->sent() > lost.begin;
            events_.on_call_lost(*this, lost.which, may_have_begun);
        }
    }
    events_.on_calls_released();
}

} // namespace skep
