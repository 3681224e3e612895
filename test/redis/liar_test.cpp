// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What becomes of operations when the server lies, or is silent; and that nothing of them is left behind.

#include "support/redis_liar.hpp"
#include "support/redis_process.hpp"

#include <boost/asio/post.hpp>

#include <fstream>
#include <list>
#include <string>
#include <vector>

namespace skep::test {

namespace {

using answer = redis_liar::answer;

redis_liar::script always(std::string bytes, bool is_last = false) {
    return [=](const std::string&) { return answer{bytes, is_last}; };
}

const auto silence = always("");

std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

/// What find replies, with these as text.
std::string fields(const std::string& version, const std::string& ttl, const std::string& age,
                   const std::string& worker = "$-1\r\n") {
    return "*7\r\n" + bulk(version) + bulk(ttl) + bulk("1") + bulk(R"({"metadata":{},"programs":{}})") + ":" +
           age + "\r\n:0\r\n" + worker;
}

const std::string hour = "3600000000000";

/// Of this process, in KiB.
std::size_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::stoul(line.substr(6));
        }
    }
    return 0;
}

asio::awaitable<std::string> what_fails(session_store& store) {
    const auto failure = co_await failure_of(store.get("a"));
    BOOST_TEST(failure.kind() == errc::session_backend_failed);
    co_return failure.what();
}

/// A service whose context the test runs itself, as a program does.
struct program {
    explicit program(const redis_options& where) : service(std::in_place, context, where) {}

    void begin(asio::awaitable<bool> operation) {
        auto keep = [this](const std::exception_ptr& problem, bool) {
            ++ended;
            try {
                if (problem) {
                    std::rethrow_exception(problem);
                }
            } catch (const error& failure) {
                codes.push_back(failure.kind());
            }
        };
        asio::co_spawn(context, std::move(operation),
                       asio::bind_cancellation_slot(signals.emplace_back().slot(), keep));
    }

    void cancel() {
        for (auto& each : signals) {
            each.emit(asio::cancellation_type::terminal);
        }
    }

    template <class Condition>
    void run_until(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + 1min;
        while (!condition() && std::chrono::steady_clock::now() < end) {
            context.run_one_for(5ms);
            context.restart();
        }
        BOOST_REQUIRE(condition());
    }

    /// Whether run() returns by itself, well before any timeout of the options.
    bool runs_out() {
        context.restart();
        context.run_for(1min);
        return context.stopped();
    }

    asio::io_context context{1};
    std::list<asio::cancellation_signal> signals;
    std::optional<redis_service> service;
    int ended = 0;
    std::vector<errc> codes;
};

} // namespace

BOOST_AUTO_TEST_SUITE(redis_liar_test)

BOOST_AUTO_TEST_CASE(a_reply_that_breaks_a_limit_ends_the_connection_at_once) {
    struct lie {
        std::string bytes;
        std::string cause;
    };
    const std::string foreign = "does not speak Redis' protocol";
    const std::vector<lie> lies{
        {"*2147483647\r\n", "announced 2147483647 elements, where a reply may have 64"},
        {"*9223372036854775807\r\n", "announced 9223372036854775807 elements"},
        {"*65\r\n", "announced 65 elements"},
        {"*2\r\n*63\r\n", "announced 63 elements"},
        {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "sent arrays in arrays, more than 4 deep"},
        {"$2147483647\r\n", "announced 2147483647 bytes, where a reply may have 5120"},
        {"$9223372036854775807\r\n", "announced 9223372036854775807 bytes"},
        {"*2\r\n$4000\r\n" + std::string(4'000, 'x') + "\r\n$4000\r\n", "announced 4000 bytes"},
        {"+" + std::string(6'000, 'x'), "sent a reply of more than 5120 bytes"},
        {"$-2\r\n", foreign},
        {"*-7\r\n", foreign},
        {"$1e3\r\n", foreign},
        {"$" + std::string(30, '1') + "\r\n", foreign},
        {":99999999999999999999\r\n", foreign},
        {"$3\r\nabcde\r\n", foreign},
        {"HTTP/1.1 400 Bad Request\r\n\r\n", foreign},
        {"%1\r\n", foreign},
        {"+a\nb\r\n", foreign},
        {"$-1\r\n$-1\r\n", ""}, // the second answers nothing: the connection is not kept
    };
    for (const auto& [bytes, cause] : lies) {
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            redis_liar liar(always(bytes));
            auto options = liar.options();
            options.session_bytes = 1'024;
            redis_service service(context, options);
            if (cause.empty()) {
                const auto found = co_await service.store.get("a");
                BOOST_TEST(!found.has_value());
                auto is_closed = [&] { return liar.departures() == 1; };
                const bool ended = co_await eventually(is_closed);
                BOOST_TEST(ended);
                co_return;
            }
            const auto told = co_await what_fails(service.store);
            BOOST_TEST(contains(told, "find: what answers at 127.0.0.1:"), told);
            BOOST_TEST(contains(told, cause), told);
        });
    }
}

BOOST_AUTO_TEST_CASE(a_reply_of_the_wrong_kind_is_an_error_of_the_operation) {
    const std::vector<std::string> odd{
        "+OK\r\n",
        ":-1\r\n",
        ":9223372036854775807\r\n",
        "*0\r\n",
        "*-1\r\n",
        "$-1\r\n",
        "*4\r\n:1\r\n:-5\r\n:0\r\n:1\r\n",
        "*4\r\n:7\r\n:1\r\n:0\r\n:1\r\n",
        "*3\r\n:1\r\n:1\r\n:0\r\n",
        fields("1", "1", "0"),
        fields("1", "-3600000000000", "0"),
        fields("1", "9223372036854775807", "0"),
        fields("1", hour, "9223372036854775807"),
        fields("1", hour, "-1"),
        fields("x", hour, "0"),
        fields("18446744073709551616", hour, "0"),
        fields("1", hour, "0", bulk("")),
        fields("1", hour, "0", bulk("pool/1#x")),
        fields("1", hour, "0", ":1\r\n"),
        "*6\r\n*0\r\n*0\r\n*0\r\n*0\r\n*0\r\n*0\r\n",
    };
    for (const auto& bytes : odd) {
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            redis_liar liar(always(bytes));
            redis_service service(context, liar.options());
            auto attempt = [](auto operation) -> asio::awaitable<void> {
                try {
                    co_await std::move(operation);
                } catch (const error& failure) {
                    BOOST_TEST(contains(failure.what(), "what a key under the prefix holds is no session"),
                               failure.what());
                }
            };
            session_data data;
            data.ttl(1h);
            const session seen("a", data, {}, 0ns, 0ns, 1);
            auto inserting = service.backend->insert("a", data, {}, 10);
            co_await attempt(std::move(inserting));
            auto finding = service.backend->find("a", session_access::look);
            co_await attempt(std::move(finding));
            auto replacing = service.backend->replace(seen, data);
            co_await attempt(std::move(replacing));
            auto touching = service.backend->touch("a");
            co_await attempt(std::move(touching));
            auto removing = service.backend->remove("a");
            co_await attempt(std::move(removing));
            auto sweeping = service.backend->sweep(128);
            co_await attempt(std::move(sweeping));
            auto asking = service.backend->usage();
            co_await attempt(std::move(asking));
        });
    }
}

BOOST_AUTO_TEST_CASE(a_lying_server_does_not_take_the_hosts_memory) {
    const auto before = peak_memory();
    for (const auto* bytes : {"$2147483647\r\n", "*1\r\n", "+"}) {
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            const std::string flood = bytes + std::string(100'000, 'x');
            redis_liar liar([&](const std::string&) { return answer{flood, false, true}; });
            redis_service service(context, liar.options());
            co_await what_fails(service.store);
        });
    }
    BOOST_TEST(peak_memory() < before + (64u << 10));
}

BOOST_AUTO_TEST_CASE(an_update_against_a_server_that_always_refuses_it_ends) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_liar liar([](const std::string& command) {
            return answer{contains(command, "local changed") ? ":0\r\n" : fields("1", hour, "0")};
        });
        redis_service service(context, liar.options());
        const auto failure = co_await failure_of(service.store.update("a", count_up));
        BOOST_TEST(failure.kind() == errc::session_backend_failed);
        BOOST_TEST(contains(failure.what(), "others have changed the session 10000 times meanwhile"));
    });
}

BOOST_AUTO_TEST_CASE(a_cleanup_of_a_server_that_is_never_done_ends) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_liar liar([](const std::string& command) {
            return answer{contains(command, "ZCARD") ? ":1000\r\n" : ":128\r\n"};
        });
        redis_service service(context, liar.options());
        const auto swept = co_await service.store.cleanup_expired();
        BOOST_TEST((swept >= 1'000 && swept < 2'000));
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_ends_each_connection_is_not_connected_to_without_a_pause) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_liar liar(always("", true));
        redis_service service(context, liar.options());
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 4; ++i) {
            co_await what_fails(service.store);
        }
        BOOST_TEST(liar.connections() == 4);
        BOOST_TEST((std::chrono::steady_clock::now() - begin >= 300ms));
    });
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_an_operation_that_was_cancelled_in_that_pause) {
    redis_liar liar(always("", true));
    program host(liar.options());
    for (const int round : {1, 2}) {
        host.begin(host.service->store.touch("a"));
        host.run_until([&] { return host.ended == round; });
    }
    for (int i = 0; i < 3; ++i) {
        host.begin(host.service->store.touch("a"));
        host.context.poll();
        host.context.restart();
    }
    host.cancel();
    BOOST_TEST(host.runs_out());
    BOOST_TEST(host.ended == 5);
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_silent_server_is_bounded) {
    redis_liar liar(silence);
    auto options = liar.options();
    options.waiting_limit = 10;
    options.waiting_bytes = 40'000;
    options.session_bytes = 30'000;
    program host(options);
    for (int i = 0; i < 15; ++i) {
        host.begin(host.service->store.touch("a"));
    }
    host.run_until([&] { return host.ended == 5; });
    BOOST_TEST((host.codes == std::vector<errc>(5, errc::session_backend_failed)));
    host.cancel();
    BOOST_TEST(host.runs_out());
    BOOST_TEST(host.ended == 15);
}

BOOST_AUTO_TEST_CASE(the_bytes_that_wait_for_a_silent_server_are_bounded) {
    redis_liar liar(silence);
    auto options = liar.options();
    options.waiting_bytes = 40'000;
    options.session_bytes = 30'000;
    program host(options);
    const auto create = [&](std::size_t size) -> asio::awaitable<bool> {
        auto data = session_data().metadata("text", std::string(size, 'x'));
        co_await host.service->store.create("a", data);
        co_return true;
    };
    host.begin(create(25'000));
    host.run_until([&] { return liar.commands() == 1; });
    host.begin(create(25'000));
    host.run_until([&] { return host.ended == 1; });
    BOOST_TEST((host.codes == std::vector{errc::session_backend_failed}));
    host.begin(create(30'001));
    host.run_until([&] { return host.ended == 2; });
    BOOST_TEST(host.codes.back() == errc::invalid_session);
    host.cancel();
    BOOST_TEST(host.runs_out());
    BOOST_TEST(host.codes.back() == errc::cancelled);
}

BOOST_AUTO_TEST_CASE(a_server_that_answers_without_reading_is_found_out) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        redis_liar liar(silence, false);
        auto options = liar.options();
        options.waiting_bytes = 64u << 10;
        options.session_bytes = 64u << 10;
        redis_service service(context, options);
        auto data = session_data().ttl(1h).metadata("text", std::string(60'000, 'x'));
        const session seen("a", data, {}, 0ns, 0ns, 1);
        int done = 0;
        std::optional<error> failure;
        auto replace = [&]() -> asio::awaitable<void> {
            try {
                auto replacing = service.backend->replace(seen, data);
                co_await std::move(replacing);
            } catch (const error& problem) {
                failure = problem;
            }
            ++done;
        };
        for (int i = 0; i < 5'000 && !failure; ++i) { // the kernel's buffers take less than 300 MB
            asio::co_spawn(context, replace(), [](const std::exception_ptr&) {});
            auto is_connected = [&] { return liar.connections() == 1; };
            const bool connects = co_await eventually(is_connected);
            BOOST_REQUIRE(connects);
            for (int turn = 0; turn < 10; ++turn) { // by then the command was sent, or waits for the socket
                co_await asio::post(context, asio::use_awaitable);
            }
            liar.send(":0\r\n");
            auto is_answered = [&] { return done == i + 1; };
            const bool is = co_await eventually(is_answered);
            BOOST_REQUIRE(is);
        }
        BOOST_REQUIRE(failure.has_value());
        BOOST_TEST(contains(failure->what(), "replace: the server answers, but does not read"),
                   failure->what());
    });
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_backend_that_is_destroyed_while_its_server_is_connected) {
    redis_liar liar(always(":1\r\n"));
    program host(liar.options());
    asio::co_spawn(host.context, host.service->store.touch("a"),
                   [&](const std::exception_ptr& problem, bool) { host.ended += problem ? 100 : 1; });
    host.run_until([&] { return host.ended == 1; });
    BOOST_TEST(host.runs_out()); // an idle connection holds nothing up
    BOOST_TEST(liar.departures() == 0);
    host.service.reset();
    BOOST_TEST(host.runs_out());
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_operations_that_were_cancelled_while_the_server_is_silent) {
    for (const auto* beginning : {"", "$100\r\nabc", "*3\r\n:1\r\n"}) { // or in the middle of a reply
        redis_liar liar(always(beginning));
        program host(liar.options());
        host.begin(host.service->store.touch("a"));
        host.run_until([&] { return liar.commands() == 1; });
        host.cancel();
        BOOST_TEST(host.runs_out()); // though the backend is still there
        BOOST_TEST((host.codes == std::vector{errc::cancelled}));
    }
}

BOOST_AUTO_TEST_CASE(an_operation_keeps_its_backend_until_its_time_is_over_and_no_longer) {
    for (const auto* beginning : {"", "$100\r\nabc"}) {
        redis_liar liar(always(beginning));
        auto options = liar.options();
        options.operation_timeout = 100ms;
        program host(options);
        host.begin(host.service->store.touch("a"));
        host.run_until([&] { return liar.connections() == 1; });
        host.service.reset();
        BOOST_TEST(host.runs_out());
        BOOST_TEST((host.codes == std::vector{errc::session_backend_failed}));
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_left_of_a_connection_that_is_being_made) {
    redis_liar liar(silence);
    for (const bool tls : {false, true}) {
        auto options = liar.options();
        options.password = "sesame"; // AUTH, or the handshake, gets no answer
        options.tls = tls;
        program host(options);
        const auto before = liar.connections();
        host.begin(host.service->store.touch("a"));
        host.run_until([&] { return liar.connections() > before; });
        host.cancel();
        BOOST_TEST(host.runs_out());
        BOOST_TEST((host.codes == std::vector{errc::cancelled}));
    }
}

BOOST_AUTO_TEST_CASE(a_pool_that_has_shut_down_leaves_nothing_at_a_silent_server) {
    redis_liar liar(silence);
    program host(liar.options());
    auto config = basic_pool();
    config.sessions = std::shared_ptr<session_store>(std::shared_ptr<void>(), &host.service->store);
    auto serve = [&]() -> asio::awaitable<bool> {
        pool workers(host.context.get_executor(), config);
        co_await workers.start();
        for (int i = 0; i < 20; ++i) {
            auto call = request("pid").session("s");
            co_await workers.execute(std::move(call));
        }
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
        co_return true;
    };
    host.begin(serve());
    BOOST_TEST(host.runs_out());
    BOOST_TEST(host.ended == 1);
    BOOST_TEST(liar.commands() <= 1); // one touch of the session
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
