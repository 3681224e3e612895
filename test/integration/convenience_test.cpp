// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// run(), completion tokens, and other short ways of saying something.

#include "support/run.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>

#include <csignal>
#include <future>
#include <stdexcept>

namespace skep::test {

namespace {

request echo(json::value value) {
    return request("echo").arg("value", std::move(value));
}

asio::awaitable<void> wait_for(duration span) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, span);
    co_await timer.async_wait(asio::use_awaitable);
}

/// Sends this process a signal once the pool has so many calls in flight.
asio::awaitable<void> signal_when_busy(pool& workers, std::size_t calls, int number) {
    auto busy = [&]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        co_return status.in_flight == calls;
    };
    co_await eventually(busy);
    ::raise(number);
}

/// Runs a program around a basic pool, under the leak audit.
template <class Main>
int run_program(Main main) {
    const leak_audit audit;
    return skep::run(basic_pool(), main);
}

} // namespace

BOOST_AUTO_TEST_SUITE(convenience)

BOOST_AUTO_TEST_SUITE(program)

BOOST_AUTO_TEST_CASE(runs_to_the_end_of_main) {
    json::value answer;
    const int status = run_program([&](pool& workers) -> asio::awaitable<void> {
        auto call = echo("Ada");
        answer = co_await value_of(workers, std::move(call));
    });
    BOOST_TEST(status == 0);
    BOOST_TEST(answer == "Ada");
}

BOOST_AUTO_TEST_CASE(ends_at_once_when_nothing_is_left_to_do) {
    auto shortest = duration::max();
    for (int i = 0; i < 3; ++i) { // the machine may be busy now and then
        auto ended = std::chrono::steady_clock::now();
        run_program([&ended](pool&) -> asio::awaitable<void> {
            ended = std::chrono::steady_clock::now();
            co_return;
        });
        shortest = std::min<duration>(shortest, std::chrono::steady_clock::now() - ended);
    }
    BOOST_TEST((shortest < 1s)); // the second for what is left behind
}

/// Counts in its destructor.
struct leaver {
    std::shared_ptr<int> gone;
    ~leaver() { ++*gone; }
};

/// A session that is in a list of main's while it lives.
struct entry {
    std::vector<int>& all;
    ~entry() { all.pop_back(); }
};

BOOST_AUTO_TEST_CASE(what_is_left_behind_may_refer_to_what_main_was_made_of) {
    const auto gone = std::make_shared<int>();
    run_program([gone, live = std::vector<int>(3)](pool&) mutable -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        const auto session = [](std::shared_ptr<int> count, std::vector<int>& list) -> asio::awaitable<void> {
            const leaver mine{count};
            const entry registered{list};
            co_await wait_for(1h);
        };
        asio::co_spawn(executor, session(gone, live), asio::detached);
    });
    BOOST_TEST(*gone == 1);
}

BOOST_AUTO_TEST_CASE(dispositions_of_signals_are_as_before) {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction own {};
    own.sa_handler = [](int) {};
    struct sigaction before_int {};
    struct sigaction before_term {};
    ::sigaction(SIGINT, &ignore, &before_int);
    ::sigaction(SIGTERM, &own, &before_term);
    bool interrupted = false;
    const int status = run_program([&](pool&) -> asio::awaitable<void> {
        ::raise(SIGINT); // as under nohup: no notice is taken
        co_await wait_for(50ms);
        ::raise(SIGTERM);
        try {
            co_await wait_for(1h);
        } catch (const boost::system::system_error&) {
            interrupted = true;
        }
    });
    BOOST_TEST(status == 0);
    BOOST_TEST(interrupted);
    struct sigaction now {};
    ::sigaction(SIGINT, &before_int, &now);
    BOOST_TEST((now.sa_handler == SIG_IGN));
    ::sigaction(SIGTERM, &before_term, &now);
    BOOST_TEST((now.sa_handler == own.sa_handler));
}

BOOST_AUTO_TEST_CASE(lets_exceptions_of_main_out_after_the_shutdown) {
    BOOST_CHECK_THROW(run_program([](pool&) -> asio::awaitable<void> {
                          throw std::runtime_error("not today");
                          co_return;
                      }),
                      std::runtime_error);
    try {
        run_program([](pool& workers) -> asio::awaitable<void> {
            auto call = request("fail").arg("message", "why");
            co_await workers.execute(std::move(call));
        });
        BOOST_ERROR("no exception");
    } catch (const error& e) {
        BOOST_TEST(e.kind() == errc::remote_error);
    }
}

BOOST_AUTO_TEST_CASE(lets_out_why_the_pool_could_not_start) {
    const leak_audit audit;
    auto config = basic_pool();
    config.launch.program = "/no/such/program";
    bool began = false;
    const auto main = [&](pool&) -> asio::awaitable<void> {
        began = true;
        co_return;
    };
    try {
        skep::run(config, main);
        BOOST_ERROR("no exception");
    } catch (const error& e) {
        BOOST_TEST(e.kind() == errc::start_failed);
    }
    BOOST_TEST(!began);
    config.queue.limit = 1u << 30;
    BOOST_CHECK_THROW(skep::run(config, main), error);
}

BOOST_AUTO_TEST_CASE(a_main_that_is_an_empty_awaitable_is_an_error) {
    const leak_audit audit;
    const auto main = [](pool&) { return asio::awaitable<void>(); };
    BOOST_CHECK_THROW(skep::run(basic_pool(), main), std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_signal_lets_running_calls_end_and_ends_every_other_wait) {
    for (const int number : {SIGTERM, SIGINT}) {
        bool answered = false;
        bool interrupted = false;
        const int status = run_program([&](pool& workers) -> asio::awaitable<void> {
            const auto executor = co_await asio::this_coro::executor;
            const auto call = [](pool& whole, bool& flag) -> asio::awaitable<void> {
                auto slow = request("sleep").arg("seconds", 0.5);
                co_await whole.execute(std::move(slow));
                flag = true;
            };
            asio::co_spawn(executor, call(workers, answered), asio::detached);
            asio::co_spawn(executor, signal_when_busy(workers, 1, number), asio::detached);
            try {
                co_await wait_for(1h);
            } catch (const boost::system::system_error&) {
                interrupted = true;
            }
        });
        BOOST_TEST(status == (number == SIGINT ? 130 : 0));
        BOOST_TEST(answered);
        BOOST_TEST(interrupted);
    }
}

BOOST_AUTO_TEST_CASE(a_call_of_main_itself_ends_before_the_program_does) {
    bool answered = false;
    const int status = run_program([&](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        asio::co_spawn(executor, signal_when_busy(workers, 1, SIGTERM), asio::detached);
        auto slow = request("sleep").arg("seconds", 0.5);
        co_await workers.execute(std::move(slow));
        answered = true;
    });
    BOOST_TEST(status == 0);
    BOOST_TEST(answered);
}

BOOST_AUTO_TEST_CASE(signals_that_come_together_are_one) {
    bool answered = false;
    const int status = run_program([&](pool& workers) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        const auto insist = [](pool& whole) -> asio::awaitable<void> {
            co_await signal_when_busy(whole, 1, SIGTERM);
            co_await wait_for(20ms);
            ::raise(SIGTERM);
        };
        asio::co_spawn(executor, insist(workers), asio::detached);
        auto slow = request("sleep").arg("seconds", 0.5);
        co_await workers.execute(std::move(slow));
        answered = true;
    });
    BOOST_TEST(status == 0);
    BOOST_TEST(answered);
}

BOOST_AUTO_TEST_CASE(a_signal_while_it_starts_ends_it) {
    const leak_audit audit;
    auto config = basic_pool();
    config.launch.preload = false; // the parent of the program would be the nursery
    config.launch.program = "sh";
    config.launch.args = {"-c", "kill -TERM $PPID; exec sleep 1000"};
    const int status = skep::run(config, [](pool&) -> asio::awaitable<void> { co_return; });
    BOOST_TEST(status == 0);
}

BOOST_AUTO_TEST_CASE(what_main_left_behind_gets_a_second) {
    bool finished = false;
    bool destroyed = false;
    struct witness {
        bool& flag;
        ~witness() { flag = true; }
    };
    const auto began = std::chrono::steady_clock::now();
    run_program([&](pool&) -> asio::awaitable<void> {
        const auto executor = co_await asio::this_coro::executor;
        const auto last_answer = [](bool& flag) -> asio::awaitable<void> {
            co_await wait_for(300ms);
            flag = true;
        };
        const auto idle = [](bool& flag) -> asio::awaitable<void> {
            const witness mine{flag};
            co_await wait_for(1h);
        };
        asio::co_spawn(executor, last_answer(finished), asio::detached);
        asio::co_spawn(executor, idle(destroyed), asio::detached);
    });
    BOOST_TEST(finished);
    BOOST_TEST(destroyed);
    BOOST_TEST((std::chrono::steady_clock::now() - began < patience));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(completion_tokens)

BOOST_AUTO_TEST_CASE(futures_callbacks_and_deferred_operations) {
    const leak_audit audit;
    asio::io_context context;
    pool workers(context, basic_pool());
    std::thread runner([&context] {
        const auto work = asio::make_work_guard(context);
        context.run();
    });
    workers.start(asio::use_future).get();

    std::future<reply> answer = workers.execute(echo(1), asio::use_future);
    BOOST_TEST(answer.get().value == 1);

    std::promise<std::string> failure;
    workers.execute(request("no_such_command"), [&](std::exception_ptr problem, const reply&) {
        try {
            std::rethrow_exception(problem);
        } catch (const error& e) {
            failure.set_value(make_error_code(e.kind()).message());
        }
    });
    BOOST_TEST(failure.get_future().get() == "the worker has no such command");

    auto later = workers.execute(echo(2), asio::deferred);
    BOOST_TEST(std::move(later)(asio::use_future).get().value == 2);

    workers.shutdown(asio::use_future).get();
    context.stop();
    runner.join();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(attachments_of_any_kind_of_bytes) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const std::string text = "text";
        const std::vector<unsigned char> bytes{1, 2, 255};
        const std::array<std::byte, 2> array{std::byte{3}, std::byte{4}};
        std::vector<std::byte> whole(5, std::byte{7});
        const auto shared = blob::copy_of(array);
        auto call =
            request("reverse").attach(text).attach("literal").attach(bytes).attach(array).attach(whole);
        call.attach(std::move(whole)).attach(shared);
        const auto answer = co_await workers.execute(std::move(call));
        const std::vector<std::size_t> sizes{4, 7, 3, 2, 5, 5, 2};
        BOOST_REQUIRE_EQUAL(answer.attachments.size(), sizes.size());
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            BOOST_TEST(answer.attachments[i].size() == sizes[i]);
        }
        BOOST_TEST((answer.attachments[2][0] == std::byte{255}));
    });
}

// The text of a request's own mistake is an error like any other, wherever it is made.
BOOST_AUTO_TEST_CASE(arguments_that_are_no_object) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        json::array list{1, 2};
        bool refused = false;
        try {
            co_await workers.execute("echo", std::move(list));
        } catch (const error& e) {
            refused = e.kind() == errc::invalid_request && is_callers_fault(e);
        }
        BOOST_TEST(refused);
    });
}

BOOST_AUTO_TEST_CASE(ready_waits_for_those_in_the_background) {
    auto config = basic_pool(3);
    config.min_ready = 1;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        co_await workers.ready(3);
        const auto status = co_await workers.status();
        BOOST_TEST(status.live == 3u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
