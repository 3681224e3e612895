// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/process_runtime.hpp"

#include "async/latch.hpp"
#include "async/task_group.hpp"
#include "core/clock.hpp"
#include "core/launch_command.hpp"
#include "core/slot_launch.hpp"
#include "core/text.hpp"
#include "core/with_detail.hpp"
#include "policy/last_output.hpp"
#include "process/descriptors.hpp"
#include "process/environment.hpp"
#include "process/memory.hpp"
#include "process/nursery_protocol.hpp"
#include "process/output_capture.hpp"
#include "process/preload.hpp"
#include "process/socket_stream.hpp"
#include "process/spawner.hpp"
#include "process/template_news.hpp"
#include "process/template_output.hpp"
#include "process/template_watch.hpp"
#include "process/usable_cpus.hpp"
#include "process/worker_template.hpp"
#include <skep/error.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace skep {

namespace {

// Limits for close() with a hanging launch, and for a cancelled start to notice its cancellation.
constexpr duration patience = std::chrono::seconds(1);
constexpr duration between_aborts = std::chrono::milliseconds(20);

/// The connections of a new worker. Over stdio, stdin and stdout are the data channel.
struct connections {
    connections(const launcher& launch, transport transport_kind)
        : kind(transport_kind), data(make_socket_pair(launch)), errors(make_pipe_to_here(launch)) {
        if (kind == transport::socket) {
            control = make_socket_pair(launch);
            output = make_pipe_to_here(launch);
        }
    }

    child_descriptors for_child() const noexcept {
        if (kind == transport::stdio) {
            return worker_descriptors(data.there.get(), data.there.get(), errors.there.get(), -1, -1);
        }
        return worker_descriptors(-1, output.there.get(), errors.there.get(), data.there.get(),
                                  control.there.get());
    }

    void close_far_ends() noexcept {
        for (auto* each : {&data, &control, &output, &errors}) {
            each->there.reset();
        }
    }

    const transport kind;
    fd_pair data;
    fd_pair errors;
    fd_pair control; ///< with sockets only
    fd_pair output;  ///< with sockets only
};

/// Returns the environment variables of the protocol. The token is set for sockets only, to limit its
/// exposure.
variables protocol_variables(const launch_order& order, transport kind, std::size_t threads,
                             thread_checks checks, wait_mode wait) {
    variables result{{"SKEP_PROTOCOL", "1"},
                     {"SKEP_TRANSPORT", kind == transport::socket ? "socket" : "stdio"},
                     {"SKEP_WORKER", to_string(order.worker)},
                     {"SKEP_POOL", order.worker.pool},
                     {"SKEP_THREADS", std::to_string(threads)}};
    if (checks != thread_checks::off) {
        result.emplace("SKEP_THREAD_CHECKS", checks == thread_checks::strict ? "strict" : "report");
    }
    if (wait == wait_mode::block) {
        result.emplace("SKEP_WAIT", "block");
    }
    if (kind == transport::socket) {
        result.insert({{"SKEP_DATA_FD", "3"}, {"SKEP_CONTROL_FD", "4"}, {"SKEP_TOKEN", order.token}});
    }
    return result;
}

/// A worker to start, without its descriptors.
struct launch_plan {
    launch_spec spec;
    transport kind;
};

/// A template to launch, without its descriptors, and the program of its nursery.
struct template_plan {
    launch_spec spec;
    std::string nursery_program;
};

/// The inputs of all launches of a pool. Created on the thread that creates the pool, and captures the host's
/// state there. Used on the spawner: a search for files takes as long as the file system needs.
class launch_recipe {
public:
    launch_recipe(const pool_config& config, std::shared_ptr<const host_state> host)
        : options_(config.launch),
          threads_(config.threads_per_worker),
          thread_checks_(config.thread_safety_checks),
          wait_(usable_cpus() > 1 ? config.wait : wait_mode::block),
          host_(std::move(host)) {}

    launch_plan plan_for(const launch_order& order) {
        const auto options = for_slot(order.launch.value_or(options_), order.worker.slot);
        const auto protocol = protocol_variables(order, options.transport, threads_, thread_checks_, wait_);
        launch_plan plan{{}, options.transport};
        plan.spec.executable = started_program(options) == started_program(options_)
                                   ? usual_executable()
                                   : find_program(options, *host_);
        plan.spec.arguments = launch_command(options, forwarded_environment(options, threads_, protocol));
        plan.spec.arguments.front() = plan.spec.executable;
        plan.spec.environment = worker_environment(options, threads_, protocol, *host_);
        plan.spec.directory = starting_directory(options, *host_);
        plan.spec.state = &host_->process;
        return plan;
    }

    /// The template has the options that all slots share.
    template_plan plan_for_template() {
        auto common = options_;
        common.slot_args.clear();
        common.slot_environment.clear();
        const variables protocol{{"SKEP_TEMPLATE", "1"},
                                 {"SKEP_TEMPLATE_FD", std::to_string(template_line_in_nursery)}};
        template_plan plan{{}, guard_program(host_->shipped)};
        plan.spec.executable = usual_executable();
        plan.spec.arguments = launch_command(common, {});
        plan.spec.arguments.front() = plan.spec.executable;
        plan.spec.environment = worker_environment(common, threads_, protocol, *host_);
        plan.spec.directory = starting_directory(common, *host_);
        plan.spec.state = &host_->process;
        return plan;
    }

private:
    /// Searched once. An abandoned spawner may search at the same time.
    std::string usual_executable() {
        std::unique_lock lock(mutex_);
        if (executable_.empty()) {
            lock.unlock();
            auto found = find_program(options_, *host_);
            lock.lock();
            executable_ = std::move(found);
        }
        return executable_;
    }

    launch_options options_;
    const std::size_t threads_;
    const thread_checks thread_checks_;
    const wait_mode wait_;
    std::shared_ptr<const host_state> host_;
    std::mutex mutex_;
    std::string executable_;
};

/// The templates of a pool with launch.preload, as the strand sees them.
struct template_supervision {
    template_supervision(const pool_context& context, const pool_config& config, output_handler sink,
                         std::function<void()> on_end)
        : templates(std::make_shared<preload>(config)),
          news(context, templates),
          output(context.executor, config.output, std::move(sink)),
          watch(context.executor, std::move(on_end)) {}

    void close() noexcept {
        output.close();
        watch.close();
    }

    const std::shared_ptr<preload> templates;
    template_news news;
    template_output output;
    template_watch watch;
};

/// Launches templates. Used on the spawner; the strand reads their output and notices their ends.
class template_launcher {
public:
    template_launcher(launcher launch, std::shared_ptr<launch_recipe> recipe, const strand& executor,
                      const std::shared_ptr<template_supervision>& supervision)
        : launch_(std::move(launch)),
          recipe_(std::move(recipe)),
          executor_(executor),
          supervision_(supervision) {}

    /// The result refers to this launcher and to the guard.
    template_maker with(guard& process_guard) const {
        return [this, &process_guard](const worker_id& worker, launch_abort& abort) {
            return launch(process_guard, worker, abort);
        };
    }

    /// The nurseries that have lost their last worker.
    const nursery_ends& ends() const noexcept { return *ends_; }

private:
    std::unique_ptr<template_port> launch(guard& process_guard, const worker_id& worker,
                                          launch_abort& abort) const {
        auto [spec, nursery_program] = recipe_->plan_for_template();
        auto output = make_pipe_to_here(launch_);
        auto errors = make_pipe_to_here(launch_);
        spec.descriptors[1] = output.there.get();
        spec.descriptors[2] = errors.there.get();
        auto made = std::make_unique<worker_template>(launch_, process_guard, nursery_program,
                                                      std::move(spec), abort);
        made->count_end(ends_);
        supervise(worker, std::move(output.here), std::move(errors.here), made->copy_of_line());
        return made;
    }

    void supervise(const worker_id& worker, unique_fd output, unique_fd errors, unique_fd line) const {
        asio::post(executor_, [supervision = supervision_, worker, output = std::move(output),
                               errors = std::move(errors), line = std::move(line)]() mutable {
            if (const auto target = supervision.lock()) {
                target->output.add(worker, std::move(output), std::move(errors));
                target->watch.add(std::move(line));
                target->news.publish(); // of the template before
            }
        });
    }

    launcher launch_;
    std::shared_ptr<launch_recipe> recipe_;
    strand executor_;
    std::weak_ptr<template_supervision> supervision_;
    std::shared_ptr<const nursery_ends> ends_ = std::make_shared<const nursery_ends>();
};

/// The two sides of the templates on the spawner.
struct template_source {
    std::shared_ptr<preload> templates;
    template_launcher launch;
};

/// A task of the spawner that a coroutine on the strand waits for. Strand and spawner share the task, because
/// either may need it last; it has no other references.
class spawner_task {
public:
    virtual ~spawner_task() = default;

    /// Runs on the spawner. Exceptions stay on this thread, because the last owner of an exception frees it.
    void run(guard& process_guard) noexcept {
        try {
            start(process_guard);
            failed = false;
            return;
        } catch (const error& e) {
            keep([&] { reason = e.info(); });
        } catch (const std::exception& e) {
            keep([&] { reason.detail = e.what(); });
        }
        release();
    }

    launch_abort abort;
    bool failed = true;
    bool is_of_template = false; ///< the failure, if there is one, is the template's
    error_info reason;           ///< may be empty if there was no memory

private:
    virtual void start(guard& process_guard) = 0;
    virtual void release() noexcept {} ///< what the task has acquired before it failed

    template <class Function>
    static void keep(Function&& words) noexcept {
        try {
            words();
        } catch (const std::exception&) {}
    }
};

/// One launch. Descriptors are acquired at the start of the launch, so that concurrent launches need only one
/// set.
class launch_job final : public spawner_task {
public:
    launch_job(launcher launch_prefix, std::shared_ptr<launch_recipe> recipe,
               std::shared_ptr<template_source> source, launch_order new_order)
        : order(std::move(new_order)),
          launch_(std::move(launch_prefix)),
          recipe_(std::move(recipe)),
          source_(std::move(source)) {}

    const launch_order order;
    leash group;
    std::optional<connections> wires;
    launched_child child;
    std::string program;
    bool is_forked = false;

private:
    void start(guard& process_guard) override {
        is_of_template = true;
        const bool may_fork =
            source_ && source_->templates->prepare(source_->launch.with(process_guard), order.worker, abort);
        is_of_template = false;
        auto [spec, kind] = recipe_->plan_for(order);
        group = process_guard.tie(abort);
        wires.emplace(launch_, kind);
        spec.descriptors = wires->for_child();
        spec.leash = {group.host_end(), group.guard_end()};
        auto forked = may_fork ? source_->templates->start(spec, order.worker, abort) : std::nullopt;
        is_forked = forked.has_value();
        child = is_forked ? std::move(*forked) : launch_(spec, abort);
        program = std::move(spec.executable);
        group.disarm();
        process_guard.entrust(child);
        wires->close_far_ends();
    }

    void release() noexcept override {
        wires.reset();
        group = {};
        child = {};
    }

    launcher launch_;
    std::shared_ptr<launch_recipe> recipe_;
    std::shared_ptr<template_source> source_; ///< null without launch.preload
};

/// Makes a template: one with the present script, or one for a template that has ended.
class template_task final : public spawner_task {
public:
    using action = void (preload::*)(const template_maker&, launch_abort&);

    template_task(std::shared_ptr<template_source> source, action act)
        : source_(std::move(source)), act_(act) {
        is_of_template = true;
    }

private:
    void start(guard& process_guard) override {
        std::invoke(act_, *source_->templates, source_->launch.with(process_guard), abort);
    }

    std::shared_ptr<template_source> source_;
    const action act_;
};

/// A coroutine on the strand that waits for a launch.
struct launch_watch {
    explicit launch_watch(const strand& executor) : wake(executor) {}

    latch wake;
    bool is_over = false;
    bool cancelled = false;
};

class local_process final : public worker_process {
public:
    local_process(const strand& executor, const output_options& options, const output_handler& sink,
                  launch_job& job)
        : is_forked_(job.is_forked),
          is_worker_(job.wires->kind == transport::socket),
          state_(std::make_shared<state>(executor, options, sink, job)),
          measured_(is_worker_ ? state_->process.pid() : 0),
          readers_(executor, [state = state_](std::exception_ptr) { state->output.break_off(); }) {
        try {
            readers_.spawn(state_, state_->output.read_output());
            readers_.spawn(state_, state_->output.read_errors());
        } catch (...) {
            end_now(); // a reader that runs already keeps the process alive
            throw;
        }
    }

    ~local_process() override { end_now(); } // the readers may outlive this briefly

    int pid() const noexcept override { return state_->process.pid(); }
    const std::string& program() const noexcept override { return state_->program; }
    asio::awaitable<void> ended() override { return state_->process.ended(); }
    void terminate() noexcept override { state_->process.terminate(); }
    void kill() noexcept override { state_->process.kill(); }
    void signal(int number) noexcept override { state_->process.signal(number); }
    bool measure(std::int64_t pid) noexcept override {
        const bool is_known = is_worker_ && std::in_range<pid_t>(pid) && pid > 0;
        measured_ = is_known && state_->process.holds(static_cast<pid_t>(pid)) ? static_cast<pid_t>(pid) : 0;
        inherited_ = is_forked_ && measured_ != 0 ? process_resident_bytes(measured_) : 0;
        return measured_ != 0;
    }
    std::uint64_t resident_bytes() const noexcept override {
        const auto holds = [this] { return measured_ != 0 && state_->process.holds(measured_); };
        const auto bytes = holds() ? process_resident_bytes(measured_) : 0;
        return holds() ? bytes - std::min(bytes, inherited_) : 0; // the number may have been reused meanwhile
    }
    bool saw_oom_kill() const noexcept override { return oom_kills() > oom_kills_before_; }
    exit_status reap() noexcept override {
        state_->output.drain();
        return state_->process.reap();
    }
    asio::awaitable<void> end_group() override { return state_->process.end_group(); }
    std::string output_tail() const override { return state_->output.tail(); }
    void add_to_tail(std::string_view text) noexcept override { state_->output.add_to_tail(text); }
    std::uint64_t output_lines_dropped() const noexcept override { return state_->output.lines_dropped(); }
    void abandon() noexcept override { state_->process.abandon(); }
    void end_now() noexcept final {
        state_->process.end_now();
        state_->output.close();
    }

    asio::awaitable<void> finish(time_point deadline) override {
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

private:
    struct state {
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

    const bool is_forked_;
    const bool is_worker_; ///< or starts the worker on this machine; else may forward to any machine
    std::shared_ptr<state> state_;
    pid_t measured_;              ///< 0: no process
    std::uint64_t inherited_ = 0; ///< memory of a forked worker at its greeting, shared with its template
    task_group readers_;
    std::uint64_t oom_kills_before_ = oom_kills();
};

class process_runtime final : public runtime {
public:
    process_runtime(const pool_context& context, const pool_config& config, output_handler sink,
                    launch_fault fault)
        : executor_(context.executor),
          output_options_(config.output),
          sink_(std::move(sink)),
          host_(std::make_shared<const host_state>(take_host_state())),
          recipe_(std::make_shared<launch_recipe>(config, host_)),
          launch_(std::move(fault)),
          spawner_(launch_, host_) {
        if (config.launch.preload) {
            supervision_ =
                std::make_shared<template_supervision>(context, config, sink_, [this] { mend_template(); });
            source_ = std::make_shared<template_source>(
                template_source{supervision_->templates, {launch_, recipe_, executor_, supervision_}});
        }
    }

    asio::awaitable<worker_link> start(launch_order order) override {
        is_closed_ = false;
        const auto job = std::make_shared<launch_job>(launch_, recipe_, source_, std::move(order));
        auto running = run(job, job->order.worker);
        co_await std::move(running);
        if (job->failed) {
            throw error(errc::spawn_failed, failure_of(*job));
        }
        co_return connect(*job);
    }

    asio::awaitable<void> renew() override {
        if (source_) {
            const auto task = std::make_shared<template_task>(source_, &preload::renew);
            auto running = run(task, worker_id());
            co_await std::move(running);
            if (task->failed) {
                throw error(errc::spawn_failed, failure_of(*task));
            }
        }
    }

    void on_warning(std::function<void(const std::string&)> receiver) override {
        if (supervision_) {
            supervision_->news.on_warning(std::move(receiver));
        }
    }

    std::optional<template_status> look_at_template() const override {
        return source_ ? std::optional(source_->templates->status()) : std::nullopt;
    }

    void cancel_start(const worker_id& id) noexcept override {
        for (const auto& each : tasks_) {
            if (each.worker == id) {
                each.watch->cancelled = true;
                each.watch->wake.open();
            }
        }
    }

    void close() override {
        is_closed_ = true;
        const auto ending = std::exchange(tasks_, {});
        end_template();
        spawner_.stop(patience, [&ending] {
            for (const auto& each : ending) {
                if (const auto task = each.task.lock()) {
                    task->abort.request();
                }
            }
        });
        if (supervision_) {
            supervision_->news.publish();
            supervision_->close();
        }
    }

    asio::awaitable<void> closed() override {
        if (supervision_) {
            co_await supervision_->output.closed();
            co_await supervision_->watch.closed();
        }
    }

private:
    struct task_in_progress {
        std::weak_ptr<spawner_task> task;
        std::shared_ptr<launch_watch> watch;
        worker_id worker; ///< of a launch
    };

    static void end(launch_watch& watch) {
        watch.is_over = true;
        watch.wake.open();
    }

    /// Runs the task on the spawner. A cancelled task gets `patience` to end. After that, the task is
    /// abandoned, and leaves no process behind.
    asio::awaitable<void> run(std::shared_ptr<spawner_task> task, worker_id worker) {
        const auto watch = keep(task, std::move(worker));
        spawner_.post([task](guard& process_guard) { task->run(process_guard); },
                      [watch, executor = executor_] { asio::post(executor, [watch] { end(*watch); }); });
        while (!watch->is_over && !watch->cancelled) {
            watch->wake.close();
            co_await watch->wake.wait();
        }
        const auto limit = clock::now() + patience;
        while (!watch->is_over && clock::now() < limit) {
            task->abort.request();
            watch->wake.close();
            co_await watch->wake.wait_until(clock::now() + between_aborts);
        }
        if (supervision_) {
            supervision_->news.publish();
        }
        if (!watch->is_over) {
            throw error(errc::spawn_failed, with_detail("the launch hangs, and does not end"));
        }
    }

    std::shared_ptr<launch_watch> keep(const std::shared_ptr<spawner_task>& task, worker_id worker) {
        auto watch = std::make_shared<launch_watch>(executor_);
        std::erase_if(tasks_, [](const auto& each) { return each.task.expired(); });
        tasks_.push_back({task, watch, std::move(worker)});
        return watch;
    }

    /// Makes a new template, unless that was done meanwhile. If it cannot be begun, the next start does it.
    void mend_template() noexcept {
        if (is_closed_) { // the template has ended with the pool
            return;
        }
        try {
            const auto task = std::make_shared<template_task>(source_, &preload::mend);
            keep(task, worker_id());
            spawner_.post([task](guard& process_guard) { task->run(process_guard); },
                          [executor = executor_, supervision = std::weak_ptr(supervision_)] {
                              asio::post(executor, [supervision] { publish(supervision); });
                          });
        } catch (const std::exception&) {}
    }

    static void publish(const std::weak_ptr<template_supervision>& supervision) {
        if (const auto target = supervision.lock()) {
            target->news.publish();
        }
    }

    /// Adds the last output of a template that has failed.
    error_info failure_of(spawner_task& task) {
        if (supervision_ && task.is_of_template) {
            const auto output = to_utf8(quoted_output(supervision_->output.tail()));
            task.reason.detail += output.empty() ? "" : "; its last output: " + output;
        }
        return std::move(task.reason);
    }

    /// Also waits for the nurseries of earlier templates.
    void end_template() noexcept {
        const bool has_processes = source_ && (source_->templates->status().state == template_state::ready ||
                                               !source_->launch.ends().empty());
        if (!has_processes) {
            return;
        }
        try {
            const auto end = [source = source_](guard&) {
                source->templates->end();
                source->launch.ends().wait();
            };
            spawner_.post(end, [] {});
        } catch (const std::exception&) { // a forked copy of the host: the template is not its child
        }
    }

    worker_link connect(launch_job& job) {
        auto data = make_socket_stream(executor_, job.wires->data.here);
        auto control = job.wires->kind == transport::stdio
                           ? nullptr
                           : make_socket_stream(executor_, job.wires->control.here);
        auto process = std::make_unique<local_process>(executor_, output_options_, sink_, job);
        return {std::move(data), std::move(control), std::move(process)};
    }

    strand executor_;
    output_options output_options_;
    output_handler sink_;
    std::shared_ptr<const host_state> host_;
    std::shared_ptr<launch_recipe> recipe_;
    launcher launch_;
    std::shared_ptr<template_supervision> supervision_; ///< null without launch.preload, like the next one
    std::shared_ptr<template_source> source_;
    bool is_closed_ = false;
    std::vector<task_in_progress> tasks_;
    spawner spawner_;
};

} // namespace

std::unique_ptr<runtime> make_process_runtime(const pool_context& context, const pool_config& config,
                                              output_handler sink, launch_fault fault) {
    return std::make_unique<process_runtime>(context, config, std::move(sink), std::move(fault));
}

} // namespace skep
