// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/service.hpp"

#include "pool/pool_maker.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

/// Pools of scripted workers, each for the callers that were drawn for it.
class service::maker final : public pool_maker {
public:
    explicit maker(std::deque<sim_pool>& all) : all_(all) {}

    pool make(const asio::any_io_executor&, pool_config config, pool_membership membership) override {
        const auto found =
            std::find_if(all_.begin(), all_.end(), [&](auto& each) { return each.name() == config.name; });
        return found->make(std::move(config), std::move(membership));
    }

private:
    std::deque<sim_pool>& all_;
};

service::service(world& in, std::uint64_t seed) : world_(in) {
    std::vector<scenario> drawn;
    drawn.push_back(draw_scenario(world_.chance));
    constexpr std::uint64_t worlds_per_manager = 19;
    if (seed % worlds_per_manager == 1) {
        const auto count = world_.chance.among(2, world::most_pools);
        while (drawn.size() < count) {
            drawn.push_back(draw_scenario(world_.chance));
        }
        managed_ = draw_manager(drawn, world_.chance);
    }
    for (auto& each : drawn) {
        const auto index = pools_.size();
        pools_.emplace_back(world_, seed + index, std::move(each), world_.pool_run_queue(index));
    }
}

void service::begin() {
    if (managed_) {
        make_manager();
    } else {
        auto& only = pools_.front();
        pool_.emplace(only.make(only.script().config, {}));
        only.serve(*pool_, nullptr);
    }
    for (auto& each : pools_) {
        each.callers().schedule();
    }
    schedule();
}

void service::make_manager() {
    manager_config config;
    config.max_workers = managed_->max_workers;
    config.restart_failed_pools = managed_->restart_failed_pools;
    for (auto& each : pools_) {
        each.judge().expect_manager(config.restart_failed_pools);
        config.pools.push_back(each.script().config);
        config.pools.back().validate();
    }
    manager_ = pool_maker::make_manager(run_queue_executor(world_.pool_run_queue()), std::move(config),
                                        std::make_shared<maker>(pools_));
    for (auto& each : pools_) {
        each.serve(manager_->get(each.name()), manager_.get());
    }
    constexpr std::size_t all = 100'000;
    listening_ = manager_->events().listen(
        run_queue_executor(world_.caller_run_queue(0)), [this](const event& what) { on_event(what); }, all);
}

void service::on_event(const event& what) {
    for (auto& each : pools_) {
        const auto* const begun = std::get_if<events::pool_init_started>(&what);
        const auto* const ended = std::get_if<events::pool_init_completed>(&what);
        if (begun != nullptr && begun->pool == each.name()) {
            each.judge().on_try_begun();
        } else if (ended != nullptr && ended->pool == each.name()) {
            each.judge().on_try_ended(ended->problem);
        }
    }
}

void service::schedule() {
    if (managed_) {
        begin_operation([this] { return start(); });
        if (managed_->second_start) {
            world_.after(*managed_->second_start, [this] { begin_operation([this] { return start(); }); });
        }
        for (const auto when : managed_->waits) {
            world_.after(when, [this, count = world_.chance.below(4)] {
                begin_operation([this, count] { return wait_for_workers(count); });
            });
        }
        for (const auto when : managed_->status_checks) {
            world_.after(when, [this] { begin_operation([this] { return inspect_all(); }); });
        }
    }
    world_.after(script().length, [this] { end(); });
}

void service::begin_operation(operation what) {
    ++open_;
    const auto signal = std::make_shared<asio::cancellation_signal>();
    auto token =
        asio::bind_cancellation_slot(signal->slot(), [this, signal](std::exception_ptr) { --open_; });
    const auto which = world_.chance.below(world::callers);
    asio::co_spawn(run_queue_executor(world_.caller_run_queue(which)), run_operation(std::move(what)),
                   std::move(token));
    if (world_.chance.chance(script().cancels / 4)) {
        world_.after(world_.chance.between(1ms, 1s), [this, which, weak = std::weak_ptr(signal)] {
            run_queue_executor(world_.caller_run_queue(which)).execute([weak] {
                if (const auto signal = weak.lock()) {
                    signal->emit(asio::cancellation_type::terminal);
                }
            });
        });
    }
}

asio::awaitable<void> service::run_operation(operation what) {
    const auto every_type = asio::enable_total_cancellation();
    co_await asio::this_coro::reset_cancellation_state(every_type);
    if (manager_) {
        auto running = what();
        co_await std::move(running);
    }
}

asio::awaitable<void> service::start() {
    ended_start what{world_.now(), ""};
    for (auto& each : pools_) {
        each.judge().on_start_asked();
        each.judge().on_user_start();
    }
    std::exception_ptr problem;
    try {
        auto starting = manager_->start();
        co_await std::move(starting);
    } catch (...) {
        problem = std::current_exception();
    }
    const auto failure = pools_.front().judge().on_operation_ended("the start of all pools", problem);
    const bool is_told = !problem || (failure && failure->kind() == errc::start_failed);
    if (is_told) {
        const spared_by_faults here;
        what.problem = failure ? "\n" + failure->info().detail : "";
        ended_starts_.push_back(std::move(what));
    }
}

/// At rest, when the events of what it tells of have come: it names those that have not started, and no
/// others.
void service::check_start(const ended_start& start) {
    for (auto& each : pools_) {
        const bool is_named = start.problem.find("\n" + each.name() + ": ") != std::string::npos;
        const auto end = each.judge().first_end_since(start.asked);
        using start_end = oracle::start_end;
        if (end == start_end::failed && !is_named) {
            wrong("the start of all pools does not name " + each.name() + ", which has failed");
        }
        if (end == start_end::none && !is_named && !each.judge().out_of_memory()) {
            wrong("the start of all pools is over, but that of " + each.name() + " is not");
        }
    }
}

asio::awaitable<void> service::wait_for_workers(std::size_t count) {
    const auto number = ++last_wait_;
    {
        const spared_by_faults here;
        world_.trace("somebody waits for " + std::to_string(count) + " workers of each pool");
        waits_.emplace(number, wait{count, world_.now()});
    }
    std::exception_ptr problem;
    try {
        auto waiting = manager_->ready(count);
        co_await std::move(waiting);
    } catch (...) {
        problem = std::current_exception();
    }
    const auto ended = waits_.at(number);
    waits_.erase(number);
    const auto failure = pools_.front().judge().on_operation_ended("the wait for workers", problem);
    if (failure) {
        check_failed_wait(ended, *failure);
    } else if (!problem) {
        check_wait(ended);
    }
}

void service::check_wait(const wait& ended) {
    const spared_by_faults here;
    for (auto& each : pools_) {
        const auto up = each.judge().up_since(world_.now());
        if (up < ended.count && world_.stalled() == 0s) {
            wrong("all pools are said to have " + std::to_string(ended.count) + " workers, but " +
                  each.name() + " has " + std::to_string(up));
        }
    }
}

void service::check_failed_wait(const wait& ended, const error& failure) {
    const spared_by_faults here;
    const bool may_be = std::any_of(pools_.begin(), pools_.end(), [&](auto& each) {
        const bool is_of_it = failure.info().pool.empty() || failure.info().pool == each.name();
        return is_of_it && each.judge().may_fail_wait(failure.kind());
    });
    if (!may_be && !world_.has_lacked_memory()) {
        wrong("somebody who waited for " + std::to_string(ended.count) +
              " workers of each pool was told: " + failure.what());
    }
}

asio::awaitable<void> service::inspect_all() {
    auto asking = manager_->status();
    const std::vector<pool_status> all = co_await std::move(asking);
    const spared_by_faults here;
    const bool are_in_order = std::is_sorted(
        all.begin(), all.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
    if (all.size() != pools_.size() || !are_in_order) {
        wrong("the manager does not show every pool once, in order");
    }
}

void service::check_rest() {
    for (auto& each : pools_) {
        each.judge().check_rest();
    }
    for (const auto& each : std::exchange(ended_starts_, {})) {
        check_start(each);
    }
}

bool service::inspect() {
    std::vector<pool_status> seen;
    for (auto& each : pools_) {
        if (auto status = each.check_inspection()) {
            seen.push_back(std::move(*status));
        }
    }
    if (seen.size() == pools_.size() && managed_) {
        check_together(seen);
    }
    if (!seen.empty()) {
        return false;
    }
    bool is_wanted = false;
    for (auto& each : pools_) {
        is_wanted = each.callers().wants_inspection() || is_wanted;
    }
    if (!is_wanted && !world_.chance.chance(script().status_checks)) {
        return false;
    }
    for (auto& each : pools_) {
        each.callers().inspect();
    }
    return true;
}

/// All pools, as they are at the same moment.
void service::check_together(const std::vector<pool_status>& all) {
    if (world_.has_lacked_memory()) {
        return;
    }
    std::size_t desired = 0;
    std::size_t places = 0;
    for (const auto& each : all) {
        std::set<std::uint32_t> slots; // one that is replaced, or on its way out, counts once
        for (const auto& one : each.workers) {
            const bool is_there = one.state != worker_state::created && one.state != worker_state::pending;
            if (is_there) {
                slots.insert(one.id.slot);
            }
        }
        desired += each.desired;
        places += slots.size();
    }
    const auto most = managed_->max_workers;
    if (most > 0 && (desired > most || places > most)) {
        wrong("there are " + std::to_string(places) + " workers in all, and are to be " +
              std::to_string(desired) + ", but max_workers is " + std::to_string(most));
    }
    for (const auto& [number, open] : waits_) {
        if (std::all_of(all.begin(), all.end(), [&](const auto& each) { return each.live >= open.count; })) {
            wrong("somebody waits for " + std::to_string(open.count) +
                  " workers of each pool, though as many are up");
        }
    }
}

void service::end() {
    auto& chance = world_.chance;
    for (auto& each : pools_) {
        each.callers().on_ending();
    }
    switch (script().end) {
    case ending::shutdown:
    case ending::shutdown_and_destruction: {
        const auto times = chance.chance(0.2) ? 2 : 1;
        for (int i = 0; i < times; ++i) {
            for (auto& each : pools_) {
                each.judge().on_shutdown_asked();
            }
            ++open_;
            asio::co_spawn(run_queue_executor(world_.caller_run_queue(chance.below(world::callers))),
                           shut_down(), [this](std::exception_ptr) { --open_; });
        }
        if (script().end == ending::shutdown_and_destruction) {
            world_.after(chance.between(0ms, 1s), [this] { destroy(); });
        }
        break;
    }
    case ending::destruction: destroy(); break;
    case ending::end_of_context:
        destroy();
        world_.trace("its context is destroyed");
        world_.destroy_context();
        break;
    }
}

asio::awaitable<void> service::shut_down() {
    if (!pool_ && !manager_) {
        co_return;
    }
    world_.trace("shutdown");
    const auto asked = world_.now();
    std::exception_ptr problem;
    try {
        auto running = manager_ ? shut_down_manager() : shut_down_pool();
        co_await std::move(running);
        check_shutdown_time(asked);
    } catch (...) {
        problem = std::current_exception();
    }
    if (problem && !world_.has_lacked_memory()) {
        pools_.front().judge().on_shutdown_failed(problem);
    }
    if (script().end == ending::shutdown) {
        pools_.front().callers().want_inspection(); // the counters are to agree even now
        world_.after(100ms, [this] { destroy(); });
    }
}

asio::awaitable<void> service::shut_down_pool() {
    auto running = pool_->shutdown();
    const auto report = co_await std::move(running);
    pools_.front().judge().on_report(report);
}

asio::awaitable<void> service::shut_down_manager() {
    auto running = manager_->shutdown();
    const manager_report report = co_await std::move(running);
    for (auto& each : pools_) {
        const auto found = report.pools.find(each.name());
        if (found == report.pools.end()) {
            wrong("the report of the shutdown lacks " + each.name());
        } else {
            each.judge().on_report(found->second);
        }
    }
}

void service::check_shutdown_time(time_point asked) {
    const spared_by_faults here;
    world_.trace("shutdown is done");
    duration longest{};
    for (auto& each : pools_) {
        longest = std::max(longest, each.judge().longest_shutdown());
    }
    const bool is_excused = world_.stalled() > 0s || world_.has_lacked_memory();
    if (world_.now() - asked > longest + 1ms && !is_excused) {
        wrong("shutdown took " + std::to_string((world_.now() - asked) / 1ms) + " ms");
    }
}

void service::destroy() {
    if (!pool_ && !manager_) {
        return;
    }
    world_.trace("the pool is destroyed");
    for (auto& each : pools_) {
        each.judge().on_destroyed();
    }
    if (world_.chance.chance(0.5)) {
        drop_leases();
    }
    for (auto& each : pools_) {
        each.callers().use(nullptr, nullptr);
    }
    pool_.reset();
    manager_.reset();
    drop_leases();
}

void service::drop_leases() {
    for (auto& each : pools_) {
        each.callers().drop_leases();
    }
}

void service::check_end() {
    const bool had_context = world_.has_context();
    if (had_context && open_ > 0) {
        wrong(std::to_string(open_) + " operations on all pools have never ended");
    }
    for (auto& each : pools_) {
        each.check_end(!had_context);
    }
    if (had_context && !world_.is_context_idle()) {
        wrong("something is left to run");
    }
}

} // namespace skep::simulation
