// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// One seed, one world: the pool in it, and what happens to it, from beginning to end.

#include "simulation/simulation.hpp"

#include "pool/pool_core.hpp"
#include "simulation/oracle.hpp"
#include "simulation/scenario.hpp"
#include "simulation/sim_delegate.hpp"
#include "simulation/sim_runtime.hpp"
#include "simulation/sim_tools.hpp"
#include "simulation/users.hpp"
#include "simulation/world.hpp"
#include <skep/session_store.hpp>

#include <optional>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// No world is as busy, or as long, as that.
constexpr std::uint64_t most_steps = 1'000'000;
constexpr duration longest_life = 10min;

pool_context context_of(world& in) {
    pool_context context{strand(lane_executor(in.pool_lane())), {}, {}, {}, {}};
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

class run {
public:
    run(std::uint64_t seed, bool tracing)
        : world_(seed, tracing),
          script_(draw_scenario(world_.chance)),
          oracle_(world_, script_.config, script_.weather),
          delegate_(std::make_shared<sim_delegate>(world_, oracle_, seed)),
          users_(world_, oracle_, script_, pool_),
          tools_(world_, oracle_, users_) {
        constexpr std::uint64_t worlds_per_delegate = 8;
        if (seed % worlds_per_delegate == 0 && !script_.steady) {
            script_.config.initialization.delegate = delegate_;
            script_.config.initialization.after_end_timeout = 200ms;
        }
        constexpr std::uint64_t worlds_per_tools = 3;
        if (seed % worlds_per_tools == 0 && !script_.steady) {
            script_.tools = world_.chance.pick({0.1, 0.5, 0.9});
            script_.config.threads_per_worker = world_.chance.among(1, 4);
        }
        constexpr std::uint64_t worlds_per_sessions = 4;
        if (seed % worlds_per_sessions == 1 && !script_.steady) {
            script_.sessions = world_.chance.among(1, 8);
            script_.config.affinity.ttl = world_.chance.pick<duration>({50ms, 1s, 1h});
            script_.config.affinity.on_recycle =
                world_.chance.pick({affinity_on_recycle::wait, affinity_on_recycle::move});
        }
        constexpr std::uint64_t worlds_per_store = 8;
        if (seed % worlds_per_store == 1 && !script_.steady) {
            add_store();
        }
        constexpr std::uint64_t worlds_per_leases = 4;
        if (seed % worlds_per_leases == 2 && !script_.steady) {
            script_.leases = world_.chance.among(1, 20);
        }
        constexpr std::uint64_t worlds_per_both = 8;
        if (seed % worlds_per_both == 3 && !script_.steady) {
            add_sessions_and_leases();
        }
        constexpr std::uint64_t worlds_per_growth = 16;
        if (seed % worlds_per_growth == 15 && !script_.steady) {
            limit_memory();
        }
        constexpr std::uint64_t worlds_per_listener = 8;
        tells_ = seed % worlds_per_listener == 7;
    }

    std::uint64_t steps() const noexcept { return world_.steps(); }

    std::optional<std::string> to_end() {
        make_pool();
        users_.schedule();
        world_.fail_allocations(with_allocation_faults ? script_.faults : 0);
        while (!world_.violation() && goes_on()) {}
        if (!world_.violation()) {
            check_end();
        }
        return world_.violation();
    }

private:
    /// Who has too many sessions, some of them with leases.
    void add_sessions_and_leases() {
        script_.sessions = world_.chance.among(2, 12);
        script_.leases = world_.chance.among(1, 20);
        script_.config.affinity.ttl = world_.chance.pick<duration>({50ms, 1s, 1h});
        script_.config.affinity.limit = world_.chance.pick<std::size_t>({1, 3, 5, 10'000});
        script_.config.affinity.on_recycle =
            world_.chance.pick({affinity_on_recycle::wait, affinity_on_recycle::move});
    }

    /// Both limits, so close that a worker reaches the hard one while it drains for the soft one.
    void limit_memory() {
        script_.config.recycle.soft_memory = 2'000'000;
        script_.config.recycle.hard_memory = 2'200'000;
        script_.config.recycle.memory_interval = 100ms;
        script_.weather.growth = 1'000'000;
    }

    void add_store() {
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

    void make_pool() {
        auto config = script_.config;
        if (world_.is_tracing()) {
            config.log = log_level::debug;
        }
        const auto make = [this](const pool_context& found, const pool_config&, output_handler) {
            return std::make_unique<sim_runtime>(world_, oracle_, found.executor, script_.weather,
                                                 script_.config);
        };
        auto core = std::make_shared<pool_core>(context_of(world_), std::move(config), make);
        core_ = core;
        pool_.emplace(skep::make_pool(std::move(core)));
        if (script_.tools > 0) {
            tools_.serve(*pool_);
        }
        if (tells_) {
            listen();
        }
    }

    void listen() {
        oracle_.expect_events();
        constexpr std::size_t all = 100'000;
        listening_ = pool_->events().listen(
            lane_executor(world_.caller_lane(0)), [this](const event& what) { oracle_.on_event(what); }, all);
        tracing_ = pool_->events().listen<events::span>(
            lane_executor(world_.caller_lane(0)), [this](const events::span& what) { oracle_.on_span(what); },
            all);
    }

    /// False when nothing will ever happen again.
    bool goes_on() {
        if (world_.step()) {
            if (world_.steps() > most_steps || world_.age() > longest_life) {
                oracle_.wrong("the world does not come to its end");
            }
            return true;
        }
        if (world_.has_context()) { // else callers are gone as they were
            oracle_.check_rest();
        }
        if (auto seen = users_.take_look()) {
            oracle_.check_status(seen->status);
            oracle_.check_metrics(*seen);
        } else if (users_.wants_look() || world_.chance.chance(script_.looks)) {
            users_.look();
            return true;
        }
        if (world_.chance.chance(script_.stalls)) {
            world_.stall(world_.chance.between(10ms, 5s));
            return true;
        }
        return world_.advance();
    }

    void check_end() {
        const bool had_context = world_.has_context();
        if (had_context && users_.open_operations() > 0) {
            oracle_.wrong(std::to_string(users_.open_operations()) + " operations have never ended");
        }
        if (!core_.expired()) {
            oracle_.wrong("the pool is gone, but something of it lives on");
        }
        oracle_.check_end(!had_context);
        if (had_context && !delegate_->complaint().empty() && world_.failed_allocations() == 0) {
            oracle_.wrong(delegate_->complaint());
        }
        if (had_context && !world_.is_context_idle()) {
            oracle_.wrong("something is left to run");
        }
    }

    world world_;
    scenario script_;
    oracle oracle_;
    std::shared_ptr<sim_delegate> delegate_; ///< of the pools that have one
    std::optional<pool> pool_;
    std::weak_ptr<pool_core> core_;
    users users_;
    sim_tools tools_;
    bool tells_ = false;
    subscription listening_;
    subscription tracing_;
};

} // namespace

result simulate(std::uint64_t seed, bool tracing) {
    // A world that broke a promise is left as it is: its remains would only break others.
    auto one = std::make_unique<run>(seed, tracing);
    result outcome{one->to_end(), one->steps()};
    if (outcome.violation) {
        static_cast<void>(one.release());
    }
    return outcome;
}

} // namespace skep::simulation
