// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Updates that meet others, on a server that several services use.

#include "core/clock.hpp"
#include "support/complete.hpp"
#include "support/remote_sessions.hpp"
#include <skep/session_store.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

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
    BOOST_TEST((failure_of_complete(shared.store.update("a", count)).errc() == errc::session_not_found));
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
                          [](const error& failure) { return failure.errc() == errc::cancelled; });
    BOOST_TEST(attempts == 5);
    BOOST_TEST((complete(shared.neighbour.get("a"))->metadata() == json::object{{"n", 5}}));
}

BOOST_AUTO_TEST_CASE(what_a_backend_throws_reaches_the_caller) {
    shared_server shared;
    shared.connection->on_arrival = [](const std::string&) { throw error(errc::unavailable, {}); };
    BOOST_TEST((failure_of_complete(shared.store.get("a")).errc() == errc::unavailable));
    BOOST_TEST((failure_of_complete(shared.store.update("a", count)).errc() == errc::unavailable));
    BOOST_TEST((failure_of_complete(shared.store.create("a")).errc() == errc::unavailable));
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
