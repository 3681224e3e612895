// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_delegate.hpp"

#include "async/checkpoint.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <stdexcept>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr duration for_ever = 1h;

} // namespace

asio::awaitable<void> sim_delegate::pause(duration span) {
    const auto executor = co_await asio::this_coro::executor;
    std::optional<timer> until;
    {
        const spared_by_faults here; // to make a strand without memory is more than Asio survives
        until.emplace(strand(executor), world_.now() + span);
    }
    boost::system::error_code
        ec; // for the exception there may be no memory, which is more than Asio survives, too
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    co_await until->async_wait(std::move(token));
    co_await end_if_cancelled();
}

void sim_delegate::enter(const worker_id& worker, stage next) {
    const spared_by_faults here;
    const auto [entry, is_new] = stages_.try_emplace(worker, next);
    const bool fits = is_new ? next == stage::planned : next > entry->second;
    if (!fits) {
        complaint_ = to_string(worker) + ": the delegate was called out of turn";
    }
    entry->second = next;
}

asio::awaitable<void> sim_delegate::before_first_worker() {
    const auto span = chance_.between(0ms, 500ms);
    co_await pause(span);
}

/// At once: the world expects a worker that is due to be started.
asio::awaitable<launch_options> sim_delegate::before_launch(worker_id worker, launch_options planned) {
    enter(worker, stage::planned);
    co_return planned;
}

asio::awaitable<void> sim_delegate::warm_up(worker_id worker, call_interface& calls) {
    enter(worker, stage::warm);
    const auto count = chance_.below(3);
    for (std::size_t i = 0; i < count; ++i) {
        co_await calls.execute("warm");
    }
    const auto span = chance_.chance(0.05) ? for_ever : chance_.between(0ms, 100ms);
    co_await pause(span);
    if (chance_.chance(0.1)) {
        oracle_.on_warm_up_failed(worker);
        throw std::runtime_error("it does not get warm");
    }
    oracle_.on_warm(worker);
}

asio::awaitable<void> sim_delegate::after_end(worker_exit end) {
    enter(end.id, stage::ended);
    const auto span = chance_.chance(0.1) ? for_ever : chance_.between(0ms, 100ms);
    co_await pause(span);
    if (chance_.chance(0.1)) {
        throw std::runtime_error("it cannot be taken back");
    }
}

std::string sim_delegate::complaint() const {
    for (const auto& [worker, last] : stages_) {
        if (last != stage::ended) {
            return to_string(worker) + ": the delegate was not told of its end";
        }
    }
    return complaint_;
}

} // namespace skep::simulation
