// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker's life: its coroutines, from launch to reaping.

#include "worker/worker.hpp"

#include <csignal>
#include <new>

namespace skep {

namespace {

// For the rest of what a process that has ended, and its group, have printed.
constexpr duration for_last_output = std::chrono::milliseconds(250);

// What coroutines of the user's that were cancelled get to end.
constexpr duration for_guests = std::chrono::milliseconds(250);

/// What faulthandler printed, from its first thread on.
std::string stacks_in(const std::string& output) {
    const auto first = std::min(output.find("Thread 0x"), output.find("Current thread 0x"));
    return first == std::string::npos ? std::string() : output.substr(first);
}

} // namespace

asio::awaitable<void> worker::run() {
    try {
        if (around_.limit.is_crossed()) { // just now
            throw std::bad_alloc();
        }
        co_await live();
    } catch (...) {
        end_with_pool(std::current_exception());
    }
    follow_life();
    service_.cancel();
    co_await service_.join();
    guests_.cancel();
    tools_.close();
    const auto limit = around_.context.now() + for_guests;
    co_await guests_.join(limit);
    co_await tools_.join(limit);
    co_await tasks_.join();
    tell(ended{});
}

asio::awaitable<void> worker::live() {
    tasks_.spawn(shared_from_this(), launch());
    for (auto step = life_.next(at()); step != life_step::done; step = life_.next(at())) {
        follow_life(); // it may have failed by looking at the time
        if (step == life_step::wait) {
            wake_.close();
            co_await wake_.wait_until(life_.deadline());
        } else {
            co_await take(step);
        }
    }
}

void worker::on_task_failed(const std::exception_ptr& problem) noexcept {
    try {
        std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
        end_with_pool(problem);
    } catch (const std::exception& other) {
        around_.limit.guard([&] { report({failure_kind::process_exit, other.what(), errc::worker_lost}); });
    }
}

/// One of its tasks has failed: the steps of its end would wait for that.
void worker::end_with_pool(const std::exception_ptr& problem) noexcept {
    end_now();
    around_.starter.cancel_start(id_);
    try {
        life_.break_off("no memory left", at()); // so short that it takes none
        follow_life();
        release_calls();
    } catch (...) {} // what they would have told nobody needs
    wake_.open();
    around_.limit.cross(problem);
}

asio::awaitable<void> worker::take(life_step step) {
    switch (step) {
    case life_step::cancel_launch:
        guests_.cancel();
        around_.starter.cancel_start(id_);
        break;
    case life_step::take_stacks: process_->signal(life_.stack_signal()); break;
    case life_step::keep_stacks: stacks_ = stacks_in(process_->output_tail()); break;
    case life_step::release_calls: release_calls(); break;
    case life_step::ask:
        link_->stop_sending_calls();
        append_shutdown(link_->control().outbox().text(),
                        around_.config.stop.shutdown_grace + around_.config.stop.term_grace);
        link_->control().flush();
        break;
    case life_step::terminate:
        link_->stop_sending_calls();
        process_->terminate();
        break;
    case life_step::kill:
        link_->stop_sending_calls();
        process_->kill();
        break;
    case life_step::hear_out:
        link_->stop_sending_calls();
        link_->hear_out();
        break;
    case life_step::reap: collect(); break;
    case life_step::give_up: process_->abandon(); break;
    case life_step::close: {
        link_->close();
        co_await process_->end_group();
        const auto deadline = around_.context.now() + for_last_output;
        co_await process_->finish(deadline);
        break;
    }
    default: break;
    }
}

/// Behind a probe, or calls that were given up, there are others, and it may have begun one of these, an answer being on
/// its way. If none comes, it has not, and they go back.
asio::awaitable<void> worker::linger() {
    lingers_ = true;
    gate never(around_.context.executor);
    bool has_answered = true;
    while (has_answered && calls_.is_drained() && !calls_.is_deserted()) {
        const auto load = calls_.load();
        const auto limit = patience_for_first();
        patient_deadline grace(around_.context.now() + limit, limit);
        co_await never.wait_until(grace);
        has_answered = calls_.load() < load;
    }
    lingers_ = false;
    if (calls_.is_drained()) {
        stop(stop_stage::ask);
    }
}

asio::awaitable<void> worker::launch() {
    const auto self = shared_from_this();
    try {
        launch_order order{id_, origin_.token, {}};
        if (initialization_.is_wanted()) {
            life_.begin_hook("before_launch");
            order.launch = co_await initialization_.plan_launch();
            life_.end_hook();
        }
        if (life_.is_over()) {
            throw error(errc::spawn_failed, {}); // nobody wants it any more
        }
        worker_link started = co_await around_.starter.start(std::move(order));
        process_ = std::move(started.process);
        link_.emplace(around_.context, std::move(started.data), std::move(started.control),
                      around_.config.limits, static_cast<link_user&>(*this));
        tasks_.spawn(self, watch_process());
        link_->start(tasks_, self);
        life_.launched(process_->pid());
        around_.context.tell<events::worker_spawned>([&] {
            return events::worker_spawned{id_, life_.pid(), around_.context.now() - origin_.asked_for};
        });
        if (life_.is_finished()) {
            end_now();
        }
    } catch (const error& problem) {
        end_now();
        life_.launch_failed(problem.errc(), problem.info().detail, at());
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& problem) {
        end_now();
        life_.launch_failed(errc::spawn_failed, problem.what(), at());
    }
    follow_life();
}

/// Ready, but not yet in service: the user's warm-up has it to itself.
asio::awaitable<void> worker::warm_up() {
    life_.begin_hook("warm_up");
    const auto complaint = co_await initialization_.warm_up();
    life_.end_hook();
    if (complaint.empty() && !life_.is_over()) {
        begin_service();
    } else if (!complaint.empty()) {
        report({failure_kind::start_failed, "warm_up: " + complaint, errc::initialization_failed});
    }
}

asio::awaitable<void> worker::watch_process() {
    co_await process_->ended();
    link_->end_pauses();
    life_.process_ended(at());
    follow_life();
}

/// How it ended, and what it has printed.
void worker::collect() {
    exit_evidence evidence;
    evidence.status = process_->reap();
    const auto last_words = process_->output_tail();
    evidence.last_words = last_words;
    evidence.oom_kill = evidence.status.signal() == SIGKILL && process_->saw_oom_kill();
    life_.reaped(evidence, at());
}

asio::awaitable<void> worker::beat() {
    gate never(around_.context.executor);
    for (;;) {
        const auto next = heartbeat_->next_tick();
        co_await never.wait_until(next);
        ping();
    }
}

/// A worker without a control channel is asked only while it has nothing to do: it could not answer. Silence proves nothing
/// while the host does not read.
void worker::ping() {
    const auto& options = around_.config.heartbeat;
    const bool is_kept_from_answering = !link_->has_control() && !calls_.empty();
    if (is_kept_from_answering || link_->is_paused()) {
        heartbeat_->put_off(around_.context.now());
        return;
    }
    const auto verdict = heartbeat_->tick(around_.context.now());
    if (verdict.new_misses > 0) {
        tally_.missed_pings += static_cast<std::uint64_t>(verdict.new_misses);
        tell(pings_missed{verdict.new_misses, tally_.missed_pings});
    }
    if (verdict.lost && options.dependent) {
        report({failure_kind::heartbeat_lost, "no answer to " + std::to_string(options.misses) + " pings",
                errc::heartbeat_lost});
        return;
    }
    send_ping(verdict.ping);
}

void worker::send_ping(std::uint64_t number) {
    append_ping(link_->control().outbox().text(), number);
    link_->control().flush();
    around_.context.tell<events::ping_sent>([&] { return events::ping_sent{id_}; });
}

std::uint64_t worker::ping_now() {
    const auto now = around_.context.now();
    if (!heartbeat_) {
        heartbeat_.emplace(around_.config.heartbeat, now);
    }
    tally_.awaited_pong = heartbeat_->add_ping(now);
    send_ping(tally_.awaited_pong);
    return tally_.awaited_pong;
}

} // namespace skep
