// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/execute_with_retry.hpp>
#include <skep/lease.hpp>
#include <skep/testing.hpp>
#include <skep/until.hpp>

#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace skep::test {

namespace asio = boost::asio;
namespace json = boost::json;
using namespace std::chrono_literals;
using testing::fake_pool;
using testing::sleep_for;
using testing::virtual_time;
using testing::worker_exit;

namespace {

pool_config quiet(std::size_t workers = 1) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

struct fixture {
    explicit fixture(pool_config config = quiet(), std::uint64_t seed = 1)
        : fake(context.get_executor(), std::move(config), seed) {}
    ~fixture() { time.run(fake.pool().shutdown()); }

    void start() { time.run(fake.pool().start()); }

    reply call(request what) { return time.run(fake.pool().execute(std::move(what))); }

    template <class Function>
    static std::optional<error> failure_of(Function&& function) {
        try {
            function();
        } catch (const error& failure) {
            return failure;
        }
        return std::nullopt;
    }
    errc failure_of_call(request what) {
        const auto failure = failure_of([&] { call(std::move(what)); });
        return failure ? failure->kind() : errc();
    }

    asio::io_context context;
    virtual_time time{context};
    fake_pool fake;
};

/// A handler that takes an hour, unless it is cancelled.
auto slow_handler(bool& was_cancelled) {
    return [&was_cancelled](worker_call&) -> asio::awaitable<void> {
        try {
            co_await sleep_for(1h);
        } catch (const boost::system::system_error&) {
            was_cancelled = true;
            throw;
        }
    };
}

asio::awaitable<std::vector<json::value>> read_all(pool& of, request what) {
    auto opening = of.stream(std::move(what));
    auto stream = co_await std::move(opening);
    std::vector<json::value> values;
    for (;;) {
        auto reading = stream.next();
        auto next = co_await std::move(reading);
        if (!next) {
            break;
        }
        values.push_back(std::move(next->value));
    }
    co_return values;
}

} // namespace

BOOST_AUTO_TEST_SUITE(testing_test)

BOOST_AUTO_TEST_CASE(handlers_answer_calls) {
    fixture with;
    with.fake.on("greet", [](worker_call& call) { return "Hello, " + call.arg<std::string>("name"); })
        .on("later", [](worker_call&) -> asio::awaitable<int> {
            co_await sleep_for(90s);
            co_return 7;
        });
    with.start();
    BOOST_TEST(with.call(request("greet").arg("name", "Ann")).value.as_string() == "Hello, Ann");
    const auto before = with.time.now();
    BOOST_TEST(with.call(request("later").timeout(2min)).value.as_int64() == 7);
    BOOST_TEST((with.time.now() - before >= 90s));
    BOOST_TEST((with.time.now() - before < 91s));
    BOOST_TEST((with.failure_of_call(request("unknown")) == errc::unknown_command));
}

BOOST_AUTO_TEST_CASE(errors_are_those_of_a_worker) {
    fixture with;
    with.fake.on("fail", [](worker_call&) -> int { throw std::out_of_range("no such page"); });
    with.start();
    const auto failure = fixture::failure_of([&] { with.call(request("fail")); });
    BOOST_REQUIRE(failure);
    BOOST_TEST((failure->kind() == errc::remote_error));
    BOOST_TEST(std::string(failure->what()).find("no such page") != std::string::npos, failure->what());
}

BOOST_AUTO_TEST_CASE(a_timeout_cancels_the_handler) {
    fixture with;
    bool was_cancelled = false;
    with.fake.on("slow", slow_handler(was_cancelled));
    with.start();
    BOOST_TEST((with.failure_of_call(request("slow").timeout(5s)) == errc::timeout));
    with.time.advance(1s);
    BOOST_TEST(was_cancelled);
}

BOOST_AUTO_TEST_CASE(streams_have_flow_control) {
    fixture with;
    int sent = 0;
    with.fake.on("count", [&](worker_call& call) -> asio::awaitable<void> {
        for (; sent < 1000; ++sent) {
            co_await call.send(sent);
        }
    });
    with.start();
    auto opening = with.fake.pool().stream(request("count"));
    auto stream = with.time.run(std::move(opening));
    with.time.advance(1s);
    BOOST_TEST(sent < 1000); // nobody reads
    const auto first = with.time.run(stream.next());
    BOOST_TEST(first->value.as_int64() == 0);
    stream = {};
    sent = 0;
    const auto values = with.time.run(read_all(with.fake.pool(), request("count")));
    BOOST_TEST(values.size() == 1000u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_exits_loses_its_call_and_is_replaced) {
    fixture with;
    with.fake.on("crash", [](worker_call&) -> int {
        throw worker_exit(exit_status::signalled(SIGSEGV), "Fatal Python error: Segmentation fault\n");
    });
    with.fake.on("crash_later", [](worker_call&) -> asio::awaitable<void> {
        co_await sleep_for(1s);
        throw worker_exit();
    });
    with.fake.on("echo", [](worker_call& call) { return call.args(); });
    with.start();
    for (const char* const command : {"crash", "crash_later"}) {
        const auto failure = fixture::failure_of([&] { with.call(request(command)); });
        BOOST_REQUIRE(failure);
        BOOST_TEST((failure->kind() == errc::worker_lost), failure->what());
        with.time.advance(1min);
        with.call(request("echo").arg("x", 1));
    }
    BOOST_TEST(with.fake.started() == 3u);
    const auto status = with.time.run(with.fake.pool().status());
    BOOST_TEST(status.counters.crashes == 2u);
}

BOOST_AUTO_TEST_CASE(a_frozen_worker_is_found_by_its_heartbeat) {
    fixture with(quiet(2));
    with.fake.on("id", [](worker_call& call) { return call.id(); });
    with.start();
    BOOST_TEST(with.fake.freeze({"default", 0, 1}));
    with.time.advance(5min);
    BOOST_TEST(!with.fake.freeze({"default", 0, 1}));
    BOOST_TEST(with.fake.started() == 3u);
    const auto status = with.time.run(with.fake.pool().status());
    BOOST_TEST(status.live == 2u);
}

BOOST_AUTO_TEST_CASE(handlers_keep_their_state_when_workers_are_replaced) {
    fixture with;
    with.fake.on("count", [calls = 0](worker_call&) mutable {
        if (++calls < 3) {
            throw worker_exit();
        }
        return calls;
    });
    with.start();
    for (int i = 0; i < 2; ++i) {
        BOOST_TEST((with.failure_of_call(request("count").arg("try", i)) == errc::worker_lost));
    }
    BOOST_TEST(with.call(request("count").queue_timeout(1h)).value.as_int64() == 3);
}

BOOST_AUTO_TEST_CASE(handlers_serve_batches) {
    fixture with;
    std::vector<std::size_t> sizes;
    with.fake.on_batch("embed", {.most = 4},
                       [&](batch_calls calls) -> asio::awaitable<std::vector<batch_result>> {
                           sizes.push_back(calls.size());
                           co_await sleep_for(1s);
                           std::vector<batch_result> results;
                           for (const auto* const call : calls) {
                               results.emplace_back(call->arg<int>("n"));
                           }
                           results.back() = std::out_of_range("no such page");
                           co_return results;
                       });
    with.fake.on_batch("crash", {}, [](batch_calls) -> std::vector<int> { throw worker_exit(); });
    with.start();
    int answers = 0;
    int errors = 0;
    for (int i = 0; i < 6; ++i) {
        asio::co_spawn(with.context, with.fake.pool().execute(request("embed").arg("n", i)),
                       [&, i](const std::exception_ptr& problem, const reply& answer) {
                           errors += problem ? 1 : 0;
                           answers += !problem && answer.value == i ? 1 : 0;
                       });
    }
    with.time.advance(5s);
    BOOST_TEST(sizes == (std::vector<std::size_t>{1, 4, 1}), boost::test_tools::per_element());
    BOOST_TEST(answers == 3);
    BOOST_TEST(errors == 3); // the last call of each batch
    BOOST_TEST((with.failure_of_call(request("crash")) == errc::worker_lost));
}

BOOST_AUTO_TEST_CASE(a_frozen_worker_answers_no_call) {
    fixture with;
    with.fake.on("answer", [](worker_call&) -> asio::awaitable<int> {
        co_await sleep_for(1s);
        co_return 1;
    });
    with.start();
    asio::co_spawn(with.context, sleep_for(500ms), [&](const std::exception_ptr&) {
        BOOST_TEST(with.fake.freeze({"default", 0, 1}));
    });
    const auto before = with.time.now();
    BOOST_TEST((with.failure_of_call(request("answer").timeout(1h)) == errc::worker_lost));
    BOOST_TEST((with.time.now() - before < 1min)); // by the heartbeat
}

BOOST_AUTO_TEST_CASE(a_test_ends_workers_from_outside) {
    fixture with;
    with.fake.on("hang", [](worker_call&) -> asio::awaitable<void> { co_await sleep_for(24h); });
    with.start();
    asio::co_spawn(with.context, testing::sleep_for(1s), [&](const std::exception_ptr&) {
        BOOST_TEST(with.fake.crash({"default", 0, 1}, worker_exit(exit_status::signalled(SIGKILL))));
    });
    BOOST_TEST((with.failure_of_call(request("hang").timeout(duration::zero())) == errc::worker_lost));
    BOOST_TEST(!with.fake.crash({"default", 0, 1}));
}

BOOST_AUTO_TEST_CASE(a_handler_that_does_not_heed_its_cancellation_is_left) {
    fixture with;
    with.fake.on("deaf", [](worker_call&) -> asio::awaitable<void> {
        for (int i = 0; i < 3; ++i) {
            try {
                co_await sleep_for(1h);
            } catch (const boost::system::system_error&) {}
            co_await asio::this_coro::reset_cancellation_state();
        }
    });
    with.start();
    BOOST_TEST((with.failure_of_call(request("deaf").timeout(1s)) == errc::timeout));
    with.time.advance(5min); // the pool replaces the worker
    BOOST_TEST(with.fake.started() == 2u);
}

BOOST_AUTO_TEST_CASE(hooks_and_health_check) {
    fixture with(quiet(2));
    int starts = 0;
    int stops = 0;
    bool is_well = true;
    with.fake.on_start([&]() -> asio::awaitable<void> {
        co_await sleep_for(1s);
        if (++starts == 1) {
            throw std::runtime_error("no model");
        }
    });
    with.fake.on_stop([&] { ++stops; });
    with.fake.health_check([&] { return is_well; });
    with.fake.on("echo", [](worker_call& call) { return call.args(); });
    with.start();
    with.time.advance(1min);
    BOOST_TEST(starts == 3); // one of two failed, and was started again
    is_well = false;
    with.time.advance(10min, 100ms);
    is_well = true;
    with.time.advance(10min, 100ms);
    with.call(request("echo"));
    BOOST_TEST(starts > 3);
    const auto before = stops;
    with.time.run(with.fake.pool().shutdown());
    BOOST_TEST(stops == before + 2);
}

BOOST_AUTO_TEST_CASE(tools_progress_and_attachments) {
    fixture with;
    with.fake.pool().register_tool("double", [](tool_call call) -> asio::awaitable<tool_reply> {
        co_return call.args.at("n").to_number<int>() * 2;
    });
    with.fake.on("ask", [](worker_call& call) -> asio::awaitable<json::value> {
        call.progress(0.5, "half");
        json::object args;
        args["n"] = 21;
        auto asking = call.call_host("double", std::move(args));
        const auto answer = co_await std::move(asking);
        json::object result;
        result["answer"] = answer.value;
        result["bytes"] = call.attach(call.attachments().at(0));
        co_return result;
    });
    with.start();
    double seen = 0;
    auto asked =
        request("ask").attach("bytes").on_progress([&](const progress& report) { seen = report.fraction; });
    const auto answer = with.call(std::move(asked));
    BOOST_TEST(answer.value.at("answer").as_int64() == 42);
    BOOST_TEST(answer.attachments.at(0).text() == "bytes");
    BOOST_TEST(seen == 0.5);
}

BOOST_AUTO_TEST_CASE(the_same_seed_makes_the_same_run) {
    const auto run = [](std::uint64_t seed) {
        fixture with(quiet(3), seed);
        with.fake.on("work", [&](worker_call&) -> asio::awaitable<int> {
            const auto chance = with.fake.random();
            co_await sleep_for(std::chrono::milliseconds(static_cast<int>(chance * 10'000)));
            if (chance > 0.8) {
                throw worker_exit();
            }
            co_return static_cast<int>(chance * 1000);
        });
        with.start();
        std::string story;
        for (int i = 0; i < 30; ++i) {
            const auto before = with.time.now();
            try {
                story +=
                    std::to_string(with.call(request("work").timeout(duration::zero())).value.as_int64());
            } catch (const error& failure) {
                story += failure.code().message();
            }
            story += ' ' + std::to_string((with.time.now() - before).count()) + '\n';
        }
        return story;
    };
    const auto first = run(7);
    BOOST_TEST(run(7) == first);
    BOOST_TEST(run(8) != first);
}

BOOST_AUTO_TEST_CASE(a_client_that_leaves_cancels_its_call) {
    fixture with;
    bool was_cancelled = false;
    with.fake.on("slow", slow_handler(was_cancelled));
    with.start();
    auto working = with.fake.pool().execute(request("slow"));
    auto leaving = sleep_for(3s);
    const auto outcome = with.time.run(skep::until(std::move(working), std::move(leaving)));
    BOOST_TEST(!outcome);
    with.time.advance(1s);
    BOOST_TEST(was_cancelled);
}

BOOST_AUTO_TEST_CASE(run_reports_an_operation_that_does_not_end) {
    fixture with;
    with.start();
    BOOST_CHECK_THROW(with.time.run(sleep_for(2min), 1min), std::runtime_error);
    BOOST_CHECK_THROW(with.time.advance(1s, 0s), std::invalid_argument);
    with.time.advance(2h, 1s);
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_refused) {
    fixture with;
    BOOST_CHECK_THROW(with.fake.on("skep.mine", [](worker_call&) { return 1; }), std::invalid_argument);
    auto config = quiet();
    config.capacity = 0;
    BOOST_CHECK_THROW(fake_pool(with.context.get_executor(), config), error);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
