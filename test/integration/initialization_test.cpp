// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A delegate that gives each worker a device and warms it up, among real processes.

#include "support/run.hpp"

#include <map>
#include <set>
#include <stdexcept>

namespace skep::test {

namespace {

/// Deals out as many devices as there are, and takes them back.
class device_dealer final : public initialization_delegate {
public:
    explicit device_dealer(std::set<std::string> devices) : free_(std::move(devices)) {}

    asio::awaitable<launch_options> before_launch(worker_id worker, launch_options planned) override {
        if (free_.empty()) {
            throw std::runtime_error("no device is free");
        }
        held_[worker] = *free_.begin();
        free_.erase(free_.begin());
        planned.environment["DEVICE"] = held_[worker];
        co_return planned;
    }

    asio::awaitable<void> warm_up(worker_id worker, call_interface& calls) override {
        request question = request("environment").arg("name", "DEVICE");
        const reply answer = co_await calls.execute(std::move(question));
        if (answer.value.as_string() != held_[worker] || answer.worker != worker) {
            throw std::runtime_error("it has another device");
        }
        ++warm;
    }

    asio::awaitable<void> after_end(worker_exit end) override {
        if (const auto held = held_.extract(end.id)) {
            free_.insert(held.mapped());
        }
        co_return;
    }

    std::size_t free() const noexcept { return free_.size(); }

    int warm = 0;

private:
    std::set<std::string> free_;
    std::map<worker_id, std::string> held_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(initialization)

BOOST_AUTO_TEST_CASE(each_worker_has_a_device_of_its_own_and_gives_it_back) {
    const auto dealer = std::make_shared<device_dealer>(std::set<std::string>{"a", "b"});
    auto config = quick(basic_pool(2));
    config.initialization.delegate = dealer;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        BOOST_TEST(dealer->warm == 2);
        BOOST_TEST(dealer->free() == 0u);
        request deadly = request("die");
        auto dying = workers.execute(std::move(deadly));
        co_await failure_of(std::move(dying));
        auto is_whole_again = [&workers]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.live == 2 && status.counters.workers_lost == 1;
        };
        const bool whole = co_await eventually(is_whole_again);
        BOOST_TEST(whole);
        BOOST_TEST(dealer->warm == 3);
        co_await workers.shutdown();
        BOOST_TEST(dealer->free() == 2u);
    });
}

BOOST_AUTO_TEST_CASE(it_may_start_another_program) {
    class other_program final : public initialization_delegate {
        asio::awaitable<launch_options> before_launch(worker_id, launch_options planned) override {
            planned.program = "/no/such/program";
            co_return planned;
        }
    };
    auto config = basic_pool();
    config.initialization.delegate = std::make_shared<other_program>();
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto problem = co_await failure_of(std::move(starting));
        const std::string text = problem.what();
        BOOST_TEST(text.find("/no/such/program") != std::string::npos, text);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
