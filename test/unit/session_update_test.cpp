// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Updates that meet others, on a server that several services use.

#include "core/clock.hpp"
#include "support/complete.hpp"
#include "support/remote_sessions.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(session_update_test)

namespace {

/// A store on a server, and what others do there just before a replacement of its own arrives.
struct shared_server {
    std::shared_ptr<key_value_server> server = std::make_shared<key_value_server>();
    std::shared_ptr<remote_sessions> connection = std::make_shared<remote_sessions>(server);
    session_store store{{}, connection};
    session_store neighbour{{}, std::make_shared<remote_sessions>(server)};

    void before_replacements(std::function<void()> what) {
        connection->on_arrival = [what](const std::string& operation) {
            if (operation == "replace") {
                what();
            }
        };
    }
};

void count(session_data& data) {
    const auto* const counted = data.metadata().if_contains("n");
    data.metadata("n", counted == nullptr ? 1 : counted->as_int64() + 1);
}

} // namespace

BOOST_AUTO_TEST_CASE(an_update_that_others_were_faster_than_is_made_on_theirs) {
    shared_server shared;
    complete(shared.store.create("a"));
    int meddling = 3;
    shared.before_replacements([&] {
        if (meddling-- > 0) {
            complete(shared.neighbour.update("a", count));
        }
    });
    int calls = 0;
    auto change = [&](session_data& data) {
        ++calls;
        count(data);
    };
    const auto updated = complete(shared.store.update("a", change));
    BOOST_TEST((updated.metadata() == json::object{{"n", 4}}));
    BOOST_TEST(calls == 4);
}

BOOST_AUTO_TEST_CASE(an_update_of_one_that_goes_meanwhile_fails) {
    shared_server shared;
    complete(shared.store.create("a"));
    shared.before_replacements([&] { complete(shared.neighbour.remove("a")); });
    BOOST_TEST((failure_of_complete(shared.store.update("a", count)).kind() == errc::session_not_found));
}

BOOST_AUTO_TEST_CASE(an_update_never_reaches_a_session_that_came_after_its_own) {
    shared_server shared;
    complete(shared.store.create("a"));
    bool is_first = true;
    shared.before_replacements([&] {
        if (std::exchange(is_first, false)) {
            complete(shared.neighbour.remove("a"));
            complete(shared.neighbour.create("a", session_data().metadata("n", 10)));
        }
    });
    const auto updated = complete(shared.store.update("a", count));
    BOOST_TEST((updated.metadata() == json::object{{"n", 11}}));
}

BOOST_AUTO_TEST_CASE(an_update_that_never_succeeds_can_be_cancelled) {
    shared_server shared;
    complete(shared.store.create("a"));
    asio::cancellation_signal cancel;
    int attempts = 0;
    shared.before_replacements([&] {
        complete(shared.neighbour.update("a", count));
        if (++attempts == 5) {
            cancel.emit(asio::cancellation_type::terminal);
        }
    });
    asio::io_context context(1);
    std::exception_ptr problem;
    asio::co_spawn(
        context, shared.store.update("a", count),
        asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr error,
                                                        const std::optional<session>&) { problem = error; }));
    context.run();
    BOOST_REQUIRE(problem);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(problem), error,
                          [](const error& failure) { return failure.kind() == errc::cancelled; });
    BOOST_TEST(attempts == 5);
    BOOST_TEST((complete(shared.neighbour.get("a"))->metadata() == json::object{{"n", 5}}));
}

namespace {

/// An update in this process that can be cancelled.
struct cancellable_update {
    void begin(std::function<void(session_data&)> change) {
        complete(store.create("a"));
        auto record_end = [this](std::exception_ptr error, const std::optional<session>&) {
            problem = error;
        };
        asio::co_spawn(context, after_a_turn(store.update("a", std::move(change))),
                       asio::bind_cancellation_slot(cancel.slot(), std::move(record_end)));
    }

    /// Asio 1.81 does not call the handler of a coroutine that is cancelled before it was suspended.
    static asio::awaitable<session> after_a_turn(asio::awaitable<session> update) {
        co_await asio::post(asio::use_awaitable);
        co_return co_await std::move(update);
    }

    void check_cancelled() {
        context.run();
        BOOST_REQUIRE(problem);
        BOOST_CHECK_EXCEPTION(std::rethrow_exception(problem), error,
                              [](const error& failure) { return failure.kind() == errc::cancelled; });
    }

    session_store store;
    asio::io_context context{1};
    asio::cancellation_signal cancel;
    std::exception_ptr problem;
};

} // namespace

BOOST_AUTO_TEST_CASE(an_update_that_is_cancelled_by_its_own_function_changes_nothing) {
    cancellable_update of;
    of.begin([&](session_data& data) {
        count(data);
        of.cancel.emit(asio::cancellation_type::terminal);
    });
    of.check_cancelled();
    BOOST_TEST(complete(of.store.peek("a"))->metadata().empty());
}

BOOST_AUTO_TEST_CASE(an_update_can_be_cancelled_while_others_have_their_turn) {
    cancellable_update of;
    int attempts = 0;
    of.begin([&](session_data& data) {
        ++attempts;
        complete(of.store.update("a", count));
        count(data);
    });
    while (attempts < 3) {
        of.context.run_one();
    }
    of.cancel.emit(asio::cancellation_type::terminal);
    of.check_cancelled();
    BOOST_TEST(attempts <= 4); // Asio passes a cancellation on in a turn of its own
    BOOST_TEST((complete(of.store.peek("a"))->metadata() == json::object{{"n", attempts}}));
}

BOOST_AUTO_TEST_CASE(what_a_backend_throws_reaches_the_caller) {
    shared_server shared;
    shared.connection->on_arrival = [](const std::string&) { throw error(errc::unavailable, {}); };
    BOOST_TEST((failure_of_complete(shared.store.get("a")).kind() == errc::unavailable));
    BOOST_TEST((failure_of_complete(shared.store.update("a", count)).kind() == errc::unavailable));
    BOOST_TEST((failure_of_complete(shared.store.create("a")).kind() == errc::unavailable));
    shared.connection->on_arrival = nullptr;
    BOOST_TEST(complete(shared.store.stats()).created == 0u);
}

BOOST_AUTO_TEST_CASE(two_services_share_sessions) {
    shared_server shared;
    complete(shared.store.create("a", session_data().metadata("n", 1)));
    BOOST_TEST((complete(shared.neighbour.create("a")).metadata() == json::object{{"n", 1}}));
    BOOST_TEST(complete(shared.neighbour.remove("a")));
    BOOST_TEST(!complete(shared.store.get("a")));
    BOOST_TEST(complete(shared.store.stats()).created == 1u);
    BOOST_TEST(complete(shared.neighbour.stats()).deleted == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
