// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker.hpp"

#include "core/text.hpp"
#include "policy/last_output.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <csignal>
#include <new>
#include <type_traits>
#include <utility>

namespace skep {

namespace {

// The time to read the last output of an ended process and its group.
constexpr duration for_last_output = std::chrono::milliseconds(250);

// The time for cancelled user coroutines to end.
constexpr duration for_guests = std::chrono::milliseconds(250);

// Stands in the output before the stacks of a frozen worker. Earlier stacks may have been read on demand.
constexpr std::string_view mark_of_stacks = "skep: the stacks of the worker before its end:\n";

/// Returns the output of faulthandler behind the mark, from its first thread on.
std::string stacks_in(const std::string& output) {
    const auto mark = output.rfind(mark_of_stacks);
    const auto begin = mark == std::string::npos ? 0 : mark; // long stacks push the mark out
    const auto first = std::min(output.find("Thread 0x", begin), output.find("Current thread 0x", begin));
    return first == std::string::npos ? std::string() : output.substr(first);
}

void publish_failure(const pool_context& context, const worker& subject, departure_cause cause,
                     recovery_action action, const std::string& detail) {
    if (action == recovery_action::none) { // the worker has failed before
        return;
    }
    if (cause == departure_cause::protocol_error) {
        context.publish<events::protocol_error>([&] { return events::protocol_error{subject.id(), detail}; });
    } else if (cause == departure_cause::lost_heartbeat) {
        context.publish<events::heartbeat_failed>([&] { return events::heartbeat_failed{subject.id()}; });
    } else if (cause == departure_cause::failed_probes && action == recovery_action::replace) {
        context.publish<events::unhealthy_worker_terminated>([&] {
            return events::unhealthy_worker_terminated{subject.id(), subject.life().process().pid, detail};
        });
    }
}

} // namespace

worker::worker(const worker_surroundings& surroundings, worker_id id,
               std::optional<worker_state_machine> initial_state)
    : core_(surroundings, *this, std::move(id), std::move(initial_state)),
      origin_{surroundings.context.now(), surroundings.context.make_token(), 0, std::nullopt},
      guests_(surroundings.context.executor),
      initialization_(core_, guests_),
      health_(core_, guests_),
      calls_(core_),
      records_(core_),
      recycling_(core_, calls_),
      pulse_(core_),
      drain_(core_, service_),
      answers_(core_, calls_, drain_),
      served_(new served_sessions(*this, core_.id)),
      wake_(surroundings.context.executor),
      tasks_(surroundings.context.executor,
             [this](const std::exception_ptr& problem) { on_task_failed(problem); }),
      service_(surroundings.context.executor,
               [this](const std::exception_ptr& problem) { on_task_failed(problem); }) {}

asio::awaitable<void> worker::run() {
    try {
        if (core_.surroundings.limit.is_crossed()) { // just now
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
    calls_.tools().close();
    const auto limit = core_.context.now() + for_guests;
    co_await guests_.join(limit);
    co_await calls_.tools().join(limit);
    co_await tasks_.join();
    core_.announce(ended{});
}

asio::awaitable<void> worker::live() {
    tasks_.spawn(shared_from_this(), launch());
    for (auto step = core_.life.next(present()); step != life_step::done; step = core_.life.next(present())) {
        follow_life(); // next() may have found a timeout
        if (step == life_step::wait) {
            wake_.close();
            co_await wake_.wait_until(core_.life.deadline());
        } else {
            co_await perform(step);
        }
    }
}

void worker::on_task_failed(const std::exception_ptr& problem) noexcept {
    try {
        std::rethrow_exception(problem);
    } catch (const std::bad_alloc&) {
        end_with_pool(problem);
    } catch (const std::exception& other) {
        core_.surroundings.limit.guard([&] {
            report({departure_cause::lost_channel, other.what(), errc::worker_lost});
        });
    }
}

/// Ends the worker at once. A task has failed, and the regular steps would wait for that task.
void worker::end_with_pool(const std::exception_ptr& problem) noexcept {
    end_now();
    core_.surroundings.starter.cancel_start(core_.id);
    try {
        core_.life.break_off("no memory left", present()); // short enough not to allocate
        calls_.lose();
    } catch (...) {} // the lost events are not needed
    wake_.open();
    core_.surroundings.limit.cross(problem);
}

asio::awaitable<void> worker::perform(life_step step) {
    switch (step) {
    case life_step::cancel_launch:
        guests_.cancel();
        core_.surroundings.starter.cancel_start(core_.id);
        break;
    case life_step::take_stacks:
        core_.process->add_to_tail(mark_of_stacks);
        print_stacks();
        break;
    case life_step::keep_stacks: stacks_ = stacks_in(core_.process->output_tail()); break;
    case life_step::release_calls: calls_.lose(); break;
    case life_step::ask:
        core_.link->stop_sending_calls();
        append_shutdown(core_.link->control().outbox().text(),
                        core_.config.stop.shutdown_grace + core_.config.stop.term_grace);
        core_.link->control().flush();
        break;
    case life_step::terminate:
        core_.link->stop_sending_calls();
        core_.process->terminate();
        break;
    case life_step::kill:
        core_.link->stop_sending_calls();
        core_.process->kill();
        break;
    case life_step::hear_out:
        core_.link->stop_sending_calls();
        core_.link->hear_out();
        break;
    case life_step::reap: collect(); break;
    case life_step::give_up: core_.process->abandon(); break;
    case life_step::close: {
        core_.link->close();
        calls_.close_memory();
        co_await core_.process->end_group();
        const auto deadline = core_.context.now() + for_last_output;
        co_await core_.process->finish(deadline);
        break;
    }
    default: break;
    }
}

asio::awaitable<void> worker::launch() {
    const auto self = shared_from_this();
    try {
        launch_order order{core_.id, origin_.token, {}};
        if (initialization_.is_wanted()) {
            core_.life.start().begin_hook("before_launch");
            order.launch = co_await initialization_.plan_launch();
            core_.life.start().end_hook();
        }
        if (core_.life.is_over()) {
            throw error(errc::spawn_failed, {}); // the worker is no longer wanted
        }
        worker_link started = co_await core_.surroundings.starter.start(std::move(order));
        core_.process = std::move(started.process);
        core_.regions = std::move(started.regions);
        core_.node = std::move(started.node);
        calls_.set_on_trial(started.is_on_trial);
        core_.link.emplace(core_.context, std::move(started.data), std::move(started.control),
                           core_.config.limits, static_cast<link_user&>(*this));
        core_.life.launched(core_.process->pid()); // before the process can be seen to end
        tasks_.spawn(self, watch_process());
        core_.link->start(tasks_, self);
        core_.context.publish<events::worker_spawned>([&] {
            return events::worker_spawned{core_.id, core_.life.process().pid,
                                          core_.context.now() - origin_.asked_for};
        });
        if (core_.life.ending().is_finished()) {
            end_now();
        }
    } catch (const error& problem) {
        end_now();
        core_.life.launch_failed(problem.kind(), problem.info().detail, present());
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const std::exception& problem) {
        end_now();
        core_.life.launch_failed(errc::spawn_failed, problem.what(), present());
    }
    follow_life();
}

asio::awaitable<void> worker::watch_process() {
    co_await core_.process->ended();
    core_.link->end_pauses();
    core_.life.process_ended(present());
    follow_life();
}

/// Collects the exit status and the output.
void worker::collect() {
    exit_evidence evidence;
    evidence.status = core_.process->reap();
    const auto last_words = core_.process->output_tail();
    evidence.last_words = last_words;
    evidence.oom_kill = evidence.status.signal() == SIGKILL && core_.process->saw_oom_kill();
    core_.life.reaped(evidence, present());
}

void worker::on_message(worker_message& message) {
    std::visit(
        [this](auto& content) {
            using type = std::decay_t<decltype(content)>;
            if constexpr (requires(answer_intake & intake) { intake.handle(content); }) {
                answers_.handle(content);
            } else if constexpr (requires(worker_records & records) { records.handle(content); }) {
                records_.handle(content);
            } else if constexpr (std::is_same_v<type, pong_message>) {
                pulse_.handle(content);
            } else if constexpr (std::is_same_v<type, hello_message>) {
                on_hello(content);
            } else if constexpr (std::is_same_v<type, release_message>) {
                on_release(content);
            } else if constexpr (std::is_same_v<type, region_message>) {
                calls_.received_memory().results().request(content.bytes);
            } else {
                on_ready();
            }
        },
        message);
}

void worker::on_backlog_shrunk() {
    calls_.tools().go_on();
    if (calls_.is_open()) {
        core_.announce_room();
    }
}

void worker::on_data_ended(std::string stray) {
    core_.life.data_ended(std::move(stray));
    wake_.open();
}

void worker::on_hello(hello_message& hello) {
    if (hello.protocol != protocol_version) {
        throw protocol_violation("it speaks protocol version " + std::to_string(hello.protocol) +
                                 ", this host " + std::to_string(protocol_version) +
                                 "; update the older side");
    }
    const bool is_over_stdio = !core_.link->has_control(); // only the worker can write to stdio: no token
    if (!is_over_stdio && hello.token != origin_.token) {
        throw protocol_violation("its token is not the one it was started with");
    }
    // A launcher or forwarder of the worker would die of the signal. Over stdio the pid may belong to another
    // machine.
    const bool is_our_process = !is_over_stdio && hello.pid == core_.life.process().pid;
    core_.life.greeted(is_our_process ? hello.stack_signal : 0);
    recycling_.measure(hello.pid);
    health_.introduce(hello);
    loop_ = std::move(hello.loop);
    const auto capacity = calls_.open(hello);
    append_welcome(core_.link->control().outbox().text(),
                   {core_.id, core_.config.heartbeat, core_.config.limits, capacity, calls_.correlation(),
                    to_string(core_.config.log_level), origin_.predecessor_ended_as,
                    calls_.memory().is_open() ? &core_.config.shared : nullptr});
    core_.link->control().flush();
}

void worker::on_release(const release_message& message) {
    if (!calls_.memory().release(message.place)) {
        throw protocol_violation("it releases the place at " + std::to_string(message.place.begin) +
                                 " of region " + std::to_string(message.place.region) +
                                 ", which is not lent to it");
    }
}

void worker::on_ready() {
    if (core_.life.is_over()) {
        return;
    }
    if (initialization_.is_wanted()) {
        service_.spawn(shared_from_this(), warm_up());
    } else {
        begin_service();
    }
}

/// Runs the user's warm-up on the ready worker, before the worker is in service.
asio::awaitable<void> worker::warm_up() {
    core_.life.start().begin_hook("warm_up");
    const auto complaint = co_await initialization_.warm_up();
    core_.life.start().end_hook();
    if (complaint.empty() && !core_.life.is_over()) {
        begin_service();
    } else if (!complaint.empty()) {
        report({departure_cause::failed_start, "warm_up: " + complaint, errc::initialization_failed});
    }
}

void worker::begin_service() {
    const auto self = shared_from_this();
    const auto now = core_.context.now();
    core_.life.came_up(present());
    core_.announce(came_up{}); // before any step that may fail
    calls_.follow_load(now);
    core_.context.publish<events::worker_ready>([&] {
        return events::worker_ready{core_.id, core_.life.process().pid, now - origin_.asked_for, core_.node};
    });
    recycling_.begin(now);
    if (health_.begin(now)) {
        service_.spawn(self, health_.run());
    }
    if (pulse_.begin(now)) {
        service_.spawn(self, pulse_.run());
    }
    wake_.open();
}

void worker::report(failure new_failure) {
    const auto cause = new_failure.cause;
    auto detail = new_failure.detail;
    const auto action = core_.life.fail(std::move(new_failure), present());
    publish_failure(core_.context, *this, cause, action, detail);
    if (action != recovery_action::none && action != recovery_action::abandon) {
        core_.announce(went_wrong{cause, action, std::move(detail)});
        core_.announce_room();
        health_.wake();
    }
    follow_life();
    drain_.end_if_drained();
}

void worker::retire(departure_cause cause, std::string detail) {
    core_.life.retire(cause, std::move(detail), present());
    follow_life();
    drain_.end_if_drained();
}

void worker::suspend() {
    if (core_.life.is_in_service() && !core_.life.readiness().has(obstacle::suspended)) {
        core_.life.suspend();
        core_.announce_room();
        drain_.show_suspended();
    }
}

void worker::resume() {
    if (core_.life.readiness().has(obstacle::suspended)) {
        core_.life.resume(health_.is_well(), present());
        health_.wake();
        core_.announce(condition_changed{condition_changed::change::resumed});
        core_.announce_room();
    }
}

void worker::stop(stop_stage first) {
    core_.life.stop(first);
    follow_life();
}

void worker::kill() noexcept {
    if (core_.link) {
        core_.link->stop_sending_calls();
    }
    if (core_.process) {
        core_.process->kill();
    }
}

void worker::print_stacks() noexcept {
    core_.process->signal(core_.life.process().stack_signal);
}

void worker::end_now() noexcept {
    if (core_.process) {
        core_.process->end_now();
    }
    if (core_.link) {
        core_.link->close();
    }
}

void worker::follow_life() {
    core_.announce_transitions();
    if (core_.life.departure()) {
        core_.announce_departure();
        health_.wake();
    }
    if (core_.life.is_over()) {
        service_.cancel();
        wake_.open();
    }
}

std::uint64_t worker::output_lines_dropped() const noexcept {
    return (core_.process ? core_.process->output_lines_dropped() : 0) + records_.dropped();
}

error_info worker::describe() const {
    error_info info;
    info.pool = core_.id.pool;
    info.node = core_.node;
    info.worker = core_.id;
    info.program = core_.process && !core_.life.was_up() && core_.node.empty() ? core_.process->program()
                                                                               : std::string();
    info.pid = core_.life.process().pid;
    info.status = core_.life.process().status;
    info.exit_kind = core_.life.process().verdict.kind;
    info.exit_evidence = core_.life.process().verdict.evidence;
    info.stacks = to_utf8(stacks_);
    info.detail = core_.life.departure() ? core_.life.departure()->detail : std::string();
    info.output_tail = last_output();
    if (!core_.node.empty()) {
        describe_link_in(info);
    }
    return info;
}

/// The last output of a node is why its link has ended. The channel and the process of the pool's own words
/// are that link.
void worker::describe_link_in(error_info& info) const {
    const auto words = std::exchange(info.output_tail, {});
    const bool is_end_of_link = core_.life.leaves_for(departure_cause::lost_channel) ||
                                core_.life.leaves_for(departure_cause::process_exit);
    if (is_end_of_link && !words.empty()) {
        info.detail = words;
    }
}

std::string worker::last_output() const {
    return core_.process ? to_utf8(quoted_output(core_.process->output_tail())) : std::string();
}

std::string worker::fatal_error() const {
    return core_.process ? to_utf8(fatal_error_in(core_.process->output_tail())) : std::string();
}

} // namespace skep
