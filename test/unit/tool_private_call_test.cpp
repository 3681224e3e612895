// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Tools of calls that the pool does not know of: probes and parts of a warm-up.

#include "support/asking_pool.hpp"
#include <skep/call_interface.hpp>
#include <skep/initialization_delegate.hpp>

#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tools_of_private_calls)

namespace {

/// A pool whose one worker has a health check.
class probed : public asking {
public:
    probed() : asking(fake_config(1), false) {
        runtime().on_start = [](fake_worker& fresh) {
            fresh.has_health_check = true;
            fresh.shake_hands();
        };
        BOOST_REQUIRE(start()->value);
    }

    /// The id of the next probe.
    std::uint64_t take_probe() {
        advance(30s, 1s);
        return worker(0).take_call();
    }
};

/// Its warm-up is one call.
class warming final : public initialization_delegate {
public:
    explicit warming(request what) : what_(std::move(what)) {}

    asio::awaitable<void> warm_up(worker_id, call_interface& calls) override {
        try {
            auto running = calls.execute(what_);
            co_await std::move(running);
        } catch (const error& problem) {
            failure = problem.kind();
        }
    }

    errc failure{};

private:
    const request what_;
};

/// A pool of one worker that is at its warm-up.
class warming_pool : public asking {
public:
    explicit warming_pool(request what) : warming_pool(std::make_shared<warming>(std::move(what))) {}

    errc end_of_warm_up() const { return delegate_->failure; }

private:
    explicit warming_pool(std::shared_ptr<warming> delegate)
        : asking(with(delegate), false), delegate_(std::move(delegate)) {}

    static pool_config with(std::shared_ptr<warming> delegate) {
        auto config = fake_config(1);
        config.initialization.delegate = std::move(delegate);
        return config;
    }

    const std::shared_ptr<warming> delegate_;
};

tool_handler noting_deadline(time_point& deadline) {
    return [&deadline](tool_call asked) -> asio::awaitable<tool_reply> {
        deadline = asked.deadline;
        co_return tool_reply();
    };
}

} // namespace

BOOST_AUTO_TEST_CASE(a_probe_has_its_limit) {
    time_point deadline;
    probed pool;
    pool.facade().register_tool("note", noting_deadline(deadline));
    const auto id = pool.take_probe();
    pool.ask(id, 1, "note");
    BOOST_TEST(pool.is_answered());
    BOOST_TEST((deadline == clock::now() + 5s));
    pool.worker(0).reply(id);
}

BOOST_AUTO_TEST_CASE(the_tool_call_of_a_probe_has_no_span) {
    std::size_t spans = 0;
    time_point deadline;
    probed pool;
    pool.facade().register_tool("note", noting_deadline(deadline));
    const auto listening = pool.facade().events().listen<events::span>(
        pool.context.get_executor(), [&spans](const events::span&) { ++spans; });
    const auto id = pool.take_probe();
    pool.ask(id, 1, "note");
    BOOST_TEST(pool.is_answered());
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(spans == 0u);
}

BOOST_AUTO_TEST_CASE(a_probe_that_is_given_up_has_no_tools) {
    bool was_cancelled = false;
    probed pool;
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto id = pool.take_probe();
    pool.ask(id, 1, "wait");
    pool.advance(4900ms);
    BOOST_TEST(!was_cancelled);
    pool.advance(200ms);
    BOOST_TEST(was_cancelled);
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
    pool.ask(id, 2, "wait");
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
    BOOST_TEST(pool.worker(0).take_controls("cancel").empty()); // its answer tells how the worker is
    pool.worker(0).reply(id);
    pool.advance(5s);
    pool.worker(0).answer_call(); // the next probe
    pool.execute(request("work"));
    BOOST_TEST(pool.serve() == "work");
}

BOOST_AUTO_TEST_CASE(a_probe_that_would_wait_for_its_own_place_is_told) {
    probed pool;
    pool.facade().register_tool("nested", calling(pool, "inner"));
    const auto id = pool.take_probe();
    pool.ask(id, 1, "nested");
    const auto failure = pool.failure();
    check_mentions(json::value_to<std::string>(failure.at("message")),
                   "health_check -> tool nested -> inner");
    pool.worker(0).reply(id);
}

BOOST_AUTO_TEST_CASE(a_warm_up_call_has_the_time_of_the_start) {
    time_point deadline;
    warming_pool pool(request("load"));
    pool.facade().register_tool("note", noting_deadline(deadline));
    const auto started = pool.start();
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "note");
    BOOST_TEST((deadline == clock::now() + 30s)); // start.timeout
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_warm_up_call_that_is_given_up_has_no_tools) {
    bool was_cancelled = false;
    time_point deadline;
    warming_pool pool(request("load").timeout(1s));
    pool.facade().register_tool("note", noting_deadline(deadline));
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto started = pool.start();
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "note");
    BOOST_TEST(pool.is_answered());
    BOOST_TEST((deadline == clock::now() + 1s));
    pool.ask(id, 2, "wait");
    pool.advance(1100ms);
    BOOST_TEST(was_cancelled);
    BOOST_TEST((pool.end_of_warm_up() == errc::timeout));
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
    pool.ask(id, 3, "wait");
    BOOST_TEST(pool.failure().at("type") == json::value("skep.Cancelled"));
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(started->value.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
