// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_parts.hpp"

#include "process/usable_cpus.hpp"

#include <algorithm>

namespace skep {

namespace {

pool_config completed(pool_config config) {
    if (!config.workers) {
        config.workers = usable_cpus();
    }
    config.capacity = std::max(config.capacity, config.threads_per_worker);
    return config;
}

pool_context with_events(pool_context context, const pool_config& config) {
    context.events = config.events ? config.events : std::make_shared<event_bus>();
    return context;
}

pool_tasks tasks_on(const strand& executor, boundary& limit) {
    const auto make = [&] {
        return task_group(executor, [&limit](const std::exception_ptr& problem) { limit.cross(problem); });
    };
    return {make(), make(), make(), make(), make()};
}

} // namespace

pool_parts::pool_parts(pool_context context_of_pool, pool_config config_of_pool,
                       const runtime_factory& make_runtime, output_handler sink, answer_handler& answers,
                       boundary limit_of_tasks, event_queue queue, worker_share share)
    : context(with_events(std::move(context_of_pool), config_of_pool)),
      config(completed(std::move(config_of_pool))),
      log(config, context),
      starter(make_runtime(context, config, std::move(sink))),
      limit(std::move(limit_of_tasks)),
      events(std::move(queue)),
      surroundings{context, config, *starter, answers, limit, events, tools, places, {}},
      changed(context.executor),
      calls(surroundings),
      leases(surroundings, calls, log),
      workers(context, config),
      supervision(surroundings, log, workers, changed),
      suspensions(config, workers, changed),
      scaling(surroundings, calls.open_calls(), workers, suspensions, log, std::move(share)),
      hooks(context, config, log),
      tasks(tasks_on(context.executor, limit)),
      waits(context.executor) {
    starter->on_warning([this](const std::string& text) { log(log_level::warning, text); });
}

error pool_parts::failure(errc code, error_info info) const {
    info.pool = config.name;
    return error(code, std::move(info));
}

bool pool_parts::may_get_more_workers() const noexcept {
    const bool grows = workers.out_of_rotation() > 0 || scaling.may_grow();
    return workers.starting() > 0 || (state.phase != pool_phase::stopping && grows);
}

void pool_parts::refuse_cycles() {
    if (!may_get_more_workers()) {
        calls.refuse_cycles();
    }
}

std::size_t pool_parts::fail_queue(errc code, const error_info& info) {
    leases.refuse_checkouts(code, info); // only calls remain
    return calls.open_calls().fail_queue(code, info);
}

std::size_t pool_parts::abort_all(errc code) {
    leases.refuse_checkouts(code);
    return calls.open_calls().abort_all(code);
}

asio::awaitable<void> pool_parts::stop_workers(stop_stage first) {
    tasks.supply.cancel();
    waits.changes().cancel();
    calls.sessions().cancel_touches();
    calls.homes().cancel();
    supervision.stop_all(first);
    co_await supervision.join();
    events.catch_up();
    tasks.demand.cancel();
    co_await tasks.supply.join();
    co_await tasks.demand.join();
    co_await hooks.join();
    workers.for_each([this](worker& each) { // workers whose end was lost for lack of memory
        calls.remove(each);
        supervision.count_end(each);
    });
    workers.clear();
    starter->close();
    co_await starter->closed();
}

load_view pool_parts::load() const noexcept {
    const auto& open = calls.open_calls();
    const std::size_t serving = places;
    return {open.in_flight(), open.queued(), serving,
            state.phase == pool_phase::running && !suspensions.is_on() && serving > 0};
}

pool_status pool_parts::status() {
    events.catch_up();
    pool_status result;
    result.name = config.name;
    result.phase = state.phase;
    result.queued = calls.open_calls().queued();
    result.in_flight = calls.open_calls().in_flight();
    result.leases = leases.size();
    result.sessions = calls.sessions().known().bound();
    const auto now = context.now();
    auto& waiting = calls.room().queue();
    result.oldest_wait = waiting.empty() ? duration::zero() : duration(now - waiting.oldest().submitted);
    result.retry_tokens = calls.retry_tokens();
    result.counters = calls.open_calls().counters();
    scaling.count(result.counters);
    result.suspended = suspensions.is_on();
    supervision.report(result, now);
    result.remote = starter->look();
    result.preload = starter->look_at_template();
    return result;
}

pool_metrics pool_parts::metrics() {
    pool_metrics result;
    result.status = status();
    result.start_time = supervision.start_time();
    calls.open_calls().report(result);
    return result;
}

} // namespace skep
