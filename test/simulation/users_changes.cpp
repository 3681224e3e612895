// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What users have a pool do to its workers, and what they ask about them.

#include "simulation/users.hpp"

#include <string>
#include <utility>
#include <vector>

namespace skep::simulation {

using namespace std::chrono_literals;

void users::resume() {
    oracle_.on_suspension_asked();
    begin(
        "resume", [](pool& of) { return of.resume(); },
        [this, asked = world_.now()](const error* problem) {
            if (problem == nullptr) {
                oracle_.on_pool_resumed(asked);
            }
        });
}

worker_id users::some_worker() const {
    if (!last_seen_ || last_seen_->workers.empty() || world_.chance.chance(0.1)) {
        return {script_.config.name, 1, 1};
    }
    return last_seen_->workers[world_.chance.below(last_seen_->workers.size())].id;
}

void users::change(duration when) {
    world_.after(when, [this] {
        const auto which = some_worker();
        auto& chance = world_.chance;
        switch (chance.below(11)) {
        case 0:
        case 1:
            oracle_.on_suspension_asked(which);
            begin_wait({oracle::wait::kind::suspend, which}, "suspend " + to_string(which),
                       [which](pool& of) { return of.suspend(which); });
            break;
        case 2:
            oracle_.on_pool_suspension_asked();
            begin_wait({oracle::wait::kind::suspend_all, {}}, "suspend",
                       [](pool& of) { return of.suspend(); });
            world_.after(chance.between(0ms, 2s), [this] { resume(); });
            break;
        case 3:
        case 4:
            oracle_.on_suspension_asked();
            begin("resume " + to_string(which), [which](pool& of) { return of.resume(which); });
            break;
        case 5: resume(); break;
        case 6:
            oracle_.on_restart_asked();
            begin_wait({oracle::wait::kind::restart, which}, "restart " + to_string(which),
                       [which](pool& of) { return of.restart(which); });
            break;
        case 7:
            oracle_.on_restart_asked();
            oracle_.templates().on_new_script();
            begin("rolling restart", [](pool& of) { return of.rolling_restart(); });
            break;
        case 8:
        case 9: {
            const auto least = chance.among(1, 3);
            const size_limits limits(least, least + chance.below(3));
            oracle_.on_resize_asked(limits);
            begin("resize", [limits](pool& of) { return of.resize(limits); });
            break;
        }
        default: {
            const auto count = chance.below(6);
            begin_wait({oracle::wait::kind::ready, {}, count}, "ready " + std::to_string(count),
                       [count](pool& of) { return of.ready(count); });
        }
        }
    });
}

void users::inspect(duration when) {
    world_.after(when, [this] {
        const auto which = some_worker();
        switch (world_.chance.below(4)) {
        case 0:
            begin_wait({oracle::wait::kind::probe, which}, "probe " + to_string(which),
                       [this, which](pool& of) { return probe(of, which); });
            break;
        case 1: begin("probe", [this](pool& of) { return probe_all(of); }); break;
        case 2:
            begin_wait({oracle::wait::kind::ping, which, 0, world_.now()}, "ping " + to_string(which),
                       [this, which](pool& of) { return ping(of, which); });
            break;
        default:
            begin_wait({oracle::wait::kind::end, which}, "the end of " + to_string(which),
                       [this, which](pool& of) { return await_end(of, which); });
        }
    });
}

asio::awaitable<void> users::probe(pool& of, worker_id which) {
    oracle_.on_probe_asked();
    auto probing = of.probe(which);
    const probe_result found = co_await std::move(probing);
    oracle_.on_probed(found);
}

asio::awaitable<void> users::probe_all(pool& of) {
    oracle_.on_probe_asked();
    auto probing = of.probe();
    const std::vector<probe_result> found = co_await std::move(probing);
    for (const auto& each : found) {
        oracle_.on_probed(each);
    }
}

asio::awaitable<void> users::ping(pool& of, worker_id which) {
    oracle_.on_ping_asked();
    auto pinging = of.ping(which);
    const duration took = co_await std::move(pinging);
    oracle_.on_pong(which, took);
}

asio::awaitable<void> users::await_end(pool& of, worker_id which) {
    auto waiting = of.ended(which);
    const worker_exit end = co_await std::move(waiting);
    oracle_.on_end_told(which, end);
}

} // namespace skep::simulation
