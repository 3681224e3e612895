// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What travels with a call, and what comes back.

#include "support/run.hpp"

#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>

#include <cmath>
#include <limits>

namespace skep::test {

namespace {

struct label {
    std::string name;
    double score = 0;
};
BOOST_DESCRIBE_STRUCT(label, (), (name, score))

struct echo_arguments {
    std::vector<label> value;
};
BOOST_DESCRIBE_STRUCT(echo_arguments, (), (value))

asio::awaitable<json::value> echo(pool& workers, json::value value) {
    request call = request("echo").arg("value", std::move(value));
    auto result = co_await value_of(workers, std::move(call));
    co_return result;
}

blob reversed(const blob& bytes) {
    return blob(std::vector<std::byte>(std::make_reverse_iterator(bytes.end()),
                                       std::make_reverse_iterator(bytes.begin())));
}

json::value nested(std::size_t depth) {
    json::value value = "core";
    for (std::size_t i = 0; i < depth; ++i) {
        if (i % 2 == 0) {
            value = json::array{std::move(value)};
        } else {
            value = json::object{{"in", std::move(value)}};
        }
    }
    return value;
}

} // namespace

BOOST_AUTO_TEST_SUITE(values)

BOOST_AUTO_TEST_CASE(structs_can_take_the_place_of_json) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        echo_arguments arguments;
        arguments.value = {{"cat", 0.5}, {"dog", 1}};
        auto call = request("echo").args(arguments);
        const auto labels = co_await workers.execute<std::vector<label>>(std::move(call));
        BOOST_TEST(labels.size() == 2u);
        BOOST_TEST(labels.at(1).name == "dog");
        arguments.value.clear();
        auto failing = workers.execute<label>("echo", arguments);
        const auto failure = co_await failure_of(std::move(failing));
        BOOST_TEST(failure.kind() == errc::type_mismatch);
        BOOST_TEST(contains(failure.info().detail, "not an object (it is of kind array)"));
    });
}

BOOST_AUTO_TEST_CASE(of_every_kind_come_back_as_they_were) {
    const std::vector<json::value> values{
        nullptr,
        true,
        false,
        0,
        -1,
        std::numeric_limits<std::int64_t>::min(),
        std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::uint64_t>::max(),
        0.1,
        -1.5,
        3.141592653589793,
        1e-7,
        1.7976931348623157e308,
        5e-324,
        "",
        "plain",
        "quote \" backslash \\ slash / tab \t newline \n return \r bell \a",
        json::string(std::string_view("NUL \0 inside", 12)),
        json::array{},
        json::object{},
        json::array{1, "two", nullptr, json::array{json::object{{"deep", true}}}},
        json::object{{"", 1}, {"key with \"quotes\"", json::object{}}, {"null", nullptr}},
    };
    with_pool(basic_pool(), [&](pool& workers) -> asio::awaitable<void> {
        for (const auto& value : values) {
            const auto result = co_await echo(workers, value);
            BOOST_TEST(result == value);
            BOOST_TEST(result.kind() == value.kind());
        }
    });
}

BOOST_AUTO_TEST_CASE(hold_any_text) {
    const std::vector<std::string> texts{"Grüße, Zoë",
                                         "пчёлы в улье",
                                         "蜂箱と蜂",
                                         "خلية نحل",
                                         "🐝🐝 👩‍👩‍👧 𝒮𝓀ℯ𝓅",
                                         "e\u0301 is not é",
                                         "\u2028 \u2029 \x7F",
                                         "\uFFFD\uFFFE\uFEFF",
                                         "\U0010FFFF"};
    with_pool(basic_pool(), [&](pool& workers) -> asio::awaitable<void> {
        for (const auto& text : texts) {
            const auto result = co_await echo(workers, json::value(text));
            BOOST_TEST(result.as_string() == text);
            json::object object;
            object[text] = text;
            const auto keyed = co_await echo(workers, object);
            BOOST_TEST(keyed == json::value(object));
        }
    });
}

BOOST_AUTO_TEST_CASE(may_be_long_wide_and_deep) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const std::string text(5u << 20, 'x');
        const auto long_one = co_await echo(workers, json::value(text));
        BOOST_TEST((long_one.as_string() == text));
        json::array wide;
        for (int i = 0; i < 100'000; ++i) {
            wide.push_back(i);
        }
        const auto wide_one = co_await echo(workers, wide);
        BOOST_TEST((wide_one == json::value(wide)));
        const auto deep = nested(200); // json_depth is 256
        const auto deep_one = co_await echo(workers, deep);
        BOOST_TEST((deep_one == deep));
    });
}

BOOST_AUTO_TEST_CASE(that_cannot_be_sent_leave_the_worker_as_it_was) {
    auto config = basic_pool();
    config.limits.frame_bytes = config.limits.json_bytes = 64u << 10;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await pid_of(workers);

        request broken = request("echo").arg("value", "\xC3\x28");
        auto refused = workers.execute(std::move(broken));
        const auto not_text = co_await failure_of(std::move(refused));
        BOOST_TEST(not_text.code() == errc::invalid_request);

        request bulky = request("echo").arg("value", json::string(70000, 'x'));
        auto too_large = workers.execute(std::move(bulky));
        const auto large_request = co_await failure_of(std::move(too_large));
        BOOST_TEST(large_request.code() == errc::frame_too_large);

        request fitting = request("repeat").arg("text", json::string(1000, 'x')).arg("times", 100);
        auto too_much = workers.execute(std::move(fitting));
        const auto large_result = co_await failure_of(std::move(too_much));
        BOOST_TEST(large_result.code() == errc::remote_error);
        BOOST_TEST(large_result.info().remote_type == "skep.ResultTooLarge");
        BOOST_TEST(contains(large_result.info().remote_message, "the limit is 65536 bytes"));

        const auto after = co_await pid_of(workers);
        BOOST_TEST(after == before);
    });
}

BOOST_AUTO_TEST_CASE(attachments_travel_both_ways) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        const std::vector<blob> sent{{}, pattern(1), pattern(3u << 20), pattern(255), {}};
        request call("reverse");
        for (const auto& each : sent) {
            call.attach(each);
        }
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.value == json::parse(R"([{"$attachment":0},{"$attachment":1},{"$attachment":2},
                                                   {"$attachment":3},{"$attachment":4}])"));
        BOOST_REQUIRE_EQUAL(answer.attachments.size(), sent.size());
        for (std::size_t i = 0; i < sent.size(); ++i) {
            BOOST_TEST((answer.attachments[i] == reversed(sent[i])), "attachment " << i);
        }
        request without("reverse");
        const auto nothing = co_await workers.execute(std::move(without));
        BOOST_TEST(nothing.value == json::value(json::array{}));
        BOOST_TEST(nothing.attachments.empty());
    });
}

BOOST_AUTO_TEST_CASE(what_goes_with_a_call_reaches_the_worker) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        request call = request("context")
                           .session("user-42")
                           .correlation_id("trace 7")
                           .metadata("tenant", "hive")
                           .metadata("priority", 3)
                           .timeout(30s);
        const auto answer = co_await workers.execute(std::move(call));
        BOOST_TEST(answer.value == json::parse(R"({"session":"user-42","correlation_id":"trace 7",
            "metadata":{"tenant":"hive","priority":3},"has_deadline":true})"));
        BOOST_TEST(answer.correlation_id == "trace 7");
        BOOST_TEST(answer.attempts == 1);
        BOOST_TEST(answer.worker.pool == "default");
        BOOST_TEST((answer.run_time > 0ns));

        request bare = request("context").timeout(0s);
        const auto plain = co_await workers.execute(std::move(bare));
        auto expected = json::parse(R"({"session":null,"metadata":{},"has_deadline":false})");
        expected.as_object()["correlation_id"] = plain.correlation_id; // one is made
        BOOST_TEST(plain.value == expected);
        BOOST_TEST(!plain.correlation_id.empty());
    });
}

BOOST_AUTO_TEST_CASE(a_remote_exception_tells_type_message_and_traceback) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        request call = request("fail").arg("message", "no such bee: Zoë");
        auto failing = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(failing));
        BOOST_TEST(e.code() == errc::remote_error);
        BOOST_TEST(e.info().remote_type == "ValueError");
        BOOST_TEST(e.info().remote_message == "no such bee: Zoë");
        BOOST_TEST(contains(e.info().remote_traceback, "workers/basic.py"));
        BOOST_TEST(contains(e.info().remote_traceback, "raise ValueError(message)"));
        BOOST_TEST(!contains(e.info().remote_traceback, "conversation.py"),
                   "frames of the SDK are in the traceback");
        BOOST_TEST(e.info().command == "fail");
        BOOST_TEST(contains(e.what(), "ValueError: no such bee"));
        BOOST_TEST(contains(e.what(), "raise ValueError(message)"));
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.remote_errors == 1u);
        BOOST_TEST(status.counters.workers_lost == 0u);
    });
}

BOOST_AUTO_TEST_CASE(a_mistake_of_the_callers_has_a_code_and_data) {
    with_pool(basic_pool(), [](pool& workers) -> asio::awaitable<void> {
        json::object data{{"size", 3}, {"kind", "gif"}};
        for (int i = 0; i < 50; ++i) { // however often
            request call =
                request("refuse").arg("code", "bad_image").arg("message", "not an image").arg("data", data);
            auto failing = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(failing));
            BOOST_TEST(e.kind() == errc::remote_error);
            BOOST_TEST(is_callers_fault(e));
            BOOST_TEST(e.info().remote_type == "skep.Error");
            BOOST_TEST(e.info().remote_code == "bad_image");
            BOOST_TEST(e.info().remote_message == "not an image");
            BOOST_TEST(e.info().remote_data == json::value(data));
            BOOST_TEST(e.info().remote_traceback.empty());
        }
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_started == 1u);
    });
}

BOOST_AUTO_TEST_CASE(a_call_that_does_not_fit_the_worker_is_told_why) {
    struct misfit {
        request call;
        errc code;
        std::string type;
        std::string message;
    };
    const std::vector<misfit> misfits{
        {request("ecko").arg("value", 1), errc::unknown_command, "skep.UnknownCommand",
         "unknown command 'ecko'; did you mean 'echo'?"},
        {request("add"), errc::invalid_arguments, "skep.InvalidArguments",
         "add() is missing argument 'a'; it takes (a, b=1)"},
        {request("add").arg("a", 1).arg("c", 2), errc::invalid_arguments, "skep.InvalidArguments",
         "add() does not take argument 'c'; it takes (a, b=1)"},
        {request("echo").arg("valu", 1), errc::invalid_arguments, "skep.InvalidArguments",
         "echo() is missing argument 'value' and does not take argument 'valu'; it takes (value)"},
    };
    with_pool(basic_pool(), [&](pool& workers) -> asio::awaitable<void> {
        for (const auto& each : misfits) {
            auto call = each.call;
            auto failing = workers.execute(std::move(call));
            const auto e = co_await failure_of(std::move(failing));
            BOOST_TEST(e.code() == each.code);
            BOOST_TEST(e.info().remote_type == each.type);
            BOOST_TEST(contains(e.info().remote_message, each.message), e.info().remote_message);
        }
        const auto still_there = co_await echo(workers, 1);
        BOOST_TEST(still_there == 1);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
