// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/scenario.hpp"

#include "simulation/simulation.hpp"

#include <algorithm>
#include <memory>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

/// Any slot that is on offer, as nobody else would choose.
class last_slot_first final : public scheduler {
public:
    void offer(std::uint32_t slot, std::size_t) override { on_offer_ |= 1u << slot; }
    void withdraw(std::uint32_t slot) override { on_offer_ &= ~(1u << slot); }
    std::optional<std::uint32_t> pick(const claim_view&) override {
        return on_offer_ == 0 ? std::nullopt
                              : std::optional(31u - static_cast<unsigned>(__builtin_clz(on_offer_)));
    }

private:
    std::uint32_t on_offer_ = 0;
};

climate draw_climate(dice& chance) {
    climate weather;
    if (chance.chance(0.6)) {
        weather.bad_workers = chance.pick({0.1, 0.3, 0.7});
    }
    if (chance.chance(0.25)) {
        weather.bad_starts = chance.pick({0.1, 0.5, 0.9});
    }
    weather.errors = chance.pick({0.0, 0.0, 0.05, 0.3, 0.9});
    weather.deaf_to_cancel = chance.pick({0.0, 0.3, 1.0});
    weather.shortest_call = chance.pick<duration>({0ms, 1ms, 20ms});
    weather.longest_call = chance.pick<duration>({20ms, 100ms, 1s});
    weather.slow_calls = chance.pick({0.0, 0.1});
    weather.stuck_calls = chance.pick({0.0, 0.0, 0.03});
    weather.latency = chance.chance(0.3) ? chance.between(100us, 20ms) : 0ms;
    weather.stubborn = chance.pick({0.0, 0.2, 0.6});
    weather.small_offers = chance.pick({0.0, 0.3});
    weather.probing = chance.pick({0.0, 0.0, 0.5, 1.0});
    weather.stream_room = chance.pick<std::size_t>({1u << 16, 1u << 16, 1u << 16, 600});
    weather.fresh_bytes = chance.chance(0.2) ? 2'500'000 : 1u << 20; // above the soft limit of some pools
    weather.growth = 200'000;
    return weather;
}

void draw_healing(pool_config& config, dice& chance) {
    config.retry.attempts = static_cast<int>(chance.among(1, 4));
    if (chance.chance(0.3)) {
        config.retry.backoff = {chance.pick<duration>({200ms, 2s})};
    }
    config.retry.budget = chance.pick<std::size_t>({0, 10, 2});
    config.heartbeat.enabled = chance.chance(0.7);
    config.heartbeat.interval = chance.pick<duration>({500ms, 2s});
    config.heartbeat.timeout = chance.pick<duration>({300ms, 3s});
    config.heartbeat.misses = static_cast<int>(chance.among(1, 3));
    config.heartbeat.dependent = chance.chance(0.9);
    config.heartbeat.initial_delay = chance.pick<duration>({0ms, 1s});
    config.health_check.enabled = chance.chance(0.8);
    config.health_check.interval = chance.pick<duration>({500ms, 5s, 30s});
    config.health_check.timeout = chance.pick<duration>({400ms, 1s});
    config.health_check.retry_interval = chance.pick<duration>({100ms, 1s});
    config.health_check.failures = static_cast<int>(chance.among(1, 3));
    config.health_check.error_streak = chance.pick<std::size_t>({0, 0, 4, 20});
    if (chance.chance(0.3)) {
        config.recycle.age = chance.pick<duration>({0s, 2s, 10s});
        config.recycle.calls = chance.pick<std::size_t>({0, 3, 20});
        config.recycle.soft_memory = chance.pick<std::size_t>({0, 2'000'000});
        config.recycle.hard_memory = chance.pick<std::size_t>({0, 3'000'000});
        config.recycle.max_recycling = chance.among(1, 2);
        config.recycle.memory_interval = chance.pick<duration>({100ms, 1s});
    }
    config.crash_barrier.enabled = chance.chance(0.3);
    config.crash_barrier.taint = chance.pick<duration>({1s, 5s});
    config.crash_barrier.max_taint = 20s;
    config.crash_barrier.poison_crashes = static_cast<int>(chance.below(3));
    config.restart.initial_backoff = chance.pick<duration>({1ms, 100ms});
    config.restart.max_backoff = chance.pick<duration>({200ms, 3s});
    config.restart.stable_after = chance.pick<duration>({0ms, 1s, 10s});
    config.restart.limit = chance.pick<std::optional<std::size_t>>({std::nullopt, std::nullopt, 2, 5});
    config.restart.window = chance.pick<duration>({5s, 30s});
    config.restart.open_time = chance.pick<duration>({1s, 5s});
}

pool_config draw_config(dice& chance) {
    pool_config config;
    config.name = "p";
    config.launch.program = "simulated";
    config.log_level = log_level::off;
    config.workers = chance.among(1, 4);
    if (chance.chance(0.25)) {
        config.scaling.min = chance.among(1, *config.workers);
        config.scaling.max = *config.workers + chance.below(3);
        config.scaling.interval = chance.pick<duration>({500ms, 2s});
        config.scaling.cool_down = chance.pick<duration>({0ms, 1s, 4s});
        config.scaling.target_queue_delay = chance.pick<duration>({0ms, 100ms, 1s});
    }
    config.min_ready = chance.chance(0.7) ? 1 : *config.workers;
    config.capacity = chance.among(1, 3);
    config.pipeline_depth = chance.chance(0.6) ? 0 : chance.among(1, 3);
    config.schedule = chance.pick({scheduling::least_loaded, scheduling::round_robin, scheduling::lifo,
                                   scheduling::fifo, scheduling::pack});
    if (chance.chance(0.1)) {
        config.custom_scheduler = [] { return std::make_unique<last_slot_first>(); };
    }
    config.start.batch_size = chance.pick<std::size_t>({1, 2, 10});
    config.start.batch_delay = chance.pick<duration>({0ms, 200ms});
    config.start.timeout = chance.pick<duration>({700ms, 3s});
    config.queue.limit = chance.pick<std::size_t>({0, 2, 10, 1000, 1000});
    config.queue.timeout = chance.pick<duration>({0ms, 200ms, 5s});
    config.request_timeout = chance.pick<duration>({0s, 2s, 10s});
    config.stream.window = chance.pick<std::size_t>({1, 2, 3, 64});
    config.stream.window_bytes = chance.pick<std::size_t>({1024, 1u << 20});
    config.stream.timeout = chance.pick<duration>({0s, 2s, 10s});
    config.stream.idle_timeout = 0s;
    config.cancel_grace = chance.pick<duration>({0ms, 200ms, 2s});
    config.stop.drain_timeout = chance.pick<duration>({0ms, 500ms, 5s});
    config.stop.shutdown_grace = chance.pick<duration>({0ms, 500ms});
    config.stop.term_grace = chance.pick<duration>({0ms, 500ms});
    config.stop.reap_timeout = chance.pick<duration>({100ms, 1s});
    config.stop.stack_dump_timeout = chance.pick<duration>({0ms, 200ms});
    draw_healing(config, chance);
    return config;
}

} // namespace

/// Calls are sent ahead, as most of them are short.
void make_automatic(scenario& drawn, dice& chance) {
    drawn.config.pipeline_depth.reset();
    auto& weather = drawn.weather;
    weather.shortest_call = 0us;
    weather.longest_call = chance.pick<duration>({60us, 200us});
    weather.slow_calls = chance.pick({0.02, 0.1});
    weather.slowness = chance.pick({20, 100});
    weather.latency = chance.chance(0.3) ? chance.between(1us, 300us) : 0us;
    weather.recalling = chance.pick({0.5, 1.0});
    drawn.length = 600ms;
    drawn.config.capacity = chance.pick<std::size_t>({1, 1, 2});
    drawn.loops = chance.pick<std::size_t>({6, 12});
    drawn.shortest_pause = 0us;
    drawn.longest_pause = chance.pick<duration>({100us, 1ms});
    drawn.calls_per_loop = 120;
}

/// Calls behind a slow one are recalled, and callers give up before the answer in half of the worlds.
void make_recalling(scenario& drawn, dice& chance) {
    auto& weather = drawn.weather;
    if (chance.chance(0.5)) {
        weather.slow_recalls = 0.5;
        drawn.config.request_timeout = 30ms;
    }
    weather.longest_call = 60us;
    weather.slow_calls = chance.pick({0.005, 0.02}); // so few that calls are still sent ahead
    weather.slowness = 500;
    weather.stuck_calls = 0;
    drawn.longest_pause = 20us;
    drawn.cancels = chance.pick({0.0, 0.1, 0.4});
}

/// Attachments are in memory that the pool lends, as long as there is room.
void make_lending(scenario& drawn, dice& chance) {
    auto& shared = drawn.config.shared;
    shared.enabled = true;
    shared.least = chance.pick<std::size_t>({4096, 4096, 32'768});
    shared.least_result = chance.pick<std::size_t>({4096, 4096, 16'384});
    shared.bytes = 1u << 20;
    shared.regions = chance.pick<std::size_t>({1, 2, 64});
    if (chance.chance(0.3)) { // of other sizes than the first
        shared.bytes = (5u << 20) + 4096;
    }
    drawn.weather.large_blobs = chance.pick({0.2, 0.6});
    drawn.weather.memory_fails = chance.pick({0.0, 0.0, 0.1, 0.6});
    drawn.weather.kept_blobs = chance.pick({0.0, 0.0, 0.1});
    shared.show_results = chance.chance(0.4);
}

/// Nothing but calls that follow each other, which all end in the same way; then none.
void make_steady(scenario& drawn, dice& chance) {
    auto& config = drawn.config;
    config = pool_config();
    config.name = "p";
    config.launch.program = "simulated";
    config.log_level = log_level::off;
    config.workers = 1;
    config.scaling.min = 1;
    config.scaling.max = 3;
    config.scaling.up = 0.5;
    config.scaling.down = 0.2;
    config.scaling.interval = 500ms;
    config.scaling.cool_down = 1s;
    config.scaling.target_queue_delay = 1h; // so that only the utilisation counts
    config.health_check.error_streak = 0;
    config.request_timeout = chance.chance(0.3) ? 100ms : 60s;
    drawn.weather = climate();
    drawn.weather.errors = chance.pick({0.0, 1.0});
    drawn.weather.shortest_call = drawn.weather.longest_call = config.request_timeout < 1s ? 1s : 100ms;
    drawn.calls = 0;
    drawn.loops = 1;
    drawn.changes = 0;
    drawn.inspections = 0;
    drawn.cancels = 0;
    drawn.stalls = 0;
    drawn.faults = 0;
    drawn.length = 25s;
    drawn.steady = true;
}

scenario draw_scenario(dice& chance) {
    scenario drawn;
    drawn.config = draw_config(chance);
    drawn.weather = draw_climate(chance);
    drawn.length = chance.pick<duration>({1s, 5s, 15s, 30s});
    drawn.calls = chance.pick<std::size_t>({5, 20, 60});
    drawn.loops = chance.pick<std::size_t>({0, 0, 2, 6});
    drawn.changes = chance.pick<std::size_t>({0, 0, 3, 10});
    drawn.inspections = drawn.changes == 10 ? 6 : 0;
    drawn.cancels = chance.pick({0.0, 0.1, 0.4});
    drawn.stalls = chance.chance(0.15) ? 0.02 : 0;
    drawn.faults = chance.chance(0.15) ? chance.pick({0.0005, 0.005}) : 0;
    drawn.status_checks = 0.3;
    drawn.end = chance.pick({ending::shutdown, ending::shutdown, ending::shutdown_and_destruction,
                             ending::shutdown_and_destruction, ending::destruction,
                             chance.chance(0.2) ? ending::end_of_context : ending::destruction});
    if (chance.chance(0.03) && !with_batches && !with_recalls) {
        make_steady(drawn, chance);
    }
    auto aside = chance; // so that the other worlds stay as they were
    const bool is_automatic = drawn.config.pipeline_depth == 0 && aside.chance(0.5);
    if (is_automatic || with_recalls) {
        make_automatic(drawn, aside);
    }
    if (with_recalls) {
        make_recalling(drawn, aside);
    }
    const bool has_batches = !drawn.steady && aside.chance(0.35);
    if (has_batches || with_batches) {
        drawn.weather.batch_most = aside.pick<std::size_t>({2, 3, 8});
        drawn.weather.batch_wait = aside.pick<duration>({0ms, 0ms, 3ms, 50ms});
    }
    if (with_batches && aside.chance(0.5)) {
        drawn.config.retry.backoff = {2s};
    }
    const bool has_memory = !drawn.steady && aside.chance(0.2);
    if (has_memory || with_memory) {
        make_lending(drawn, aside);
    }
    drawn.config.validate();
    return drawn;
}

void draw_commands(pool_config& config, dice& chance) {
    for (const auto* name : {"work", "picky"}) {
        command_options options;
        if (chance.chance(0.5)) {
            options.timeout = chance.pick<duration>({0ms, 30ms, 300ms, 3s});
        }
        if (chance.chance(0.5)) {
            options.queue_timeout = chance.pick<duration>({0ms, 20ms, 300ms, 3s});
        }
        if (chance.chance(0.7)) {
            options.idempotent = chance.chance(0.7);
        }
        if (chance.chance(0.2)) {
            options.batch = chance.among(1, 4);
        }
        config.commands.emplace(name, options);
    }
}

namespace {

/// Grows and shrinks, so that it wants the workers of others and gives back its own.
void make_elastic(pool_config& config, dice& chance) {
    config.workers = chance.among(1, 2);
    config.min_ready = chance.among(1, *config.workers);
    config.scaling = scaling_options();
    config.scaling.min = chance.among(1, *config.workers);
    config.scaling.max = *config.workers + chance.below(4);
    config.scaling.interval = chance.pick<duration>({300ms, 1s});
    config.scaling.cool_down = chance.pick<duration>({0ms, 1s});
    config.scaling.target_queue_delay = chance.pick<duration>({0ms, 100ms});
}

std::vector<duration> draw_moments(std::size_t most, duration until, dice& chance) {
    std::vector<duration> drawn(chance.below(most + 1));
    for (auto& each : drawn) {
        each = chance.between(0ms, until);
    }
    return drawn;
}

} // namespace

manager_script draw_manager(std::vector<scenario>& pools, dice& chance) {
    manager_script drawn;
    drawn.restart_failed_pools = chance.chance(0.85);
    const bool is_limited = chance.chance(0.6);
    std::size_t least = 0;
    char name = 'p';
    for (auto& each : pools) {
        each.config.name = name++;
        each.steady = false;
        each.length = pools.front().length;
        each.end = pools.front().end;
        if (is_limited) {
            make_elastic(each.config, chance);
        }
        if (chance.chance(0.3)) {
            draw_commands(each.config, chance);
        }
        least += std::max(each.config.scaling.min.value_or(0), each.config.min_ready);
    }
    if (is_limited) {
        drawn.max_workers = least + chance.below(3);
    }
    if (chance.chance(0.7)) {
        auto& poor = pools[chance.below(pools.size())].weather;
        poor.barren = chance.pick<duration>({500ms, 2s, 5s, chance.chance(0.3) ? 1h : 10s});
    }
    drawn.waits = draw_moments(4, pools.front().length, chance);
    drawn.status_checks = draw_moments(3, pools.front().length, chance);
    if (chance.chance(0.2)) {
        drawn.second_start = chance.between(0ms, 3s);
    }
    return drawn;
}

} // namespace skep::simulation
