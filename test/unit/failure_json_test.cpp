// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/failure_json.hpp"
#include "core/text.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <limits>
#include <string>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(failure_json_test)

namespace {

error_info full_failure() {
    error_info info;
    info.detail = "worker default/3#17 ended";
    info.worker = worker_id{"default", 3, 17};
    info.pid = 4711;
    info.status = exit_status::signalled(SIGSEGV);
    info.exit_kind = exit_class::segfault;
    info.exit_evidence = "signal 11";
    info.stacks = "Thread 0x1";
    info.output_tail = "last \"words\"\n";
    info.attempts = 3;
    info.wait_time = 1500ms;
    info.queue_depth = 7;
    info.running_calls = 8;
    info.oldest_command = "train";
    info.oldest_run_time = 3h;
    return info;
}

error_info read_facts(const std::string& text) {
    return failure_from_json(json::parse(text));
}

} // namespace

BOOST_AUTO_TEST_CASE(all_facts_arrive) {
    const auto sent = full_failure();
    const auto read = read_facts(json::serialize(failure_to_json(sent)));
    BOOST_TEST(read.detail == sent.detail);
    BOOST_TEST((read.worker == sent.worker));
    BOOST_TEST(read.pid == sent.pid);
    BOOST_TEST((read.status == sent.status));
    BOOST_TEST((read.exit_kind == sent.exit_kind));
    BOOST_TEST(read.exit_evidence == sent.exit_evidence);
    BOOST_TEST(read.stacks == sent.stacks);
    BOOST_TEST(read.output_tail == sent.output_tail);
    BOOST_TEST(read.attempts == sent.attempts);
    BOOST_TEST((read.wait_time == sent.wait_time));
    BOOST_TEST(read.queue_depth == sent.queue_depth);
    BOOST_TEST(read.running_calls == sent.running_calls);
    BOOST_TEST(read.oldest_command == sent.oldest_command);
    BOOST_TEST((read.oldest_run_time == sent.oldest_run_time));
}

BOOST_AUTO_TEST_CASE(a_failure_without_facts_arrives_as_one) {
    const auto read = read_facts(json::serialize(failure_to_json({})));
    BOOST_TEST(!read.worker.has_value());
    BOOST_TEST(!read.status.known());
    BOOST_TEST((read.exit_kind == error_info().exit_kind));
    BOOST_TEST(read.pid == 0);
    BOOST_TEST((read.wait_time == 0s));
}

BOOST_AUTO_TEST_CASE(every_exit_status_arrives) {
    error_info info;
    for (const auto& status : {exit_status::exited(0), exit_status::exited(255), exit_status::signalled(1),
                               exit_status::signalled(64), exit_status()}) {
        info.status = status;
        BOOST_TEST((failure_from_json(failure_to_json(info)).status == status));
    }
    info.status = exit_status::taken();
    BOOST_TEST(!failure_from_json(failure_to_json(info)).status.known());
    info.status = exit_status::unreported();
    BOOST_TEST(!failure_from_json(failure_to_json(info)).status.known());
}

BOOST_AUTO_TEST_CASE(output_that_is_not_utf8_can_be_sent) {
    auto info = full_failure();
    info.detail = info.exit_evidence = info.stacks = info.output_tail = info.oldest_command = "a\xff z\xC3";
    const auto text = json::serialize(failure_to_json(info));
    BOOST_TEST(is_utf8(text));
    const auto read = read_facts(text);
    BOOST_TEST(read.output_tail.starts_with("a"));
    BOOST_TEST((read.status == info.status));
}

BOOST_AUTO_TEST_CASE(facts_of_another_type_are_left_out) {
    for (const std::string value : {"null", "true", "[]", R"([1,"a"])", R"({"a":1})", "1.5", R"("\u0000")"}) {
        json::object facts;
        for (const auto& member : failure_to_json(full_failure())) {
            facts[member.key()] = json::parse(value);
        }
        const auto read = failure_from_json(facts);
        BOOST_TEST(!read.worker.has_value());
        BOOST_TEST(!read.status.known(), value);
        BOOST_TEST((read.exit_kind == exit_class::unknown));
        BOOST_TEST(read.pid == 0);
        BOOST_TEST((read.wait_time == 0s));
        BOOST_TEST(read.queue_depth == 0u);
        BOOST_TEST(read.running_calls == 0u);
        BOOST_TEST((read.oldest_run_time == 0s));
    }
    for (const std::string text : {"null", "1", R"("lost")", "[]", R"([{"pid":1}])", "{}"}) {
        BOOST_TEST(read_facts(text).detail.empty());
        BOOST_TEST(read_facts(text).pid == 0);
    }
}

BOOST_AUTO_TEST_CASE(numbers_stay_in_their_range) {
    const auto low = read_facts(R"({"pid":-1,"wait_ms":-1,"queue_depth":-9223372036854775808,
        "running_calls":-5,"oldest_run_ms":-1,"status":{"signal":-9,"code":-1}})");
    BOOST_TEST(low.pid == 0);
    BOOST_TEST((low.wait_time == 0s));
    BOOST_TEST(low.queue_depth == 0u);
    BOOST_TEST(low.running_calls == 0u);
    BOOST_TEST((low.oldest_run_time == 0s));
    BOOST_TEST((low.status == exit_status::exited(0)));
    const auto high = read_facts(R"({"pid":9223372036854775807,"wait_ms":9223372036854775807,
        "queue_depth":9223372036854775807,"running_calls":4294967296,
        "oldest_run_ms":9223372036854775807,"status":{"signal":4294967297}})");
    BOOST_TEST(high.pid == std::numeric_limits<pid_t>::max());
    BOOST_TEST((high.wait_time == 24h * 365));
    BOOST_TEST(high.queue_depth == 2'147'483'647u);
    BOOST_TEST(high.running_calls == 2'147'483'647u);
    BOOST_TEST((high.oldest_run_time == 24h * 365));
    BOOST_TEST((high.status == exit_status::signalled(64)));
    const auto unreadable = read_facts(R"({"pid":18446744073709551615,"wait_ms":1e300})");
    BOOST_TEST(unreadable.pid == 0);
    BOOST_TEST((unreadable.wait_time == 0s));
}

BOOST_AUTO_TEST_CASE(texts_that_name_nothing_are_left_out) {
    const auto read = read_facts(R"({"worker":"no worker","exit_kind":"melted","status":{"colour":1}})");
    BOOST_TEST(!read.worker.has_value());
    BOOST_TEST((read.exit_kind == exit_class::unknown));
    BOOST_TEST(!read.status.known());
}

BOOST_AUTO_TEST_CASE(every_code_has_a_name) {
    int codes = 0;
    for (int number = 1; number <= static_cast<int>(errc::node_lost); ++number) {
        const auto code = static_cast<errc>(number);
        BOOST_TEST(!to_string(code).empty());
        BOOST_TEST((errc_of(to_string(code)) == code));
        ++codes;
    }
    BOOST_TEST(to_string(static_cast<errc>(codes + 1)).empty());
}

BOOST_AUTO_TEST_CASE(other_names_have_no_code) {
    for (const std::string name : {"", "success", "worker_los", "worker_lost ", "WORKER_LOST", "1"}) {
        BOOST_TEST(!errc_of(name).has_value());
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
