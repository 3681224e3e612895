// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/fake_runtime.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace skep::test {

/// A pool of fakes whose workers ask for tools.
class asking : public manual_pool {
public:
    explicit asking(pool_config config = fake_config(1), bool is_started = true)
        : manual_pool(std::move(config)) {
        if (is_started) {
            const auto started = start();
            BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
        }
    }

    /// The worker at the call asks for something.
    void ask(std::uint64_t call, std::uint64_t number, const std::string& name, boost::json::object args = {},
             std::size_t index = 0) {
        worker(index).send_data({{"type", "tool_call"},
                                 {"id", call},
                                 {"tool_call", number},
                                 {"name", name},
                                 {"args", std::move(args)}});
        run_until_idle();
    }

    void report(std::uint64_t call, double fraction, const std::string& text) {
        worker(0).send_data({{"type", "progress"}, {"id", call}, {"fraction", fraction}, {"text", text}});
        run_until_idle();
    }

    /// The value that the only tool call since the last look was answered with.
    boost::json::value result(std::size_t index = 0) {
        const auto answers = worker(index).take_controls("tool_result");
        BOOST_REQUIRE(answers.size() == 1u);
        return answers[0].at("value");
    }

    /// The error that it was answered with.
    boost::json::object failure(std::size_t index = 0) {
        const auto answers = worker(index).take_controls("tool_error");
        BOOST_REQUIRE(answers.size() == 1u);
        return answers[0].at("error").as_object();
    }

    bool is_answered(std::size_t index = 0) {
        return !worker(index).take_controls("tool_result").empty() ||
               !worker(index).take_controls("tool_error").empty();
    }
};

/// Waits until it is cancelled, and says so.
inline tool_handler patient(bool& was_cancelled) {
    return [&was_cancelled](tool_call) -> asio::awaitable<tool_reply> {
        asio::steady_timer never(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
        try {
            co_await never.async_wait(asio::use_awaitable);
        } catch (const boost::system::system_error&) {
            was_cancelled = true;
        }
        co_return tool_reply();
    };
}

/// Calls the command of that name in the same pool.
inline tool_handler calling(asking& pool, std::string command) {
    return [&pool, command](tool_call) -> asio::awaitable<tool_reply> {
        const reply inner = co_await pool.facade().execute(command);
        co_return tool_reply(inner.value);
    };
}

} // namespace skep::test
