// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/launch_recipe.hpp"

#include "core/launch_command.hpp"
#include "core/slot_launch.hpp"
#include "process/environment.hpp"
#include "process/nursery_protocol.hpp"
#include "process/usable_cpus.hpp"

#include <utility>

namespace skep {

namespace {

/// Returns the environment variables of the protocol. The token is set for sockets only, to limit its
/// exposure.
variables protocol_variables(const launch_order& order, transport kind, std::size_t threads,
                             thread_checks checks, wait_mode wait, bool shares_memory) {
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
    if (shares_memory) {
        result.emplace("SKEP_SHARED_FD", "5");
    }
    return result;
}

} // namespace

launch_recipe::launch_recipe(const pool_config& config, std::shared_ptr<const host_state> host)
    : options_(config.launch),
      threads_(config.threads_per_worker),
      thread_checks_(config.thread_safety_checks),
      wait_(usable_cpus() > 1 ? config.wait : wait_mode::block),
      shares_memory_(config.shared.enabled),
      host_(std::move(host)) {}

launch_plan launch_recipe::plan_for(const launch_order& order) {
    const auto options = for_slot(order.launch.value_or(options_), order.worker.slot);
    const bool shares_memory = shares_memory_ && options.transport == transport::socket;
    const auto protocol =
        protocol_variables(order, options.transport, threads_, thread_checks_, wait_, shares_memory);
    launch_plan plan{{}, options.transport, shares_memory};
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
template_plan launch_recipe::plan_for_template() {
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

/// Searched once. An abandoned spawner may search at the same time.
std::string launch_recipe::usual_executable() {
    std::unique_lock lock(mutex_);
    if (executable_.empty()) {
        lock.unlock();
        auto found = find_program(options_, *host_);
        lock.lock();
        executable_ = std::move(found);
    }
    return executable_;
}

} // namespace skep
