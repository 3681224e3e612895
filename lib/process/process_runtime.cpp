// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/process_runtime.hpp"

#include "async/latch.hpp"
#include "core/clock.hpp"
#include "core/text.hpp"
#include "core/with_detail.hpp"
#include "policy/last_output.hpp"
#include "process/launch_job.hpp"
#include "process/launch_recipe.hpp"
#include "process/local_process.hpp"
#include "process/memory_line.hpp"
#include "process/socket_stream.hpp"
#include "process/spawner.hpp"
#include "process/template_launcher.hpp"
#include "process/template_supervision.hpp"
#include "process/template_task.hpp"
#include <skep/error.hpp>

#include <boost/asio/post.hpp>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep {

namespace {

// Limits for close() with a hanging launch, and for a cancelled start to notice its cancellation.
constexpr duration patience = std::chrono::seconds(1);
constexpr duration between_aborts = std::chrono::milliseconds(20);

/// A coroutine on the strand that waits for a launch.
struct launch_watch {
    explicit launch_watch(const strand& executor) : wake(executor) {}

    void end() {
        is_over = true;
        wake.open();
    }

    latch wake;
    bool is_over = false;
    bool cancelled = false;
};

class process_runtime final : public runtime {
public:
    process_runtime(const pool_context& context, const pool_config& config, output_handler sink,
                    launch_fault fault);

    asio::awaitable<worker_link> start(launch_order order) override;
    void cancel_start(const worker_id& id) noexcept override;
    asio::awaitable<void> renew() override;
    void on_warning(std::function<void(const std::string&)> receiver) override;
    std::optional<template_status> look_at_template() const override;
    void close() override;
    asio::awaitable<void> closed() override;

private:
    struct task_in_progress {
        std::weak_ptr<spawner_task> task;
        std::shared_ptr<launch_watch> watch;
        worker_id worker; ///< of a launch
    };

    asio::awaitable<void> run(std::shared_ptr<spawner_task> task, worker_id worker);
    std::shared_ptr<launch_watch> keep(const std::shared_ptr<spawner_task>& task, worker_id worker);
    error_info failure_of(spawner_task& task);
    worker_link connect(launch_job& job);
    void mend_template() noexcept;
    static void publish(const std::weak_ptr<template_supervision>& supervision);
    void end_template() noexcept;

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

process_runtime::process_runtime(const pool_context& context, const pool_config& config, output_handler sink,
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

asio::awaitable<worker_link> process_runtime::start(launch_order order) {
    is_closed_ = false;
    const auto job = std::make_shared<launch_job>(launch_, recipe_, source_, std::move(order));
    auto running = run(job, job->order.worker);
    co_await std::move(running);
    if (job->failed) {
        throw error(errc::spawn_failed, failure_of(*job));
    }
    co_return connect(*job);
}

/// Runs the task on the spawner. A cancelled task gets `patience` to end. After that, the task is abandoned,
/// and leaves no process behind.
asio::awaitable<void> process_runtime::run(std::shared_ptr<spawner_task> task, worker_id worker) {
    const auto watch = keep(task, std::move(worker));
    spawner_.post([task](guard& process_guard) { task->run(process_guard); },
                  [watch, executor = executor_] { asio::post(executor, [watch] { watch->end(); }); });
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

std::shared_ptr<launch_watch> process_runtime::keep(const std::shared_ptr<spawner_task>& task,
                                                    worker_id worker) {
    auto watch = std::make_shared<launch_watch>(executor_);
    std::erase_if(tasks_, [](const auto& each) { return each.task.expired(); });
    tasks_.push_back({task, watch, std::move(worker)});
    return watch;
}

/// Adds the last output of a template that has failed.
error_info process_runtime::failure_of(spawner_task& task) {
    if (supervision_ && task.is_of_template) {
        const auto output = to_utf8(quoted_output(supervision_->output.tail()));
        task.reason.detail += output.empty() ? "" : "; its last output: " + output;
    }
    return std::move(task.reason);
}

worker_link process_runtime::connect(launch_job& job) {
    auto data = make_socket_stream(executor_, job.wires->data.here);
    auto control = job.wires->kind == transport::stdio
                       ? nullptr
                       : make_socket_stream(executor_, job.wires->control.here);
    auto process = std::make_unique<local_process>(executor_, output_options_, sink_, job);
    worker_link link{std::move(data), std::move(control), std::move(process)};
    if (job.wires->regions.here.get() >= 0) {
        link.regions = make_memory_line(std::move(job.wires->regions.here));
    }
    return link;
}

void process_runtime::cancel_start(const worker_id& id) noexcept {
    for (const auto& each : tasks_) {
        if (each.worker == id) {
            each.watch->cancelled = true;
            each.watch->wake.open();
        }
    }
}

asio::awaitable<void> process_runtime::renew() {
    if (source_) {
        const auto task = std::make_shared<template_task>(source_, &preload::renew);
        auto running = run(task, worker_id());
        co_await std::move(running);
        if (task->failed) {
            throw error(errc::spawn_failed, failure_of(*task));
        }
    }
}

/// Makes a new template, unless that was done meanwhile. If it cannot be begun, the next start does it.
void process_runtime::mend_template() noexcept {
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

void process_runtime::publish(const std::weak_ptr<template_supervision>& supervision) {
    if (const auto target = supervision.lock()) {
        target->news.publish();
    }
}

void process_runtime::on_warning(std::function<void(const std::string&)> receiver) {
    if (supervision_) {
        supervision_->news.on_warning(std::move(receiver));
    }
}

std::optional<template_status> process_runtime::look_at_template() const {
    return source_ ? std::optional(source_->templates->status()) : std::nullopt;
}

void process_runtime::close() {
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

/// Also waits for the nurseries of earlier templates.
void process_runtime::end_template() noexcept {
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

asio::awaitable<void> process_runtime::closed() {
    if (supervision_) {
        co_await supervision_->output.closed();
        co_await supervision_->watch.closed();
    }
}

} // namespace

std::unique_ptr<runtime> make_process_runtime(const pool_context& context, const pool_config& config,
                                              output_handler sink, launch_fault fault) {
    return std::make_unique<process_runtime>(context, config, std::move(sink), std::move(fault));
}

} // namespace skep
