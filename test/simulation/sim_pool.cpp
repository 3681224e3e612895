// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_pool.hpp"

#include "simulation/sim_runtime.hpp"
#include "simulation/simulation.hpp"
#include <skep/session_store.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

pool_context context_of(world& in, run_queue& on) {
    const asio::any_io_executor executor = run_queue_executor(on);
    pool_context context{strand(executor), executor, {}, {}, {}, {}};
    context.wall_now = [&in] {
        return std::chrono::system_clock::time_point(
            std::chrono::duration_cast<std::chrono::system_clock::duration>(1'700'000'000s + in.age()));
    };
    context.random = [&in] { return in.chance.share(); };
    context.make_token = [&in] { return "token-" + std::to_string(in.chance.bits()); };
    context.make_span_id = [last = std::make_shared<std::uint64_t>()] { return ++*last; };
    context.write_log_line = [&in](std::string_view line) { in.trace(line); };
    return context;
}

} // namespace

sim_pool::sim_pool(world& in, std::uint64_t seed, scenario drawn, run_queue& on)
    : world_(in),
      run_queue_(on),
      script_(std::move(drawn)),
      oracle_(world_, script_.config, script_.weather, script_.templates),
      delegate_(std::make_shared<sim_delegate>(world_, oracle_, seed)),
      users_(world_, oracle_, script_),
      tools_(world_, oracle_, users_) {
    constexpr std::uint64_t worlds_per_listener = 8;
    tells_ = seed % worlds_per_listener == 7;
    if (!script_.steady) {
        draw_extras(seed);
        draw_templates(seed);
    }
}

/// From dice of its own, so that the other worlds stay as they were.
void sim_pool::draw_templates(std::uint64_t seed) {
    constexpr std::uint64_t worlds_per_templates = 5;
    if (with_templates || seed % worlds_per_templates == 0) {
        dice chance(seed);
        script_.templates = draw_template_climate(chance);
        script_.config.launch.preload = true;
        script_.config.launch.preload_fallback = chance.chance(0.6);
        script_.changes = std::max(script_.changes, chance.below(20)); // rolling restarts among them
    }
}

void sim_pool::draw_extras(std::uint64_t seed) {
    constexpr std::uint64_t worlds_per_delegate = 8;
    if (seed % worlds_per_delegate == 0) {
        script_.config.initialization.delegate = delegate_;
        script_.config.initialization.after_end_timeout = 200ms;
    }
    constexpr std::uint64_t worlds_per_tools = 3;
    if (seed % worlds_per_tools == 0) {
        script_.tools = world_.chance.pick({0.1, 0.5, 0.9});
        script_.config.threads_per_worker = world_.chance.among(1, 4);
    }
    constexpr std::uint64_t worlds_per_sessions = 4;
    if (seed % worlds_per_sessions == 1) {
        script_.sessions = world_.chance.among(1, 8);
        script_.config.affinity.ttl = world_.chance.pick<duration>({50ms, 1s, 1h});
        script_.config.affinity.on_recycle =
            world_.chance.pick({affinity_on_recycle::wait, affinity_on_recycle::move});
    }
    constexpr std::uint64_t worlds_per_store = 8;
    if (seed % worlds_per_store == 1) {
        add_store();
    }
    constexpr std::uint64_t worlds_per_leases = 4;
    if (seed % worlds_per_leases == 2) {
        script_.leases = world_.chance.among(1, 20);
    }
    constexpr std::uint64_t worlds_per_both = 8;
    if (seed % worlds_per_both == 3) {
        add_sessions_and_leases();
    }
    constexpr std::uint64_t worlds_per_growth = 16;
    if (seed % worlds_per_growth == 15) {
        limit_memory();
    }
    constexpr std::uint64_t worlds_per_commands = 14;
    if (seed % worlds_per_commands == 1) {
        draw_commands(script_.config, world_.chance);
    }
}

/// Who has too many sessions, some of them with leases.
void sim_pool::add_sessions_and_leases() {
    script_.sessions = world_.chance.among(2, 12);
    script_.leases = world_.chance.among(1, 20);
    script_.config.affinity.ttl = world_.chance.pick<duration>({50ms, 1s, 1h});
    script_.config.affinity.limit = world_.chance.pick<std::size_t>({1, 3, 5, 10'000});
    script_.config.affinity.on_recycle =
        world_.chance.pick({affinity_on_recycle::wait, affinity_on_recycle::move});
}

/// Both limits, so close that a worker reaches the hard one while it drains for the soft one.
void sim_pool::limit_memory() {
    script_.config.recycle.soft_memory = 2'000'000;
    script_.config.recycle.hard_memory = 2'200'000;
    script_.config.recycle.memory_interval = 100ms;
    script_.weather.growth = 1'000'000;
}

void sim_pool::add_store() {
    session_options options;
    options.ttl = world_.chance.pick<duration>({20ms, 1s, 1h});
    options.quota = world_.chance.among(1, script_.sessions + 2);
    script_.store_uses = world_.chance.among(5, 300);
    oracle_.use_store(options);
    options.on_quota_warning = [this](std::size_t count, std::size_t) {
        oracle_.store().on_quota_warning(count);
    };
    script_.config.sessions = std::make_shared<session_store>(std::move(options));
}

pool sim_pool::make(pool_config config, pool_membership of_manager) {
    const auto make = [this](const pool_context& found, const pool_config&, output_handler) {
        return std::make_unique<sim_runtime>(world_, oracle_, found, script_.weather, script_.templates,
                                             script_.config);
    };
    auto core = std::make_shared<pool_core>(context_of(world_, run_queue_), std::move(config), make,
                                            std::move(of_manager));
    core_ = core;
    return skep::make_pool(std::move(core));
}

void sim_pool::serve(pool& made, pool_manager* manager) {
    users_.use(&made, manager);
    if (script_.tools > 0) {
        tools_.serve(made);
    }
    if (tells_ && manager == nullptr) { // else the bus tells of all pools
        listen(made.events());
    }
}

void sim_pool::listen(event_bus& to) {
    oracle_.expect_events();
    constexpr std::size_t all = 100'000;
    listening_ = to.listen(
        run_queue_executor(world_.caller_run_queue(0)), [this](const event& what) { oracle_.on_event(what); },
        all);
    tracing_ = to.listen<events::span>(
        run_queue_executor(world_.caller_run_queue(0)),
        [this](const events::span& what) { oracle_.on_span(what); }, all);
}

std::optional<pool_status> sim_pool::check_inspection() {
    auto seen = users_.take_inspection();
    if (!seen) {
        return std::nullopt;
    }
    auto& status = seen->metrics.status;
    oracle_.check_status(status);
    oracle_.check_load(seen->load, status);
    oracle_.check_metrics(seen->metrics);
    return std::move(status);
}

void sim_pool::check_end(bool context_was_destroyed) {
    if (!context_was_destroyed && users_.open_operations() > 0) {
        oracle_.wrong(std::to_string(users_.open_operations()) + " operations have never ended");
    }
    if (!core_.expired()) {
        oracle_.wrong("the pool is gone, but something of it lives on");
    }
    oracle_.check_end(context_was_destroyed);
    if (!context_was_destroyed && !delegate_->complaint().empty() && !world_.has_lacked_memory()) {
        oracle_.wrong(delegate_->complaint());
    }
}

} // namespace skep::simulation
