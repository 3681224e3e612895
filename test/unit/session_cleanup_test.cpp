// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "session/session_observer.hpp"
#include "support/complete.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(session_cleanup_test)

namespace {

/// A store with sessions that have all expired but one.
struct left_behind {
    static constexpr std::size_t many = 10'000;

    left_behind() {
        session_options options;
        options.quota = many + 1;
        store.emplace(options);
        for (std::size_t i = 0; i < many; ++i) {
            complete(store->create(std::to_string(i), session_data().ttl(10s)));
        }
        complete(store->create("lives", session_data().ttl(20s)));
        time.advance(11s);
    }

    manual_time time;
    std::optional<session_store> store;
};

struct listener final : session_observer {
    void on_session_removed(const std::string& id) noexcept override { removed.push_back(id); }
    void on_session_expired(const std::string& id, time_point at) noexcept override {
        expired.push_back(id);
        BOOST_TEST((at == created + 10s));
    }
    const time_point created = clock::now();
    std::vector<std::string> removed;
    std::vector<std::string> expired;
};

/// Runs `turns` steps of the operation, cancels it, and checks that it ends as cancelled.
template <class Operation>
void cancel_after(int turns, Operation operation) {
    asio::io_context context(1);
    asio::cancellation_signal cancel;
    std::exception_ptr problem;
    asio::co_spawn(context, std::move(operation),
                   asio::bind_cancellation_slot(
                       cancel.slot(), [&](std::exception_ptr error, const auto&) { problem = error; }));
    for (int i = 0; i < turns; ++i) {
        context.run_one();
    }
    cancel.emit(asio::cancellation_type::terminal);
    context.run();
    BOOST_REQUIRE(problem);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(problem), error,
                          [](const error& failure) { return failure.kind() == errc::cancelled; });
}

} // namespace

BOOST_AUTO_TEST_CASE(observers_are_told_of_sessions_that_have_expired_however_that_is_found_out) {
    manual_time time;
    session_store store;
    const auto heard = std::make_shared<listener>();
    observe(store, heard);
    for (const auto* id : {"read", "made anew", "swept", "lives"}) {
        complete(store.create(id, session_data().ttl(10s)));
    }
    time.advance(9s);
    complete(store.touch("lives"));
    time.advance(2s);
    BOOST_TEST(heard->expired.empty());
    BOOST_TEST(!complete(store.get("read")));
    complete(store.create("made anew"));
    BOOST_TEST((heard->expired == std::vector<std::string>{"read", "made anew"}));
    complete(store.cleanup_expired());
    BOOST_TEST((heard->expired == std::vector<std::string>{"read", "made anew", "swept"}));
    BOOST_TEST(!complete(store.remove("swept")));
    BOOST_TEST(heard->removed.empty());
    complete(store.remove("lives"));
    BOOST_TEST((heard->removed == std::vector<std::string>{"lives"}));
}

BOOST_AUTO_TEST_CASE(a_cleanup_drops_what_has_expired_and_counts_it) {
    left_behind of;
    BOOST_TEST(complete(of.store->stats()).current == of.many + 1);
    BOOST_TEST(complete(of.store->cleanup_expired()) == of.many);
    auto stats = complete(of.store->stats());
    BOOST_TEST(stats.current == 1u);
    BOOST_TEST(stats.expired == of.many);
    BOOST_TEST(stats.cleanup_runs == 1u);
    BOOST_TEST(complete(of.store->cleanup_expired()) == 0u);
    stats = complete(of.store->stats());
    BOOST_TEST(stats.cleanup_runs == 2u);
    BOOST_TEST(complete(of.store->remove("lives")));
    BOOST_TEST(complete(of.store->stats()).memory_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(others_have_their_turn_during_a_cleanup) {
    left_behind of;
    asio::io_context context(1);
    bool done = false;
    asio::co_spawn(context, of.store->cleanup_expired(),
                   [&](const std::exception_ptr&, std::size_t) { done = true; });
    int turns = 0;
    std::function<void()> take_turns = [&] {
        if (!done) {
            ++turns;
            asio::post(context, take_turns);
        }
    };
    asio::post(context, take_turns);
    context.run();
    BOOST_TEST(turns >= 78); // 10,000 in portions of 128
    BOOST_TEST(complete(of.store->stats()).current == 1u);
}

BOOST_AUTO_TEST_CASE(a_cleanup_can_be_cancelled_and_what_was_swept_stays_swept) {
    left_behind of;
    cancel_after(6, of.store->cleanup_expired());
    const auto stats = complete(of.store->stats());
    BOOST_TEST(stats.current < of.many + 1);
    BOOST_TEST(stats.current > of.many / 2);
    BOOST_TEST(stats.cleanup_runs == 0u);
    BOOST_TEST(complete(of.store->cleanup_expired()) == stats.current - 1);
}

namespace {

/// Cancels the cleanup that it hears of first.
struct canceller final : session_observer {
    void on_session_removed(const std::string&) noexcept override {}
    void on_session_expired(const std::string&, time_point) noexcept override {
        signal.emit(asio::cancellation_type::terminal);
    }
    asio::cancellation_signal signal;
};

/// Asio 1.81 does not call the handler of a coroutine that is cancelled before it was suspended.
asio::awaitable<std::size_t> after_a_turn(asio::awaitable<std::size_t> cleanup) {
    co_await asio::post(asio::use_awaitable);
    co_return co_await std::move(cleanup);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_cleanup_that_is_cancelled_as_it_sweeps_ends_as_cancelled) {
    left_behind of;
    const auto observer = std::make_shared<canceller>();
    observe(*of.store, observer);
    asio::io_context context(1);
    std::exception_ptr problem;
    asio::co_spawn(
        context, after_a_turn(of.store->cleanup_expired()),
        asio::bind_cancellation_slot(observer->signal.slot(),
                                     [&](std::exception_ptr error, std::size_t) { problem = error; }));
    context.run();
    BOOST_REQUIRE(problem);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(problem), error,
                          [](const error& failure) { return failure.kind() == errc::cancelled; });
}

namespace {

/// A full store whose sessions were accessed since they were filed: a search for a place looks at each before
/// it finds the one that has expired.
/// A full store. All its sessions, but one perhaps, were accessed after they were filed, and live.
struct full_of_living {
    static constexpr std::size_t many = 1'000;

    explicit full_of_living(bool is_one_expired) {
        for (std::size_t i = 0; i < many; ++i) {
            complete(store.create(std::to_string(i), session_data().ttl(1000s)));
        }
        time.advance(1s);
        complete(store.create("expires", session_data().ttl(1000s)));
        time.advance(99s);
        for (std::size_t i = 0; i < many; ++i) {
            complete(store.touch(std::to_string(i)));
        }
        if (!is_one_expired) {
            complete(store.touch("expires"));
        }
        time.advance(902s);
    }

    static session_options options() {
        session_options result;
        result.quota = many + 1;
        return result;
    }

    manual_time time;
    session_store store{options()};
};

} // namespace

BOOST_AUTO_TEST_CASE(a_new_session_takes_the_place_of_an_expired_one_however_many_live) {
    full_of_living of(true);
    BOOST_TEST(complete(of.store.create("new")).id() == "new");
    BOOST_TEST((failure_of_complete(of.store.create("beyond")).kind() == errc::session_quota_exceeded));
}

BOOST_AUTO_TEST_CASE(a_search_for_a_place_can_be_cancelled) {
    full_of_living of(false);
    cancel_after(4, of.store.create("beyond"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
