// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Those who check out a worker, make a few calls with it, and give it back.

#include "simulation/users.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

namespace skep::simulation {

using namespace std::chrono_literals;

void users::lease(duration when) {
    world_.after(when, [this] {
        auto& fresh = oracle_.new_lease();
        draw_lease(fresh);
        const auto run_queue = world_.chance.below(world::callers);
        ++open_;
        auto token =
            asio::bind_cancellation_slot(fresh.cancel.slot(), [this](std::exception_ptr) { --open_; });
        asio::co_spawn(run_queue_executor(world_.caller_run_queue(run_queue)), hold(fresh, run_queue),
                       std::move(token));
        if (world_.chance.chance(script_.cancels)) {
            cancel_checkout(fresh, run_queue);
        }
    });
}

void users::draw_lease(lease_record& fresh) {
    const spared_by_faults here;
    auto& chance = world_.chance;
    fresh.wants_one_place = chance.chance(0.5);
    if (script_.sessions > 0 && chance.chance(0.4)) {
        const auto which = chance.below(script_.sessions);
        fresh.session = "s" + std::to_string(which);
        fresh.mode = static_cast<affinity_mode>(which % 3);
    } else if (chance.chance(0.3)) {
        fresh.wish = some_worker();
        fresh.mode =
            chance.pick({affinity_mode::hint, affinity_mode::strict_queue, affinity_mode::strict_fail_fast});
    }
    fresh.queue_timeout = script_.config.queue.timeout;
    fresh.calls = chance.below(6);
    fresh.how = chance.pick({way_back::dropped, way_back::dropped, way_back::closed, way_back::closed,
                             chance.chance(0.3) ? way_back::kept_to_the_end : way_back::dropped});
    if (chance.chance(0.4)) {
        auto& reset = oracle_.new_call();
        reset.command = "work";
        reset.input = static_cast<int>(reset.number) + 100;
        reset.timeout = script_.config.request_timeout;
        apply_command(reset);
        reset.lease = &fresh;
        reset.is_reset = true;
        fresh.reset = &reset;
    }
}

checkout_options users::to_options(lease_record& which) const {
    const spared_by_faults here;
    checkout_options result;
    if (which.wants_one_place) {
        result.one_place();
    }
    if (which.wish) {
        result.worker(*which.wish);
    }
    result.session(which.session).affinity(which.mode);
    if (which.reset != nullptr) {
        result.reset(to_request(*which.reset));
    }
    result.leak_threshold(1s);
    return result;
}

void users::cancel_checkout(lease_record& which, std::size_t run_queue) {
    world_.after(world_.chance.between(0ms, 2s), [this, &which, run_queue] {
        run_queue_executor(world_.caller_run_queue(run_queue)).execute([this, &which] {
            if (which.waits()) {
                const spared_by_faults here;
                world_.trace(which.token + " is cancelled");
                which.cancelled = world_.now();
                which.cancel.emit(asio::cancellation_type::terminal);
            }
        });
    });
}

asio::awaitable<void> users::hold(lease_record& which, std::size_t run_queue) {
    const auto every_type = asio::enable_total_cancellation();
    co_await asio::this_coro::reset_cancellation_state(every_type);
    if (!pool_) {
        co_return;
    }
    auto checking_out = check_out(which);
    co_await std::move(checking_out);
    co_await asio::this_coro::reset_cancellation_state(every_type); // it may have been cancelled too late
    for (auto left = which.calls; left > 0 && which.is_held(); --left) {
        auto& fresh = oracle_.new_call();
        draw_call(fresh);
        fresh.lease = &which;
        if (world_.chance.chance(0.5)) {
            make_call(fresh, run_queue);
            continue;
        }
        auto one = run_call(fresh);
        co_await std::move(one);
    }
    auto giving_back = give_back(which, run_queue);
    co_await std::move(giving_back);
}

asio::awaitable<void> users::check_out(lease_record& which) {
    auto options = to_options(which);
    oracle_.on_checkout(which);
    std::exception_ptr problem;
    try {
        auto waiting = pool_->checkout(std::move(options));
        auto granted = co_await std::move(waiting);
        which.held = std::move(granted);
        oracle_.on_granted(which);
    } catch (...) {
        problem = std::current_exception();
    }
    if (problem) {
        const auto failure = oracle_.on_operation_ended("checkout of " + which.token, problem);
        oracle_.on_checkout_failed(which, failure ? &*failure : nullptr);
    }
}

asio::awaitable<void> users::give_back(lease_record& which, std::size_t run_queue) {
    auto pause = make_pause(run_queue);
    pause.expires_after(world_.chance.between(0ms, 500ms));
    co_await pause.async_wait(asio::use_awaitable);
    if (!which.is_held() || which.how == way_back::kept_to_the_end) {
        co_return;
    }
    oracle_.on_given_back(which);
    if (which.how == way_back::dropped) {
        which.held = skep::lease();
        co_return;
    }
    auto closing = which.held.close();
    co_await std::move(closing);
    world_.trace(which.token + " is back");
}

void users::drop_leases() {
    for (auto& each : oracle_.leases()) {
        if (each.is_held()) {
            oracle_.on_given_back(each);
            each.held = skep::lease();
        }
    }
}

} // namespace skep::simulation
