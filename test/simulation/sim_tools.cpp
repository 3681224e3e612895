// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_tools.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <stdexcept>

namespace skep::simulation {

using namespace std::chrono_literals;

void sim_tools::serve(pool& workers) {
    const tool_handler handler = [this](tool_call asked) { return help(std::move(asked)); };
    workers.register_tool("help", handler);
    users_.use_tools(handler);
}

asio::awaitable<tool_reply> sim_tools::help(tool_call asked) {
    auto* const which = oracle_.on_tool_begun(asked);
    if (which == nullptr) {
        co_return tool_reply();
    }
    std::exception_ptr problem;
    try {
        auto deed = act(*which);
        co_await std::move(deed);
    } catch (...) {
        problem = std::current_exception();
    }
    oracle_.on_tool_ended(*which, problem != nullptr);
    if (problem) {
        std::rethrow_exception(problem);
    }
    co_return tool_reply(boost::json::object{{"key", which->key}});
}

asio::awaitable<void> sim_tools::act(const tool_record& which) {
    switch (which.deed) {
    case tool_deed::fails: throw tool_error("full", "no");
    case tool_deed::is_stubborn: {
        const auto nothing_counts = asio::disable_cancellation();
        co_await asio::this_coro::reset_cancellation_state(nothing_counts);
        co_await pause();
        break;
    }
    case tool_deed::pauses: co_await pause(); break;
    case tool_deed::calls: {
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        if (cancellation.cancelled() != asio::cancellation_type::none) { // the call would reset it
            break;
        }
        auto inner = users_.call_for(*which.call);
        co_await std::move(inner);
        break;
    }
    default: break;
    }
}

asio::awaitable<void> sim_tools::pause() {
    const auto executor = co_await asio::this_coro::executor;
    std::optional<timer> until;
    {
        const spared_by_faults here; // to make a strand without memory is more than Asio survives
        until.emplace(strand(executor), world_.now() + world_.chance.between(0ms, 1s));
    }
    // Redirected, for the same reason: a code that Asio throws itself takes memory outside of any coroutine.
    boost::system::error_code cancelled;
    auto token = asio::redirect_error(asio::use_awaitable, cancelled);
    co_await until->async_wait(std::move(token));
    if (cancelled) {
        throw boost::system::system_error(cancelled);
    }
}

} // namespace skep::simulation
