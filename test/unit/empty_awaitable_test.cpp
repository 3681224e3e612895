// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Asio resumes a null coroutine where an awaitable is empty. What user code returns is looked at before.

#include "support/asking_pool.hpp"
#include "support/complete.hpp"
#include <skep/initialization_delegate.hpp>
#include <skep/retry.hpp>
#include <skep/session_store.hpp>

#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <stdexcept>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(empty_awaitables)

namespace {

const std::string empty_one = "returned an empty awaitable";

/// Whose hook of that name returns one.
class hollow_delegate final : public initialization_delegate {
public:
    explicit hollow_delegate(std::string hook) : hook_(std::move(hook)) {}

    asio::awaitable<void> before_first_worker() override {
        return hook_ == "before_first_worker" ? asio::awaitable<void>()
                                              : initialization_delegate::before_first_worker();
    }
    asio::awaitable<launch_options> before_launch(worker_id worker, launch_options plan) override {
        return hook_ == "before_launch" ? asio::awaitable<launch_options>()
                                        : initialization_delegate::before_launch(worker, std::move(plan));
    }
    asio::awaitable<void> warm_up(worker_id worker, call_interface& calls) override {
        return hook_ == "warm_up" ? asio::awaitable<void>() : initialization_delegate::warm_up(worker, calls);
    }
    asio::awaitable<void> after_end(worker_exit end) override {
        return hook_ == "after_end" ? asio::awaitable<void>()
                                    : initialization_delegate::after_end(std::move(end));
    }

private:
    std::string hook_;
};

pool_config with_hollow(const std::string& hook) {
    auto config = fake_config();
    config.initialization.delegate = std::make_shared<hollow_delegate>(hook);
    return config;
}

class hollow_backend final : public session_backend {
public:
    awaitable<session_insertion> insert(std::string, session_data, session::wall_time, std::size_t) override {
        return {};
    }
    awaitable<std::optional<session>> find(std::string, session_access) override { return {}; }
    awaitable<session_replacement> replace(session, session_data) override { return {}; }
    awaitable<bool> touch(std::string) override { return {}; }
    awaitable<bool> remove(std::string) override { return {}; }
    awaitable<session_sweep> sweep(std::size_t) override { return {}; }
    awaitable<session_usage> usage() override { return {}; }
};

/// The text of the std::logic_error that the operation ends with.
template <class T>
std::string complaint_of(asio::awaitable<T> operation) {
    try {
        complete(std::move(operation));
    } catch (const std::logic_error& problem) {
        return problem.what();
    }
    return "none";
}

} // namespace

BOOST_AUTO_TEST_CASE(a_tool) {
    asking pool;
    pool.facade().register_tool("empty", [](tool_call) { return asio::awaitable<tool_reply>(); });
    pool.execute(request("predict"));
    const auto id = pool.worker(0).take_call();
    pool.ask(id, 1, "empty");
    const auto refused = pool.failure();
    BOOST_TEST(refused.at("type") == boost::json::value("std::logic_error"));
    check_mentions(boost::json::value_to<std::string>(refused.at("message")), "the tool " + empty_one);
}

BOOST_AUTO_TEST_CASE(a_probe) {
    auto config = fake_config();
    config.health_check.probe = [](worker_id, pid_t) { return asio::awaitable<void>(); };
    running_pool pool(config);
    pool.advance(config.health_check.interval, 1s);
    BOOST_TEST((pool.worker_status_of(0).state == worker_state::degraded));
    check_mentions(pool.worker_status_of(0).last_transition->reason, empty_one);
}

BOOST_AUTO_TEST_CASE(hooks_of_a_start) {
    for (const std::string hook : {"before_first_worker", "before_launch", "warm_up"}) {
        manual_pool pool(with_hollow(hook));
        const auto started = pool.start();
        pool.advance(1min, 1s);
        BOOST_TEST((started->code() == errc::start_failed));
        check_mentions(started->text(), hook + ": it " + empty_one);
    }
}

BOOST_AUTO_TEST_CASE(the_hook_of_an_end) {
    running_pool pool(with_hollow("after_end"));
    const auto report = pool.shutdown();
    pool.advance(1s);
    BOOST_TEST(report->done);
}

BOOST_AUTO_TEST_CASE(session_backends) {
    session_store store({}, std::make_shared<hollow_backend>());
    BOOST_TEST(complaint_of(store.create("a")).starts_with("session_backend::insert " + empty_one));
    BOOST_TEST(complaint_of(store.get("a")).starts_with("session_backend::find " + empty_one));
    BOOST_TEST(complaint_of(store.update("a", [](session_data&) {})).ends_with("moved-from one"));
    BOOST_TEST(complaint_of(store.touch("a")).ends_with("moved-from one"));
    BOOST_TEST(complaint_of(store.remove("a")).ends_with("moved-from one"));
    BOOST_TEST(complaint_of(store.cleanup_expired()).ends_with("moved-from one"));
    BOOST_TEST(complaint_of(store.stats()).ends_with("moved-from one"));
}

BOOST_AUTO_TEST_CASE(what_is_retried) {
    BOOST_TEST(complaint_of(retry(retry_policy(), [] {
                   return asio::awaitable<int>();
               })).starts_with("the operation " + empty_one));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
