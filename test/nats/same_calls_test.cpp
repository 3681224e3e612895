// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The same calls by a pool, by a pool_manager, and by a remote_pool of a node: the same outcomes and texts.

#include "support/same_calls.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace skep::test {

namespace {

using outcome_text = asio::awaitable<std::string>;

/// A use of call_interface that says how it ended.
struct same_case {
    const char* name;
    std::function<outcome_text(same_bench&)> body;
    std::string expected;                          ///< empty: any text, but the same of each kind
    std::function<void(pool_config&)> configure{}; ///< changes the pool of one worker
    int threads = 1;
    std::string at_node{}; ///< another text of the remote_pool: its client may end a call that waits there
};

std::ostream& operator<<(std::ostream& out, const same_case& each) {
    return out << each.name;
}

request echoing(const json::value& value) {
    return request("echo").arg("value", value);
}

request asking(const char* command, const char* name) {
    return request(command).arg("name", name);
}

blob bytes_of(std::size_t size) {
    return blob(std::vector<std::byte>(size, std::byte('x')));
}

std::string equal_or(const std::string& text, const std::string& expected) {
    return text == expected ? "equal" : text;
}

/// Returns a body: the outcomes of calls, one after the other.
std::function<outcome_text(same_bench&)> calls(std::vector<request> list) {
    return [list = std::move(list)](same_bench& bench) { return bench.outcomes(list); };
}

/// Returns a body: the chunks of a stream.
std::function<outcome_text(same_bench&)> stream(request call) {
    return [call = std::move(call)](same_bench& bench) { return bench.chunks(call); };
}

std::vector<request> of_session(std::vector<request> list) {
    for (auto& each : list) {
        each.session("s-1").affinity(affinity_mode::strict_queue);
    }
    return list;
}

asio::awaitable<tool_reply> add_tool(tool_call asked) {
    const auto sum = asked.args.at("a").to_number<int>() + asked.args.at("b").to_number<int>();
    co_return tool_reply(sum);
}

asio::awaitable<tool_reply> refusing_tool(tool_call) {
    throw tool_error("no_money", "the account is empty", json::value{{"balance", 0}});
    co_return tool_reply();
}

asio::awaitable<tool_reply> failing_tool(tool_call) {
    throw std::runtime_error("the tool's trouble");
    co_return tool_reply();
}

asio::awaitable<tool_reply> empty_tool(tool_call) {
    co_return tool_reply();
}

// Values.

template <class T>
outcome_text typed_outcome(same_bench& bench, json::value value) {
    auto call = echoing(value);
    try {
        auto running = bench.calls().execute<T>(std::move(call));
        const auto result = co_await std::move(running);
        co_return json::serialize(json::value_from(result));
    } catch (const error& failure) {
        co_return text_of(failure);
    }
}

outcome_text nested_outcome(same_bench& bench) {
    json::value value = "core";
    for (int i = 0; i < 50; ++i) {
        value = json::object{{"in", json::array{std::move(value)}}};
    }
    auto call = echoing(value);
    const auto text = co_await bench.outcome(std::move(call));
    co_return equal_or(text, json::serialize(value));
}

outcome_text large_attachment_outcome(same_bench& bench) {
    const auto sent = pattern(5 << 20);
    auto call = request("sizes").attach(sent);
    const auto answer = co_await bench.calls().execute(std::move(call));
    const auto& received = answer.attachments.at(0);
    const bool is_same = std::equal(sent.begin(), sent.end(), received.begin(), received.end());
    co_return is_same ? "equal" : "the bytes have changed";
}

outcome_text array_outcome(same_bench& bench) {
    const auto numbers = make_ndarray(std::vector<float>{1, 2, 3}, {3, 1});
    auto call = request("double").arg("x", numbers);
    const auto answer = co_await bench.calls().execute(std::move(call));
    const auto doubled = answer.tensor<float>("doubled");
    const json::array values{doubled(0), doubled(1), doubled(2)};
    co_return json::serialize(values) + ' ' + json::serialize(answer.value.at("shape"));
}

outcome_text context_outcome(same_bench& bench) {
    auto call = request("context").session("s-1").correlation_id("id-1").timeout(20s);
    call.metadata("user", json::value{{"name", "Zoë"}}).metadata("n", 1);
    const auto answer = co_await bench.calls().execute(std::move(call));
    const auto worker = comparable(to_string(answer.worker));
    co_return text_of(answer) + ' ' + answer.correlation_id + ' ' + worker;
}

// Times and cancellation.

outcome_text late_outcome(same_bench& bench) {
    auto call = echoing(1).deadline(std::chrono::steady_clock::now() - 1s);
    return bench.outcome(std::move(call));
}

/// Makes a call while the only worker runs another.
outcome_text outcome_of_waiting(same_bench& bench, request call) {
    const auto running = co_await bench.begin_running("first");
    const auto text = co_await bench.outcome(std::move(call));
    co_await bench.cancelled(running);
    co_return text;
}

outcome_text outcome_cancelled_at_once(same_bench& bench) {
    const auto call = begin_call(bench.context(), bench.calls(), request("hang"));
    const auto text = co_await bench.cancelled(call);
    auto next = echoing(1);
    const auto after = co_await bench.outcome(std::move(next));
    co_return text + " / " + after;
}

outcome_text outcome_cancelled_in_the_queue(same_bench& bench) {
    const auto running = co_await bench.begin_running("first");
    const auto waiting = begin_call(bench.context(), bench.calls(), echoing(2));
    const auto text = co_await bench.cancelled(waiting);
    const auto end = co_await bench.cancelled(running);
    auto next = echoing(3);
    const auto after = co_await bench.outcome(std::move(next));
    co_return text + " / " + end + " / " + after;
}

outcome_text outcome_cancelled_while_running(same_bench& bench) {
    const auto running = co_await bench.begin_running("first");
    const auto text = co_await bench.cancelled(running);
    co_await bench.exists("first.cancelled");
    auto next = echoing(1);
    const auto after = co_await bench.outcome(std::move(next));
    co_return text + " / " + after;
}

// Losses.

outcome_text outcome_of_a_repeated_call(same_bench& bench) {
    auto call = request("die_once").arg("marker", bench.file("died")).idempotent(true);
    const auto answer = co_await bench.calls().execute(std::move(call));
    co_return text_of(answer) + " after " + std::to_string(answer.attempts);
}

/// Returns the facts of a failure that its text has in part only.
outcome_text facts_of_a_loss(same_bench& bench) {
    auto call = request("leave").arg("status", 7).correlation_id("id-1");
    auto failing = bench.calls().execute(std::move(call));
    const auto failure = co_await failure_of(std::move(failing));
    const auto& info = failure.info();
    co_return info.command + ' ' + std::to_string(info.status.code()) + ' ' + info.output_tail + ' ' +
        info.correlation_id + ' ' + std::to_string(info.attempts) + ' ' + (info.pid > 0 ? "pid" : "no pid") +
        ' ' + (info.worker ? info.worker->pool : "no worker");
}

outcome_text facts_of_an_exception(same_bench& bench) {
    auto call = request("refuse").arg("code", "no_money").arg("message", "empty").arg("data", {1, 2});
    auto failing = bench.calls().execute(std::move(call));
    const auto failure = co_await failure_of(std::move(failing));
    const auto& info = failure.info();
    co_return info.remote_type + ' ' + info.remote_code + ' ' + info.remote_message + ' ' +
        json::serialize(info.remote_data) + ' ' + (is_callers_fault(failure) ? "caller" : "worker");
}

// Streams, progress and tools.

outcome_text outcome_of_a_slow_consumer(same_bench& bench) {
    auto call = request("count").arg("to", 1000);
    auto chunks = co_await bench.calls().stream(std::move(call));
    auto other = asking("ask", "add").arg("args", json::value{{"a", 1}, {"b", 2}}).tool("add", add_tool);
    const auto text = co_await bench.outcome(std::move(other)); // by the other worker
    int expected = 0;
    while (const auto piece = co_await chunks.next()) {
        BOOST_TEST_REQUIRE(piece->as<int>() == expected);
        ++expected;
    }
    co_return text + " / " + std::to_string(expected) + ' ' + text_of(chunks.result());
}

outcome_text outcome_of_leaving(same_bench& bench) {
    auto call = request("count").arg("to", 1'000'000'000);
    const auto text = co_await bench.chunks(std::move(call), 3);
    request next("cleanups");
    const auto after = co_await bench.outcome(std::move(next));
    co_return text + "/ " + after;
}

outcome_text outcome_of_a_cancelled_stream(same_bench& bench) {
    auto call = request("count").arg("to", 1'000'000'000);
    auto chunks = co_await bench.calls().stream(std::move(call));
    co_await chunks.next();
    chunks.cancel();
    auto reading = chunks.next();
    const auto failure = co_await failure_of(std::move(reading));
    request next("cleanups");
    const auto after = co_await bench.outcome(std::move(next));
    co_return text_of(failure) + " / " + after;
}

outcome_text outcome_of_a_lost_stream(same_bench& bench) {
    const auto has_received = std::make_shared<bool>(false);
    auto call = request("die_after").arg("chunks", 2).idempotent(true);
    call.tool("received", [has_received](tool_call) -> asio::awaitable<tool_reply> {
        auto is = [has_received] { return *has_received; };
        co_await eventually(std::move(is));
        co_return tool_reply();
    });
    auto chunks = co_await bench.calls().stream(std::move(call));
    const auto first = co_await chunks.next();
    const auto second = co_await chunks.next();
    *has_received = true;
    auto reading = chunks.next();
    const auto failure = co_await failure_of(std::move(reading));
    co_return text_of(first->value, {}) + ' ' + text_of(second->value, {}) + ' ' + text_of(failure);
}

outcome_text outcome_of_progress(same_bench& bench) {
    const auto seen = std::make_shared<std::string>();
    auto call = asking("report", "seen");
    call.on_progress([seen](const progress& report) {
        *seen = std::to_string(static_cast<int>(report.fraction * 100)) + " % " + report.text;
    });
    call.tool("seen", [seen](tool_call) -> asio::awaitable<tool_reply> {
        auto is = [seen] { return !seen->empty(); };
        co_await eventually(std::move(is));
        co_return tool_reply(*seen);
    });
    return bench.outcome(std::move(call));
}

// Several calls at a time.

/// Returns the number of calls with the right answer, of 60 that run at the same time on several threads.
outcome_text outcome_of_threads(same_bench& bench) {
    constexpr int count = 60;
    const auto right = std::make_shared<std::atomic<int>>(0);
    const auto ended = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < count; ++i) {
        auto on_end = [=](std::exception_ptr, int sum) {
            *right += sum == i + 1 ? 1 : 0;
            ++*ended;
        };
        auto call = request("add").arg("a", i);
        bench.calls().execute<int>(std::move(call),
                                   asio::bind_executor(asio::make_strand(bench.context()), on_end));
    }
    auto have_ended = [ended] { return *ended == count; };
    const bool have = co_await eventually(std::move(have_ended));
    BOOST_TEST(have);
    co_return std::to_string(*right);
}

/// Returns the outcomes of calls that may share a batch.
outcome_text outcome_of_batches(same_bench& bench) {
    std::vector<std::shared_ptr<background_call>> list;
    for (const int x : {1, 2, -3, 4}) {
        auto call = request("squares").arg("x", x);
        list.push_back(begin_call(bench.context(), bench.calls(), std::move(call)));
    }
    std::string text;
    for (const auto& each : list) {
        const bool has_ended = co_await is_ended(each);
        BOOST_TEST_REQUIRE(has_ended);
        text += (each->answer ? text_of(*each->answer) : text_of(*each->problem)) + " / ";
    }
    co_return text;
}

// Configurations.

void with_two_workers(pool_config& config) {
    config.workers = config.min_ready = 2;
}

void with_small_frames(pool_config& config) {
    config.limits.frame_bytes = config.limits.json_bytes = 256 << 10;
}

void with_poison_after_one_crash(pool_config& config) {
    config.crash_barrier.poison_crashes = 1;
}

std::vector<same_case> cases_of_values() {
    const request arguments = request("add").arg("a", 1).arg("b", 2);
    const json::array numbers{std::numeric_limits<std::int64_t>::min(),
                              std::numeric_limits<std::uint64_t>::max(), 1e300, 0.1, -0.0};
    auto attached = request("sizes");
    for (const std::size_t size : {0, 1, 70'000}) {
        attached.attach(bytes_of(size));
    }
    using table = std::map<std::string, std::vector<int>>;
    return {
        {"arguments", calls({arguments, request("add").arg("a", 1.5)}), "3 / 2.5E0"},
        {"null", calls({echoing(nullptr)}), "null"},
        {"booleans and empty values", calls({echoing({true, json::object(), json::array(), ""})}),
         R"([true,{},[],""])"},
        {"unicode", calls({echoing("Zoë \U0001F41D \n\u0001")}), "\"Zoë \U0001F41D \\n\\u0001\""},
        {"numbers", calls({echoing(numbers)}),
         R"([-9223372036854775808,18446744073709551615,1E300,1E-1,-0E0])"},
        {"nested values", nested_outcome, "equal"},
        {"a typed result",
         [](same_bench& bench) {
             return typed_outcome<table>(bench, {{"odd", json::array{1, 3}}});
         },
         R"({"odd":[1,3]})"},
        {"another type than expected", [](same_bench& bench) { return typed_outcome<int>(bench, "text"); },
         "type_mismatch | the value does not fit the type it was to become: not a number (it is of kind "
         "string) [command 'echo', worker default/W]"},
        {"no attachment", calls({request("sizes")}), R"({"sizes":[],"back":[]})"},
        {"several attachments", calls({attached}),
         R"({"sizes":[0,1,70000],"back":[{"$attachment":0},{"$attachment":1},{"$attachment":2}]})"
         " +0 +1 +70000"},
        {"an attachment of 5 MiB", large_attachment_outcome, "equal"},
        {"an array", array_outcome, "[2E0,4E0,6E0] [3,1]"},
        {"session, correlation id, metadata and deadline", context_outcome,
         R"({"session":"s-1","correlation_id":"id-1","metadata":{"user":{"name":"Zoë"},"n":1},)"
         R"("has_deadline":true} id-1 default/W)"},
    };
}

std::vector<same_case> cases_of_times() {
    const std::string after =
        " / cancelled | cancelled by the caller [command 'hang_until_cancelled', worker default/W] / 3";
    return {
        {"timeout", calls({request("hang").timeout(300ms), echoing(1)}),
         "timeout | the call took longer than its timeout; raise the request's timeout if the work needs "
         "it [command 'hang', worker default/W] / 1"},
        {"deadline in the past", late_outcome,
         "timeout | the call took longer than its timeout: it never ran: its deadline had passed before "
         "the call was made; give the call more time, or make it sooner [command 'echo', pool default]"},
        {"queue_timeout",
         [](same_bench& bench) { return outcome_of_waiting(bench, echoing(1).queue_timeout(100ms)); },
         "queue_timeout | no worker became free in time: all were busy; raise workers, queue.timeout or "
         "the request's queue_timeout [command 'echo', pool default, 1 call queued, 1 running, "
         "'hang_until_cancelled' for T]"},
        {"timeout in the queue",
         [](same_bench& bench) { return outcome_of_waiting(bench, echoing(1).timeout(200ms)); },
         "timeout | the call took longer than its timeout: it never ran: all workers were busy; raise "
         "workers, or lower queue.timeout to fail sooner [command 'echo', pool default, 1 call queued, 1 "
         "running, 'hang_until_cancelled' for T]",
         {},
         1,
         "timeout | the call took longer than its timeout; raise the request's timeout if the work needs "
         "it [command 'echo', worker default/W]"},
        {"cancelled at once", outcome_cancelled_at_once,
         "cancelled | cancelled by the caller [command 'hang', worker default/W] / 1"},
        {"cancelled in the queue",
         outcome_cancelled_in_the_queue,
         "cancelled | cancelled by the caller [command 'echo', pool default, 1 call queued, 1 running, "
         "'hang_until_cancelled' for T]" +
             after,
         {},
         1,
         "cancelled | cancelled by the caller [command 'echo', worker default/W]" + after},
        {"cancelled while it runs", outcome_cancelled_while_running,
         "cancelled | cancelled by the caller [command 'hang_until_cancelled', worker default/W] / 1"},
    };
}

std::vector<same_case> cases_of_failures() {
    const auto large = request("echo").arg("value", 1).attach(bytes_of(1 << 20));
    const auto crash = request("die").arg("number", SIGSEGV);
    const auto follow = [](int number) { return request("follow").arg("number", number); };
    return {
        {"an exception", calls({request("fail").arg("message", "first\nsecond")}), ""},
        {"skep.Error", calls({request("refuse").arg("code", "no_money").arg("message", "empty")}),
         "remote_error | the worker's code raised an exception: skep.Error 'no_money': empty [command "
         "'refuse', worker default/W]"},
        {"the facts of skep.Error", facts_of_an_exception, "skep.Error no_money empty [1,2] caller"},
        {"an unknown command", calls({request("ech")}), ""},
        {"wrong arguments", calls({request("add").arg("b", 1), request("add").arg("c", 1)}),
         "invalid_arguments | the command does not take these arguments: add() is missing argument 'a'; "
         "it takes (a, b=1) [command 'add', worker default/W] / invalid_arguments | the command does not "
         "take these arguments: add() is missing argument 'a' and does not take argument 'c'; it takes "
         "(a, b=1) [command 'add', worker default/W]"},
        {"an option without effect",
         calls({echoing(1).idle_timeout(1s), echoing(1).affinity(affinity_mode::strict_queue)}), ""},
        {"the default pool by name", calls({echoing(1).pool("default")}), "1"},
        {"a command of no character", calls({request("")}), ""},
        {"a request beyond the limit", calls({large, echoing(1)}),
         "frame_too_large | the request is too large to send: 1048781 bytes with its header exceed "
         "limits.frame_bytes, which is 262144; send less at a time or raise limits.frame_bytes [command "
         "'echo', pool default] / 1",
         with_small_frames},
        {"a result beyond the limit",
         calls({request("echo").arg("value", 1), request("zeros").arg("count", 1 << 20), echoing(2)}), "",
         with_small_frames},
        {"a killed worker", calls({request("die"), echoing(1)}), ""},
        {"a worker that exits", calls({request("leave").arg("status", 7)}), ""},
        {"the facts of a loss", facts_of_a_loss, "leave 7 on the way out\n id-1 1 pid default"},
        {"an idempotent call that loses a worker", outcome_of_a_repeated_call, "\"lived\" after 2"},
        {"an idempotent call that loses each worker", calls({request("die").idempotent(true)}), ""},
        {"poison", calls({crash, crash, echoing(1)}), "", with_poison_after_one_crash},
        {"a session", calls(of_session({follow(1), follow(2), follow(3)})), "0 / 1 / 2", with_two_workers},
        {"a strict session without its worker", calls(of_session({follow(1), request("die"), follow(2)})), "",
         with_two_workers},
    };
}

std::vector<same_case> cases_of_streams_and_tools() {
    const auto count = [](int to) { return request("count").arg("to", to); };
    const auto adding =
        asking("ask", "add").arg("args", json::value{{"a", 1}, {"b", 2}}).tool("add", add_tool);
    const auto missing = asking("ask", "absent").arg("args", json::object());
    return {
        {"a stream", stream(count(5)), "0 1 2 3 4 result 5"},
        {"a stream of bytes", stream(request("blocks").arg("sizes", {0, 1, 300'000})), ""},
        {"a stream without chunks", stream(count(0)), "result 0"},
        {"a stream of a command with one answer", stream(echoing(1)), "result 1"},
        {"a generator called for one answer", calls({count(3)}), "[0,1,2]"},
        {"a consumer that stops", outcome_of_a_slow_consumer, "3 / 1000 1000", with_two_workers},
        {"leaving a stream", outcome_of_leaving, "0 1 2 / 1"},
        {"cancelling a stream", outcome_of_a_cancelled_stream,
         "cancelled | cancelled by the caller [command 'count'] / 1"},
        {"an exception in a stream", stream(request("fail_after").arg("chunks", 2)), ""},
        {"a lost worker in a stream", outcome_of_a_lost_stream, ""},
        {"idle_timeout", stream(request("stall_after").arg("chunks", 2).idle_timeout(300ms)),
         "0 1 timeout | the call took longer than its timeout: no chunk came for T, its idle_timeout, "
         "though the worker might have sent one; yield more often, or raise the idle_timeout [command "
         "'stall_after', worker default/W]"},
        {"timeout of a stream", stream(request("stall_after").arg("chunks", 2).timeout(300ms)),
         "0 1 timeout | the call took longer than its timeout; raise the request's timeout if the work "
         "needs it [command 'stall_after', worker default/W]"},
        {"an unknown command as a stream", stream(request("coun")), ""},
        {"progress", outcome_of_progress, "\"50 % half\""},
        {"a tool", calls({adding}), "3"},
        {"a tool that refuses", calls({asking("ask_error", "it").tool("it", refusing_tool)}),
         R"({"type":"skep.ToolError","message":"the account is empty","code":"no_money",)"
         R"("data":{"balance":0}})"},
        {"a tool that fails", calls({asking("ask_error", "it").tool("it", failing_tool)}),
         R"({"type":"std::runtime_error","message":"the tool's trouble","code":null,"data":null})"},
        {"a tool without an answer", calls({asking("ask_error", "it").tool("it", empty_tool)}), "null"},
        {"a missing tool", calls({missing, asking("ask_error", "absent")}), ""},
        {"a batch command", outcome_of_batches, ""},
        {"several threads", outcome_of_threads, "60", with_two_workers, 3},
    };
}

std::vector<same_case> all_cases() {
    auto all = cases_of_values();
    for (auto& more : {cases_of_times(), cases_of_failures(), cases_of_streams_and_tools()}) {
        all.insert(all.end(), more.begin(), more.end());
    }
    return all;
}

template <class Kind>
std::string run_case(const same_case& each) {
    std::string text;
    auto body = [&](asio::io_context& context) -> asio::awaitable<void> {
        auto config = quick(python_pool("integration/workers/same.py"));
        if (each.configure) {
            each.configure(config);
        }
        Kind kind(context, config);
        co_await kind.start();
        {
            same_bench bench(context, kind);
            text = co_await each.body(bench);
        }
        co_await kind.stop();
    };
    run(std::move(body), each.threads);
    return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(same_calls_test)

BOOST_DATA_TEST_CASE(end_the_same_way, boost::unit_test::data::make(all_cases()), each) {
    const auto of_pool = run_case<calls_of_pool>(each);
    const auto of_manager = run_case<calls_of_manager>(each);
    const auto of_remote_pool = run_case<calls_of_remote_pool>(each);
    BOOST_TEST(of_manager == of_pool);
    BOOST_TEST((of_remote_pool == of_pool || of_remote_pool == each.at_node),
               of_remote_pool << " != " << of_pool);
    BOOST_TEST((each.expected.empty() || of_pool == each.expected), each.expected << " != " << of_pool);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
