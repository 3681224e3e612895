// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What becomes of operations when the server, the network or another user of it makes trouble.

#include "support/redis_process.hpp"

#include <boost/asio/strand.hpp>

#include <array>
#include <atomic>
#include <cstdlib>

namespace skep::test {

namespace {

/// Has the server do something else, by its own client.
void command(const redis_process& server, const std::string& words) {
    const auto line = "redis-cli -s " + server.options().unix_socket + " " + words + " >/dev/null";
    BOOST_REQUIRE(std::system(line.c_str()) == 0);
}

/// Fails the test unless the operation failed for a reason that `cause` is part of.
void expect_failed(const error& failure, const std::string& cause) {
    BOOST_TEST(failure.kind() == errc::session_backend_failed);
    BOOST_TEST(contains(failure.what(), cause), failure.what());
}

/// Runs an operation that is to fail beside the test.
asio::awaitable<void> keep_failure(asio::awaitable<bool> operation, std::optional<error>& failure) {
    failure = co_await failure_of(std::move(operation));
}

void ignore(const std::exception_ptr&) {}

} // namespace

BOOST_AUTO_TEST_SUITE(redis_trouble_test)

BOOST_AUTO_TEST_CASE(no_update_of_two_services_is_lost) {
    constexpr int updates = 200;
    std::atomic<int> open{2};
    auto body = [&](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service one(context, server.options());
        redis_service other(context, server.options());
        co_await one.store.create("shared");
        auto work = [](session_store& store) -> asio::awaitable<void> {
            for (int i = 0; i < updates; ++i) {
                co_await store.update("shared", count_up);
            }
        };
        for (auto* const store : {&one.store, &other.store}) {
            asio::co_spawn(asio::make_strand(context), work(*store),
                           [&](const std::exception_ptr& problem) { open -= problem ? 100 : 1; });
        }
        auto is_over = [&] { return open <= 0; };
        const bool ended = co_await eventually(is_over);
        BOOST_TEST((ended && open == 0));
        const auto left = co_await one.store.get("shared");
        BOOST_TEST((left->metadata() == json::object{{"n", 2 * updates}}));
    };
    with_redis(body, 2);
}

BOOST_AUTO_TEST_CASE(many_operations_of_many_threads_share_a_connection) {
    constexpr int users = 20;
    std::atomic<int> open{users};
    auto body = [&](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto work = [&store = service.store](int user) -> asio::awaitable<void> {
            const auto id = std::to_string(user);
            auto data =
                session_data().metadata("text", std::string(static_cast<std::size_t>(user) * 5'000, 'x'));
            for (int i = 0; i < 50; ++i) {
                co_await store.create(id, data);
                const auto found = co_await store.get(id);
                if (found->id() != id || found->metadata() != data.metadata()) {
                    throw std::logic_error("another's session");
                }
                co_await store.remove(id);
            }
        };
        for (int user = 0; user < users; ++user) {
            asio::co_spawn(context, work(user),
                           [&](const std::exception_ptr& problem) { open -= problem ? 100 : 1; });
        }
        auto is_over = [&] { return open <= 0; };
        const bool ended = co_await eventually(is_over, 60s);
        BOOST_TEST((ended && open == 0));
    };
    with_redis(body, 4);
}

BOOST_AUTO_TEST_CASE(it_works_again_when_the_server_is_back) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        server.kill();
        for (int i = 0; i < 3; ++i) {
            const auto failure = co_await failure_of(service.store.get("a"));
            expect_failed(failure, "find: no connection to ");
        }
        server.start();
        const auto found = co_await service.store.get("a");
        BOOST_TEST(!found.has_value()); // it kept nothing
        co_await service.store.create("a");
        server.kill();
        server.start();
        const bool is_there = co_await service.store.touch("a"); // the loss was seen before it was sent
        BOOST_TEST(!is_there);
    });
}

BOOST_AUTO_TEST_CASE(operations_under_way_on_a_lost_connection_fail) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        server.freeze();
        std::array<std::optional<error>, 2> failures;
        for (auto& failure : failures) {
            asio::co_spawn(context, keep_failure(service.store.touch("a"), failure), ignore);
        }
        co_await pause(50ms);
        BOOST_TEST((!failures[0] && !failures[1]));
        server.kill();
        auto both = [&] { return failures[0] && failures[1]; };
        const bool ended = co_await eventually(both);
        BOOST_REQUIRE(ended);
        expect_failed(*failures[0], "touch: the connection was lost: ");
        expect_failed(*failures[1], "touch: the connection was lost: ");
    });
}

BOOST_AUTO_TEST_CASE(a_frozen_server_is_not_waited_for_for_ever) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        auto options = server.options();
        options.operation_timeout = 100ms;
        options.connect_timeout = 150ms;
        options.password = "sesame"; // which has to be answered, too
        command(server, "config set requirepass sesame");
        redis_service service(context, options);
        co_await service.store.create("a");
        server.freeze();
        const auto sent = co_await failure_of(service.store.get("a"));
        expect_failed(sent, "find: no answer within 100 ms");
        const auto not_sent = co_await failure_of(service.store.get("a"));
        expect_failed(not_sent, "within 150 ms");
        server.thaw();
        const auto found = co_await service.store.get("a");
        BOOST_TEST(found.has_value());
    });
}

BOOST_AUTO_TEST_CASE(keys_of_others_are_left_alone) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        command(server, "set skep:session:a secret");
        const std::string meaning = ": WRONGTYPE: a key under the prefix holds something else";
        const auto in_create = co_await failure_of(service.store.create("a"));
        expect_failed(in_create, "insert" + meaning);
        const auto in_get = co_await failure_of(service.store.get("a"));
        expect_failed(in_get, "find" + meaning);
        const auto in_remove = co_await failure_of(service.store.remove("a"));
        expect_failed(in_remove, "remove" + meaning);
        BOOST_TEST(!contains(in_get.what(), "secret"));
        command(server, "hset skep:session:b version 1 ttl 1 created x born 1 seen 1 data secret");
        const auto foreign = co_await failure_of(service.store.peek("b"));
        expect_failed(foreign, "find: what a key under the prefix holds is no session");
        for (const std::string text : {"[]", "{}", "1", "\\{\\\"metadata\\\":1\\}"}) {
            command(server, "hset skep:session:b created 1 data " + text);
            const auto odd = co_await failure_of(service.store.peek("b"));
            expect_failed(odd, "find: what a key under the prefix holds is no session");
        }
        command(server, "hdel skep:session:b seen");
        const auto in_part = co_await failure_of(service.store.peek("b"));
        expect_failed(in_part, "find: the server refused it: ERR");
        command(server, "set skep:index x");
        const auto in_stats = co_await failure_of(service.store.stats());
        expect_failed(in_stats, "usage" + meaning);
        const auto without_index = co_await failure_of(service.store.create("c"));
        expect_failed(without_index, "insert" + meaning);
        command(server, "del skep:index");
        const auto not_created = co_await service.store.get("c");
        BOOST_TEST(!not_created.has_value());
    });
}

BOOST_AUTO_TEST_CASE(a_session_that_another_service_may_store_is_not_read_beyond_the_limit) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service roomy(context, server.options());
        auto options = server.options();
        options.session_bytes = 1'024;
        redis_service narrow(context, options);
        auto data = session_data().metadata("text", std::string(1'025, 'x'));
        co_await roomy.store.create("large", data);
        co_await roomy.store.create("small");
        const std::string meaning = ": TOOLONG: the session takes more than this service's session_bytes";
        const auto in_get = co_await failure_of(narrow.store.get("large"));
        expect_failed(in_get, "find" + meaning);
        const auto in_create = co_await failure_of(narrow.store.create("large"));
        expect_failed(in_create, "insert" + meaning);
        const auto other = co_await narrow.store.get("small"); // by the same connection
        BOOST_TEST(other.has_value());
        const bool was_there = co_await narrow.store.remove("large");
        BOOST_TEST(was_there);
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_memory_says_so) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        command(server, "config set maxmemory 1");
        const auto failure = co_await failure_of(service.store.create("a"));
        expect_failed(failure, "insert: OOM: the server has no memory left");
    });
}

BOOST_AUTO_TEST_CASE(a_password_and_a_database_are_used_before_all_else) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        command(server, "config set requirepass sesame");
        redis_service stranger(context, server.options());
        const auto refused = co_await failure_of(stranger.store.get("a"));
        expect_failed(refused, "find: NOAUTH: the server wants a password");
        auto options = server.options();
        options.password = "guessed";
        redis_service guesser(context, options);
        const auto wrong = co_await failure_of(guesser.store.get("a"));
        expect_failed(wrong, "WRONGPASS");
        BOOST_TEST(!contains(wrong.what(), "guessed"));
        options.password = "sesame";
        redis_service first(context, options);
        co_await first.store.create("a");
        options.username = "default";
        options.database = 3;
        redis_service third(context, options);
        const auto elsewhere = co_await third.store.get("a");
        BOOST_TEST(!elsewhere.has_value());
        options.database = 99;
        redis_service nowhere(context, options);
        const auto no_such = co_await failure_of(nowhere.store.get("a"));
        expect_failed(no_such, "the server refused it: ERR");
    });
}

BOOST_AUTO_TEST_CASE(what_is_cancelled_before_it_was_sent_is_never_done) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        auto options = server.options();
        options.database = 1; // which the server is to select before anything is sent
        options.connect_timeout = 1min;
        redis_service service(context, options);
        server.freeze();
        asio::cancellation_signal cancel;
        auto drop = [](const std::exception_ptr&, const std::optional<session>&) {};
        asio::co_spawn(context, service.store.create("cancelled"),
                       asio::bind_cancellation_slot(cancel.slot(), drop));
        asio::co_spawn(context, service.store.create("done"), drop);
        co_await pause(50ms);
        cancel.emit(asio::cancellation_type::terminal);
        co_await pause(10ms);
        server.thaw();
        auto is_done = [&]() -> asio::awaitable<bool> {
            const auto found = co_await service.store.peek("done");
            co_return found.has_value();
        };
        const bool was_done = co_await eventually(is_done);
        const auto cancelled = co_await service.store.peek("cancelled");
        BOOST_TEST((was_done && !cancelled));
    });
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_cancelled) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        server.freeze();
        asio::cancellation_signal cancel;
        std::optional<error> failure;
        asio::co_spawn(context, keep_failure(service.store.remove("a"), failure),
                       asio::bind_cancellation_slot(cancel.slot(), ignore));
        co_await pause(20ms);
        BOOST_TEST(!failure);
        cancel.emit(asio::cancellation_type::terminal);
        auto is_over = [&] { return failure.has_value(); };
        const bool ended = co_await eventually(is_over);
        BOOST_REQUIRE(ended);
        BOOST_TEST(failure->kind() == errc::cancelled);
        server.thaw();
        const auto found = co_await service.store.get("a"); // and not what the other was answered
        BOOST_TEST(!found.has_value());
    });
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_its_operations_along) {
    const leak_audit audit;
    redis_process server;
    {
        asio::io_context context(1);
        redis_service service(context, server.options());
        server.freeze();
        asio::co_spawn(context, service.store.touch("a"), [](const std::exception_ptr&, bool) {});
        context.run_for(50ms);
        BOOST_TEST(!context.stopped());
    }
    server.kill();
}

BOOST_AUTO_TEST_CASE(a_server_on_the_network) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_process server(false);
        auto options = server.options();
        options.host = "localhost";
        redis_service service(context, options);
        co_await service.store.create("a");
        server.kill();
        const auto failure = co_await failure_of(service.store.get("a"));
        expect_failed(failure, "find: no connection to localhost:" + std::to_string(options.port) + ": ");
        options.host = "no.such.host.invalid";
        redis_service lost(context, options);
        const auto unknown = co_await failure_of(lost.store.get("a"));
        expect_failed(unknown, "no.such.host.invalid");
    });
}

BOOST_AUTO_TEST_CASE(options_have_rules) {
    asio::io_context context;
    const auto refusal = [&](auto change) -> std::string {
        redis_options options;
        change(options);
        try {
            const redis_sessions sessions(context.get_executor(), options);
        } catch (const error& failure) {
            BOOST_TEST(failure.kind() == errc::invalid_config);
            return failure.info().detail;
        }
        return "";
    };
    BOOST_TEST(refusal([](auto&) {}) == "");
    BOOST_TEST(refusal([](auto& o) { o.host = ""; }) == "redis.host = \"\": must have 1..255 bytes");
    BOOST_TEST(refusal([](auto& o) { o.port = 0; }) == "redis.port = 0: must be 1..65535");
    BOOST_TEST(refusal([](auto& o) { o.unix_socket = std::string(108, 'x'); }) != "");
    BOOST_TEST(refusal([](auto& o) { o.username = "u"; }) == "redis.username = \"u\": needs a password");
    BOOST_TEST(refusal([](auto& o) { o.database = 65'536; }) != "");
    BOOST_TEST(refusal([](auto& o) { o.prefix = ""; }) == "redis.prefix = \"\": must have 1..128 bytes");
    BOOST_TEST(refusal([](auto& o) { o.connect_timeout = 0ms; }) ==
               "redis.connect_timeout = 0 ms: must be 1 ms..600000 ms");
    BOOST_TEST(refusal([](auto& o) { o.operation_timeout = 1h; }) != "");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
