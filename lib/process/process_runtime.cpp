// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/process_runtime.hpp"

#include "async/task_group.hpp"
#include "process/environment.hpp"
#include "process/memory.hpp"
#include "process/output_capture.hpp"
#include <skep/error.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <sys/socket.h>

namespace skep {

namespace {

struct fd_pair {
    unique_fd here;
    unique_fd there;
};

fd_pair make_socketpair(const launcher& launch) {
    launch.before(launch_step::socketpair);
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0) {
        launcher::fail(launch_step::socketpair, errno);
    }
    return {unique_fd(fds[0]), unique_fd(fds[1])};
}

/// A pipe from the child to here, or (for the lifeline) from here to the child.
fd_pair make_pipe(const launcher& launch, bool from_child) {
    launch.before(launch_step::pipe);
    std::array<int, 2> fds{};
    if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
        launcher::fail(launch_step::pipe, errno);
    }
    unique_fd read_end(fds[0]);
    unique_fd write_end(fds[1]);
    return from_child ? fd_pair{std::move(read_end), std::move(write_end)}
                      : fd_pair{std::move(write_end), std::move(read_end)};
}

/// Everything that a new worker is connected by.
struct connections {
    explicit connections(const launcher& launch)
        : data(make_socketpair(launch)),
          control(make_socketpair(launch)),
          output(make_pipe(launch, true)),
          errors(make_pipe(launch, true)),
          lifeline(make_pipe(launch, false)) {}

    child_descriptors for_child() const noexcept {
        return {output.there.get(), errors.there.get(), data.there.get(), control.there.get(),
                lifeline.there.get()};
    }

    fd_pair data;
    fd_pair control;
    fd_pair output;
    fd_pair errors;
    fd_pair lifeline;
};

/// One launch. Shared by the strand and the spawner thread, as either may be the last to need it.
struct launch_job {
    launch_job(const launcher& with, launch_order what) : launch(with), order(std::move(what)), wires(with) {}

    void run(launch_spec spec) {
        spec.descriptors = wires.for_child();
        child = launch(spec, abort);
    }

    launcher launch;
    launch_order order;
    launch_abort abort;
    connections wires;
    launched_child child;
    std::optional<error_info> failure;
};

class local_process final : public worker_process {
public:
    local_process(const strand& executor, const launch_order& order, const output_options& options,
                  const output_handler& sink, launched_child launched, connections& wires)
        : state_(std::make_shared<state>(executor, order, options, sink, std::move(launched), wires)),
          readers_(executor, [state = state_](std::exception_ptr) { state->output.break_off(); }) {
        readers_.spawn(state_, state_->output.read_output());
        readers_.spawn(state_, state_->output.read_errors());
    }

    ~local_process() override { end_now(); } // its readers may outlive it by a moment, its process must not

    pid_t pid() const noexcept override { return state_->process.pid(); }
    asio::awaitable<void> ended() override { return state_->process.ended(); }
    void terminate() noexcept override { state_->process.signal_group(SIGTERM); }
    void kill() noexcept override { state_->process.signal_group(SIGKILL); }
    void signal(int number) noexcept override { state_->process.signal(number); }
    std::uint64_t resident_bytes() const noexcept override { return process_resident_bytes(pid()); }
    bool saw_oom_kill() const noexcept override { return oom_kills() > oom_kills_before_; }
    exit_status reap() noexcept override { return state_->process.reap(); }
    std::string output_tail() const override { return state_->output.tail(); }
    std::uint64_t output_lines_dropped() const noexcept override { return state_->output.lines_dropped(); }
    void abandon() noexcept override { state_->process.abandon(); }
    void end_now() noexcept final {
        state_->process.end_now();
        state_->output.close();
    }

    asio::awaitable<void> finish(time_point deadline) override {
        // Whoever inherited the pipes may hold them open for ever.
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

private:
    struct state {
        state(const strand& on, const launch_order& order, const output_options& options,
              const output_handler& sink, launched_child launched, connections& wires)
            : executor(on),
              process(on, std::move(launched), std::move(wires.lifeline.here)),
              output(on, order.worker, options, sink, std::move(wires.output.here),
                     std::move(wires.errors.here)) {}

        strand executor;
        child process;
        output_capture output;
    };

    std::shared_ptr<state> state_;
    task_group readers_;
    std::uint64_t oom_kills_before_ = oom_kills();
};

class process_runtime final : public runtime {
public:
    process_runtime(const strand& executor, const pool_config& config, output_handler sink,
                    launch_fault fault)
        : executor_(executor),
          launch_options_(config.launch),
          output_options_(config.output),
          sink_(std::move(sink)),
          launch_(std::move(fault)) {}

    asio::awaitable<worker_link> start(launch_order order) override {
        const auto job = std::make_shared<launch_job>(launch_, std::move(order));
        std::erase_if(launches_, [](const auto& each) { return each.expired(); });
        launches_.push_back(job);
        auto on_spawner = [this, job]() -> asio::awaitable<void> {
            launch(*job);
            co_return;
        };
        const auto spawner = spawner_executor();
        co_await asio::co_spawn(spawner, std::move(on_spawner), asio::use_awaitable);
        if (job->failure) {
            throw error(errc::spawn_failed, std::move(*job->failure));
        }
        co_return connect(*job);
    }

    void cancel_start(const worker_id& which) noexcept override {
        for (const auto& each : launches_) {
            if (const auto job = each.lock(); job && job->order.worker == which) {
                job->abort.request();
            }
        }
    }

    void close() override {
        for (const auto& each : std::exchange(launches_, {})) {
            if (const auto job = each.lock()) {
                job->abort.request();
            }
        }
        if (spawner_) {
            spawner_->join();
            spawner_.reset();
        }
    }

private:
    /// One permanent thread: children are told when the thread that created them ends.
    asio::thread_pool::executor_type spawner_executor() {
        if (!spawner_) {
            spawner_.emplace(1);
        }
        return spawner_->get_executor();
    }

    /// On the spawner. An exception ends on the thread that it began on: whoever releases it last frees it.
    void launch(launch_job& job) {
        try {
            job.run(make_spec(job.order));
        } catch (const error& e) {
            job.failure = e.info;
        } catch (const std::exception& e) {
            job.failure.emplace().detail = e.what();
        }
    }

    /// On the spawner: looking for files takes as long as their file system does.
    launch_spec make_spec(const launch_order& order) {
        if (executable_.empty()) {
            executable_ =
                find_program(launch_options_); // once: a later change of PATH or directory is not ours
        }
        launch_spec spec;
        spec.executable = executable_;
        spec.arguments.push_back(launch_options_.program);
        spec.arguments.insert(spec.arguments.end(), launch_options_.args.begin(), launch_options_.args.end());
        spec.environment = worker_environment(launch_options_, 1,
                                              {{"SKEP_PROTOCOL", "1"},
                                               {"SKEP_TRANSPORT", "socket"},
                                               {"SKEP_DATA_FD", "3"},
                                               {"SKEP_CONTROL_FD", "4"},
                                               {"SKEP_LIFELINE_FD", "5"},
                                               {"SKEP_TOKEN", order.token},
                                               {"SKEP_WORKER", to_string(order.worker)},
                                               {"SKEP_POOL", order.worker.pool}});
        spec.directory = launch_options_.working_directory.string();
        return spec;
    }

    worker_link connect(launch_job& job) {
        socket data = adopt(job.wires.data.here);
        socket control = adopt(job.wires.control.here);
        auto process = std::make_unique<local_process>(executor_, job.order, output_options_, sink_,
                                                       std::move(job.child), job.wires);
        return {std::move(data), std::move(control), std::move(process)};
    }

    socket adopt(unique_fd& fd) const {
        const asio::local::stream_protocol protocol;
        socket owner(executor_, protocol, fd.get()); // may throw
        fd.release();
        return owner;
    }

    strand executor_;
    launch_options launch_options_;
    output_options output_options_;
    output_handler sink_;
    launcher launch_;
    std::vector<std::weak_ptr<launch_job>> launches_; ///< in progress
    std::string executable_;                          ///< the spawner's
    std::optional<asio::thread_pool> spawner_;        ///< last: its thread must end before what it uses
};

} // namespace

std::unique_ptr<runtime> make_process_runtime(const strand& executor, const pool_config& config,
                                              output_handler sink, launch_fault fault) {
    return std::make_unique<process_runtime>(executor, config, std::move(sink), std::move(fault));
}

} // namespace skep
