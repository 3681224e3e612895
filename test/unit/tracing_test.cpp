// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls, what workers do, and tools, as spans of traces, on virtual time.

#include "core/trace_context.hpp"
#include "support/asking_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(tracing)

namespace {

const std::string trace_id = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string callers_span = "00f067aa0ba902b7";

request predict() {
    return request("predict");
}

/// As one whose caller is in a trace already.
request within_trace(const std::string& flags = "01") {
    return predict().metadata("traceparent", "00-" + trace_id + '-' + callers_span + '-' + flags);
}

pool_config sampled(double ratio) {
    auto config = fake_config(1);
    config.tracing.sample_ratio = ratio;
    return config;
}

/// A pool whose spans somebody wants to know.
class traced_pool : public asking {
public:
    explicit traced_pool(pool_config config = fake_config(1)) : asking(std::move(config)) {
        listening_ = facade().events().listen<events::span>(
            context.get_executor(), [this](const events::span& what) { told_.push_back(what); });
    }

    std::vector<events::span> spans() {
        run_until_idle();
        return std::exchange(told_, {});
    }

    /// Begins a call, and returns what its worker gets.
    json::object begin(request what) {
        execute(std::move(what));
        auto calls = worker(0).take_calls();
        BOOST_REQUIRE(calls.size() == 1u);
        return std::move(calls.front());
    }

    static std::uint64_t id_of(const json::object& call) { return call.at("id").to_number<std::uint64_t>(); }

    static std::optional<trace_context> place_of(const json::object& call) {
        const auto* const metadata = call.if_contains("metadata");
        const auto* const header =
            metadata == nullptr ? nullptr : metadata->as_object().if_contains("traceparent");
        return header == nullptr ? std::nullopt : parse_traceparent(header->as_string());
    }

    void answer(const json::object& call) {
        worker(0).reply(id_of(call));
        run_until_idle();
    }

private:
    std::vector<events::span> told_;
    subscription listening_;
};

} // namespace

BOOST_AUTO_TEST_CASE(a_call_is_a_span_and_so_is_its_run_in_a_worker) {
    traced_pool pool;
    const auto call = pool.begin(predict().session("s").correlation_id("c"));
    const auto place = pool.place_of(call);
    pool.advance(2s);
    pool.answer(call);
    const auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 2u);
    const auto& run = spans[0];
    const auto& whole = spans[1];
    BOOST_TEST(whole.what == "predict");
    BOOST_TEST(whole.kind == "client");
    BOOST_TEST(whole.parent_id == "");
    BOOST_TEST(whole.outcome == "ok");
    BOOST_TEST(whole.correlation_id == "c");
    BOOST_TEST(whole.attributes.at("session") == "s");
    BOOST_TEST(whole.attributes.at("attempts") == 1);
    BOOST_TEST((whole.time == 2s));
    BOOST_TEST(to_string(run.worker) == "default/0#1");
    BOOST_TEST(run.kind == "server");
    BOOST_TEST(run.parent_id == whole.span_id);
    BOOST_TEST((run.start_time == whole.start_time));
    BOOST_TEST(run.trace_id == whole.trace_id);
    BOOST_TEST(is_trace_id(run.trace_id));
    BOOST_REQUIRE(place);
    BOOST_TEST(place->trace_id == run.trace_id);
    BOOST_TEST(place->span_id == run.span_id);
    BOOST_TEST(place->is_sampled);
}

BOOST_AUTO_TEST_CASE(the_trace_of_the_caller_goes_on) {
    traced_pool pool;
    const auto call = pool.begin(within_trace().metadata("tracestate", "vendor=1").metadata("tenant", "x"));
    BOOST_TEST(pool.place_of(call)->trace_id == trace_id);
    BOOST_TEST(call.at("metadata").at("tracestate") == "vendor=1");
    BOOST_TEST(call.at("metadata").at("tenant") == "x");
    pool.answer(call);
    const auto whole = pool.spans().back();
    BOOST_TEST(whole.trace_id == trace_id);
    BOOST_TEST(whole.parent_id == callers_span);
}

BOOST_AUTO_TEST_CASE(what_is_not_recorded_is_passed_on_as_it_is) {
    traced_pool pool;
    const auto call = pool.begin(within_trace("00"));
    BOOST_TEST(pool.place_of(call)->span_id == callers_span);
    pool.answer(call);
    BOOST_TEST(pool.spans().size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_header_that_is_none_begins_a_trace) {
    for (const auto& header : {json::value("00-nonsense"), json::value(5)}) {
        traced_pool pool;
        const auto call =
            pool.begin(predict().metadata("traceparent", header).metadata("tracestate", "of=another"));
        BOOST_TEST(pool.place_of(call).has_value());
        BOOST_TEST(!call.at("metadata").as_object().contains("tracestate"));
        pool.answer(call);
        BOOST_TEST(pool.spans().back().parent_id == "");
    }
}

BOOST_AUTO_TEST_CASE(of_the_calls_that_would_begin_a_trace_a_share_does) {
    traced_pool none(sampled(0));
    const auto call = none.begin(predict());
    BOOST_TEST(!none.place_of(call)->is_sampled); // so that what it leads to is not recorded either
    none.answer(call);
    none.answer(none.begin(within_trace()));
    BOOST_TEST(none.spans().size() == 2u); // of that which its caller records
}

BOOST_AUTO_TEST_CASE(half_of_the_traces_that_would_begin) {
    traced_pool half(sampled(0.5));
    for (int i = 0; i < 200; ++i) {
        half.answer(half.begin(predict()));
    }
    const auto traced = half.spans().size() / 2;
    BOOST_TEST(traced > 50u);
    BOOST_TEST(traced < 150u);
}

BOOST_AUTO_TEST_CASE(nothing_is_traced_that_nobody_wants_to_know) {
    asking pool;
    auto all = pool.facade().events().subscribe<>();
    pool.execute(predict());
    const auto calls = pool.worker(0).take_calls();
    BOOST_TEST(!calls.at(0).contains("metadata"));
    pool.worker(0).reply(traced_pool::id_of(calls.at(0)));
    pool.run_until_idle();
    pool.execute(within_trace());
    const auto kept = pool.worker(0).take_calls();
    BOOST_TEST(kept.at(0).at("metadata").at("traceparent").as_string() ==
               "00-" + trace_id + '-' + callers_span + "-01");
}

BOOST_AUTO_TEST_CASE(a_call_that_no_worker_has_had_has_no_run) {
    auto config = fake_config(1);
    config.queue.limit = 0;
    traced_pool pool(config);
    pool.begin(predict());
    pool.execute(predict());
    const auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 1u);
    BOOST_TEST(spans[0].outcome == "pool_saturated");
    BOOST_TEST(spans[0].kind == "client");
}

BOOST_AUTO_TEST_CASE(the_last_run_counts_of_a_call_that_is_made_again) {
    traced_pool pool(fake_config(2));
    pool.execute(predict().idempotent(true));
    const auto first = pool.worker(0).take_calls().size() == 1 ? 0u : 1u;
    pool.advance(1s);
    pool.worker(first).exit(exit_status::signalled(9));
    pool.advance(1s);
    auto calls = pool.worker(1 - first).take_calls();
    BOOST_REQUIRE(calls.size() == 1u);
    pool.worker(1 - first).reply(pool.id_of(calls[0]));
    const auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 2u);
    BOOST_TEST(spans[0].worker.slot == 1 - first);
    BOOST_TEST(spans[0].span_id == pool.place_of(calls[0])->span_id);
    BOOST_TEST((spans[0].time <= 1s));
    BOOST_TEST((spans[1].time == 2s));
    BOOST_TEST(spans[1].attributes.at("attempts") == 2);
}

BOOST_AUTO_TEST_CASE(what_a_worker_tells_of_a_span_is_in_the_trace) {
    traced_pool pool;
    const auto call = pool.begin(within_trace());
    const json::object span{{"trace", trace_id},      {"id", "1111111111111111"},
                            {"parent", callers_span}, {"start_us", 1'700'000'000'000'000},
                            {"time_us", 1'500},       {"outcome", "ValueError"}};
    pool.worker(0).send_control({{"type", "event"},
                                 {"name", "tokenize"},
                                 {"metadata", {{"model", "small"}}},
                                 {"correlation_id", "c"},
                                 {"span", span}});
    const auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 1u);
    BOOST_TEST(spans[0].what == "tokenize");
    BOOST_TEST(spans[0].kind == "internal");
    BOOST_TEST(spans[0].trace_id == trace_id);
    BOOST_TEST(spans[0].span_id == "1111111111111111");
    BOOST_TEST(spans[0].parent_id == callers_span);
    BOOST_TEST(spans[0].outcome == "ValueError");
    BOOST_TEST((spans[0].time == 1500us));
    BOOST_TEST((spans[0].start_time.time_since_epoch() == 1'700'000'000s));
    BOOST_TEST(spans[0].attributes == (json::object{{"model", "small"}}));
}

BOOST_AUTO_TEST_CASE(a_tool_is_a_span_within_the_run_or_what_the_worker_says) {
    traced_pool pool;
    json::object seen;
    const auto keep = [&seen](tool_call asked) -> asio::awaitable<tool_reply> {
        seen = asked.metadata;
        co_return tool_reply(1);
    };
    pool.facade().register_tool("lookup", keep);
    const auto call = pool.begin(within_trace());
    pool.ask(pool.id_of(call), 1, "lookup");
    auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 1u);
    BOOST_TEST(spans[0].pool == pool.facade().name());
    BOOST_TEST(spans[0].what == "lookup");
    BOOST_TEST(spans[0].kind == "server");
    BOOST_TEST(spans[0].outcome == "ok");
    BOOST_TEST(spans[0].trace_id == trace_id);
    BOOST_TEST(spans[0].parent_id == pool.place_of(call)->span_id);
    BOOST_TEST(seen.at("traceparent").as_string() == to_traceparent({trace_id, spans[0].span_id}));

    pool.worker(0).send_data({{"type", "tool_call"},
                              {"id", pool.id_of(call)},
                              {"tool_call", 2},
                              {"name", "lookup"},
                              {"args", json::object()},
                              {"parent_span", "2222222222222222"}});
    spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 1u);
    BOOST_TEST(spans[0].parent_id == "2222222222222222");
}

BOOST_AUTO_TEST_CASE(a_tool_that_fails_says_how) {
    traced_pool pool;
    const auto refuse = [](tool_call) -> asio::awaitable<tool_reply> {
        throw tool_error("no_such_key", "there is none");
        co_return tool_reply();
    };
    bool was_cancelled = false;
    pool.facade().register_tool("refuse", refuse);
    pool.facade().register_tool("wait", patient(was_cancelled));
    const auto call = pool.begin(predict());
    pool.ask(pool.id_of(call), 1, "refuse");
    BOOST_TEST(pool.spans().at(0).outcome == "no_such_key");
    pool.ask(pool.id_of(call), 2, "wait");
    pool.answer(call); // which nobody waits for then
    BOOST_TEST(was_cancelled);
    std::map<std::string, std::string> outcomes;
    for (const auto& span : pool.spans()) {
        outcomes[span.what] = span.outcome;
    }
    BOOST_TEST(outcomes["wait"] == "ok");                      // it took the cancellation for an end
    pool.ask(pool.id_of(pool.begin(predict())), 3, "unknown"); // never began
    BOOST_TEST(pool.spans().size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_that_a_tool_makes_is_in_the_trace_of_the_tool) {
    traced_pool pool(fake_config(2));
    pool.facade().register_tool("nest", calling(pool, "inner"));
    pool.execute(within_trace().metadata("tracestate", "vendor=1"));
    const auto first = pool.status().workers[0].load == 1 ? 0u : 1u;
    const auto outer = pool.worker(first).take_call();
    pool.ask(outer, 1, "nest", {}, first);
    const auto inner = pool.worker(1 - first).take_calls();
    BOOST_REQUIRE(inner.size() == 1u);
    BOOST_TEST(inner[0].at("metadata").at("tracestate") == "vendor=1");
    pool.worker(1 - first).reply(pool.id_of(inner[0]));
    const auto spans = pool.spans();
    BOOST_REQUIRE(spans.size() == 3u); // run, call, tool
    BOOST_TEST(spans[1].what == "inner");
    BOOST_TEST(spans[2].what == "nest");
    BOOST_TEST(spans[1].trace_id == trace_id);
    BOOST_TEST(spans[1].parent_id == spans[2].span_id);
}

BOOST_AUTO_TEST_CASE(a_probe_is_in_no_trace) {
    auto config = fake_config(1);
    config.health_check.enabled = true;
    config.health_check.interval = 1s;
    traced_pool pool(config);
    pool.advance(10s);
    BOOST_TEST(pool.spans().size() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
