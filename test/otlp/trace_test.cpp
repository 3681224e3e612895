// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// One trace, from a caller through a Python worker, what that does, a tool, and what the tool calls.

#include "otlp/recording_collector.hpp"

#include <algorithm>
#include <set>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(traces)

namespace {

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string callers_span = "00f067aa0ba902b7";

std::string text(const json::object& span, const char* key) {
    const auto* const value = span.if_contains(key);
    return value == nullptr ? "" : std::string(value->as_string());
}

std::string attribute(const json::object& span, std::string_view key) {
    for (const auto& each : span.at("attributes").as_array()) {
        if (each.at("key").as_string() == key) {
            return std::string(each.at("value").at("stringValue").as_string());
        }
    }
    return "";
}

/// "predict(3) < caller", where the number is its kind.
std::string path_of(const json::object& span, const std::vector<json::object>& all) {
    const auto kind = std::to_string(span.at("kind").to_number<int>());
    const auto name = text(span, "name") + '(' + kind + ')';
    const auto parent = text(span, "parentSpanId");
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const auto& each) { return text(each, "spanId") == parent; });
    return name + " < " +
           (found != all.end()       ? path_of(*found, all)
            : parent == callers_span ? "caller"
                                     : parent);
}

} // namespace

BOOST_AUTO_TEST_CASE(it_is_one_trace_from_the_caller_to_the_tools_own_call) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        recording_collector collector(context.get_executor());
        pool workers(context.get_executor(), quick(python_pool("otlp/traced_worker.py", 2)));
        otlp_options options;
        options.port = collector.port();
        otlp_exporter exporter(context.get_executor(), workers.events(), options);
        const auto lookup = [&workers](tool_call) -> asio::awaitable<tool_reply> {
            const reply inner = co_await workers.execute("weigh");
            co_return tool_reply(inner.value);
        };
        workers.register_tool("lookup", lookup);
        co_await workers.start();

        request call("predict");
        call.metadata("traceparent", "00-" + trace_id + '-' + callers_span + "-01");
        const reply answer = co_await workers.execute(std::move(call));
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
        co_await exporter.stop();
        co_await collector.end();

        const auto all = collector.spans();
        std::multiset<std::string> paths;
        for (const auto& span : all) {
            paths.insert(path_of(span, all));
            BOOST_TEST(text(span, "traceId") == trace_id);
            BOOST_TEST(attribute(span, "skep.pool") == "default");
            BOOST_TEST(text(span, "startTimeUnixNano") <= text(span, "endTimeUnixNano"));
        }
        const std::string in_worker = "predict(2) < predict(3) < caller";
        const std::string in_span = "inner work(1) < work(1) < " + in_worker;
        const std::multiset<std::string> expected{
            "predict(3) < caller",
            in_worker,
            "work(1) < " + in_worker,
            in_span,
            "lookup(2) < " + in_span,
            "weigh(3) < lookup(2) < " + in_span,
            "weigh(2) < weigh(3) < lookup(2) < " + in_span,
            "in a thread(1) < " + in_worker,
        };
        BOOST_TEST(paths == expected, boost::test_tools::per_element());
        // What the command would tell another service of it: the spans that it was in.
        const auto& headers = answer.value.as_array();
        BOOST_REQUIRE(headers.size() == 3u);
        for (std::size_t i = 0; i < headers.size(); ++i) {
            const std::string header(headers[i].as_string());
            const auto named = std::find_if(all.begin(), all.end(), [&header](const auto& each) {
                return header == "00-" + trace_id + '-' + text(each, "spanId") + "-01";
            });
            BOOST_REQUIRE(named != all.end());
            BOOST_TEST(text(*named, "name") == (i == 0 ? "predict" : i == 1 ? "work" : "inner work"));
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
