// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_process.hpp"

#include "process/child.hpp"
#include "process/launch_job.hpp"
#include "process/memory.hpp"
#include "process/output_capture.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace skep {

/// Shared with the readers, which may outlive their process briefly.
struct local_process::state {
    state(const strand& pool_strand, const output_options& options, const output_handler& sink,
          launch_job& job)
        : executor(pool_strand),
          program(std::move(job.program)),
          process(pool_strand, std::move(job.child), std::move(job.group)),
          output(pool_strand, job.order.worker, options, sink, job.wires->output.here,
                 job.wires->errors.here) {}

    strand executor;
    const std::string program;
    child process;
    output_capture output;
};

local_process::local_process(const strand& executor, const output_options& options,
                             const output_handler& sink, launch_job& job)
    : is_forked_(job.is_forked),
      is_worker_(job.wires->kind == transport::socket),
      state_(std::make_shared<state>(executor, options, sink, job)),
      measured_(is_worker_ ? state_->process.pid() : 0),
      readers_(executor, [state = state_](std::exception_ptr) { state->output.break_off(); }),
      oom_kills_before_(oom_kills()) {
    try {
        readers_.spawn(state_, state_->output.read_output());
        readers_.spawn(state_, state_->output.read_errors());
    } catch (...) {
        end_now(); // a reader that runs already keeps the process alive
        throw;
    }
}

int local_process::pid() const noexcept {
    return state_->process.pid();
}

const std::string& local_process::program() const noexcept {
    return state_->program;
}

asio::awaitable<void> local_process::ended() {
    return state_->process.ended();
}

void local_process::terminate() noexcept {
    state_->process.terminate();
}

void local_process::kill() noexcept {
    state_->process.kill();
}

void local_process::signal(int number) noexcept {
    state_->process.signal(number);
}

bool local_process::measure(std::int64_t pid) noexcept {
    const bool is_known = is_worker_ && std::in_range<pid_t>(pid) && pid > 0;
    measured_ = is_known && state_->process.holds(static_cast<pid_t>(pid)) ? static_cast<pid_t>(pid) : 0;
    inherited_ = is_forked_ && measured_ != 0 ? process_resident_memory(measured_).bytes : 0;
    return measured_ != 0;
}

std::uint64_t local_process::resident_bytes(std::uint64_t lent_bytes) const noexcept {
    const auto holds = [this] { return measured_ != 0 && state_->process.holds(measured_); };
    const auto memory = holds() ? process_resident_memory(measured_) : resident_memory();
    const auto others = inherited_ + std::min(memory.shared, lent_bytes);
    return holds() ? memory.bytes - std::min(memory.bytes, others)
                   : 0; // the number may have been reused meanwhile
}

bool local_process::saw_oom_kill() const noexcept {
    return oom_kills() > oom_kills_before_;
}

exit_status local_process::reap() noexcept {
    state_->output.drain();
    return state_->process.reap();
}

asio::awaitable<void> local_process::end_group() {
    return state_->process.end_group();
}

std::string local_process::output_tail() const {
    return state_->output.tail();
}

void local_process::add_to_tail(std::string_view text) noexcept {
    state_->output.add_to_tail(text);
}

std::uint64_t local_process::output_lines_dropped() const noexcept {
    return state_->output.lines_dropped();
}

asio::awaitable<void> local_process::finish(time_point deadline) {
    // Processes that inherited the pipes may hold them open for ever.
    timer limit(state_->executor, deadline);
    limit.async_wait([state = state_](const boost::system::error_code& ec) {
        if (!ec) {
            state->output.close();
        }
    });
    co_await readers_.join();
    limit.cancel();
    state_->output.close();
}

void local_process::abandon() noexcept {
    state_->process.abandon();
}

void local_process::end_now() noexcept {
    state_->process.end_now();
    state_->output.close();
}

} // namespace skep
