// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"
#include <skep/event_bus.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(event_bus_test)

namespace {

using events::heartbeat_missed;
using events::ping_sent;

struct bench {
    void miss(int count) {
        bus->emit<heartbeat_missed>([&] { return heartbeat_missed{{}, count, 0}; });
    }
    void ping() {
        bus->emit<ping_sent>([] { return ping_sent(); });
    }
    void run() {
        context.restart();
        context.poll();
    }

    asio::io_context context{1};
    std::unique_ptr<event_bus> bus = std::make_unique<event_bus>();
};

/// Reads to the end.
template <class Stream>
asio::awaitable<void> read(Stream from, std::vector<typename Stream::value_type>& into) {
    for (;;) {
        auto waiting = from.next();
        auto next = co_await std::move(waiting);
        if (!next) {
            co_return;
        }
        into.push_back(std::move(*next));
    }
}

} // namespace

BOOST_AUTO_TEST_CASE(nothing_is_made_for_nobody) {
    bench it;
    BOOST_TEST(!it.bus->wants<ping_sent>());
    it.bus->emit<ping_sent>([]() -> ping_sent { throw std::runtime_error("made"); });
    const auto other = it.bus->subscribe<heartbeat_missed>();
    it.bus->emit<ping_sent>([]() -> ping_sent { throw std::runtime_error("made"); });
    BOOST_TEST(it.bus->wants<heartbeat_missed>());
    BOOST_TEST(!it.bus->wants<ping_sent>());
}

BOOST_AUTO_TEST_CASE(one_is_told_of_what_it_has_asked_for_in_order_until_the_bus_is_gone) {
    bench it;
    std::vector<heartbeat_missed> misses;
    std::vector<event> both;
    std::vector<event> all;
    asio::co_spawn(it.context, read(it.bus->subscribe<heartbeat_missed>(), misses), asio::detached);
    asio::co_spawn(it.context, read(it.bus->subscribe<heartbeat_missed, ping_sent>(), both), asio::detached);
    asio::co_spawn(it.context, read(it.bus->subscribe<>(), all), asio::detached);
    it.miss(1);
    it.ping();
    it.run();
    it.miss(2);
    it.bus->emit<events::heartbeat_failed>([] { return events::heartbeat_failed(); });
    BOOST_TEST(misses.size() == 1u);
    it.bus.reset();
    it.run();
    BOOST_REQUIRE(misses.size() == 2u);
    BOOST_TEST(misses[0].count == 1);
    BOOST_TEST(misses[1].count == 2);
    BOOST_TEST(both.size() == 3u);
    BOOST_TEST(all.size() == 4u);
    BOOST_TEST(it.context.stopped());
}

BOOST_AUTO_TEST_CASE(a_handler_of_two_types_is_called_for_both_in_order) {
    bench it;
    std::vector<std::string> names;
    const auto listening = it.bus->listen<heartbeat_missed, ping_sent>(
        it.context.get_executor(), [&](const event& each) { names.emplace_back(name_of(each)); });
    it.ping();
    it.bus->emit<events::heartbeat_failed>([] { return events::heartbeat_failed(); });
    it.miss(1);
    it.run();
    const std::vector<std::string> expected{"heartbeat.ping_sent", "heartbeat.missed"};
    BOOST_TEST(names == expected, boost::test_tools::per_element());
    BOOST_TEST(!it.bus->wants<events::heartbeat_failed>());
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_is_dropped_and_counted) {
    bench it;
    auto slow = it.bus->subscribe<heartbeat_missed>(3);
    auto fast = it.bus->subscribe<heartbeat_missed>();
    for (int i = 0; i < 5; ++i) {
        it.miss(i);
    }
    BOOST_TEST(slow.dropped() == 2u);
    BOOST_TEST(fast.dropped() == 0u);
    slow.close();
    it.miss(5);
    std::vector<heartbeat_missed> read_late;
    asio::co_spawn(it.context, read(std::move(slow), read_late), asio::detached);
    it.run();
    BOOST_TEST(read_late.size() == 3u);
    BOOST_TEST(fast.dropped() == 0u);
}

BOOST_AUTO_TEST_CASE(a_handler_is_called_until_its_subscription_ends) {
    bench it;
    std::vector<int> counts;
    auto first = it.bus->listen<heartbeat_missed>(
        it.context.get_executor(), [&](const heartbeat_missed& each) { counts.push_back(each.count); });
    it.miss(1);
    it.run();
    it.miss(2); // it is not read before the end
    first = subscription();
    it.miss(3);
    it.run();
    BOOST_TEST(counts == std::vector{1}, boost::test_tools::per_element());
    BOOST_TEST(!it.bus->wants<heartbeat_missed>());
    BOOST_TEST(it.context.stopped());
}

BOOST_AUTO_TEST_CASE(one_that_throws_is_told_all_the_same_and_hurts_nobody) {
    bench it;
    int calls = 0;
    const auto bad = it.bus->listen<heartbeat_missed>(it.context.get_executor(), [&](const auto&) {
        ++calls;
        throw std::runtime_error("no");
    });
    it.miss(1);
    it.miss(2);
    it.run();
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_cancelled_and_goes_on_afterwards) {
    bench it;
    auto stream = it.bus->subscribe<heartbeat_missed>();
    asio::cancellation_signal cancel;
    std::optional<errc> failure;
    auto on_end = [&](const std::exception_ptr& problem, const std::optional<heartbeat_missed>&) {
        try {
            std::rethrow_exception(problem);
        } catch (const error& cancelled) {
            failure = cancelled.kind();
        }
    };
    asio::co_spawn(it.context, stream.next(), asio::bind_cancellation_slot(cancel.slot(), on_end));
    it.run();
    cancel.emit(asio::cancellation_type::terminal);
    it.run();
    BOOST_TEST((failure == errc::cancelled));
    it.miss(7);
    int seen = 0;
    asio::co_spawn(it.context, stream.next(),
                   [&](const std::exception_ptr&, const std::optional<heartbeat_missed>& next) {
                       seen = next ? next->count : 0;
                   });
    it.run();
    BOOST_TEST(seen == 7);
}

BOOST_AUTO_TEST_CASE(a_context_may_be_destroyed_while_they_wait) {
    std::vector<event> all;
    event_bus bus;
    subscription listening;
    {
        asio::io_context context(1);
        asio::co_spawn(context, read(bus.subscribe<>(), all), asio::detached);
        listening = bus.listen<ping_sent>(context.get_executor(), [](const ping_sent&) {});
        context.poll();
    }
    bus.emit<ping_sent>([] { return ping_sent(); });
    BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(a_stream_may_be_read_in_one_context_after_the_other) {
    bench it;
    auto stream = it.bus->subscribe<heartbeat_missed>();
    std::vector<int> counts;
    const auto read_one = [&](asio::io_context& context) {
        asio::co_spawn(context, stream.next(),
                       [&](const std::exception_ptr&, const std::optional<heartbeat_missed>& next) {
                           counts.push_back(next ? next->count : 0);
                       });
        context.restart();
        context.poll();
    };
    auto first = std::make_unique<asio::io_context>(1);
    it.miss(1);
    read_one(*first);
    read_one(it.context);
    first.reset();
    it.miss(2);
    it.run();
    BOOST_TEST(counts == (std::vector{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(from_any_thread) {
    bench it;
    std::vector<heartbeat_missed> misses;
    asio::co_spawn(it.context, read(it.bus->subscribe<heartbeat_missed>(100'000), misses), asio::detached);
    constexpr int each = 2000;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int count = 0; count < each; ++count) {
                it.miss(count);
                const auto short_lived = it.bus->subscribe<ping_sent>();
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    it.bus.reset();
    it.run();
    BOOST_TEST(misses.size() == 4u * each);
}

BOOST_AUTO_TEST_CASE(its_capacity_has_a_range) {
    bench it;
    BOOST_CHECK_THROW(it.bus->subscribe<>(0), error);
    BOOST_CHECK_THROW(it.bus->subscribe<>(1'000'001), error);
}

BOOST_AUTO_TEST_CASE(one_of_nothing_has_nothing) {
    bench it;
    event_stream<ping_sent> none;
    std::vector<ping_sent> read_from_it;
    asio::co_spawn(it.context, read(std::move(none), read_from_it), asio::detached);
    it.run();
    BOOST_TEST(it.context.stopped());
    BOOST_TEST(event_stream<ping_sent>().dropped() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
