// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/error.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

using namespace skep;
using skep::test::contains;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(error_test)

BOOST_AUTO_TEST_CASE(every_code_has_its_own_message) {
    std::set<std::string> messages;
    constexpr int last = static_cast<int>(errc::node_lost);
    for (int code = 1; code <= last; ++code) {
        const auto ec = make_error_code(static_cast<errc>(code));
        BOOST_TEST(ec.failed());
        BOOST_TEST((ec.category() == error_category()));
        BOOST_TEST(ec.message() != "");
        BOOST_TEST(ec.message() != "unknown error", code);
        const std::string text = error(static_cast<errc>(code), {}).what();
        BOOST_TEST((text == ec.message() || text.starts_with(ec.message() + "; ")), text);
        BOOST_TEST(ec.message().size() < 90u, "a short phrase, not advice: " << ec.message());
        BOOST_TEST(!contains(ec.message(), ";"));
        BOOST_TEST((error(static_cast<errc>(code), {}).kind() == static_cast<errc>(code)));
        BOOST_TEST(error(static_cast<errc>(code), {}).info().detail == ec.message());
        messages.insert(ec.message());
    }
    BOOST_TEST(messages.size() == static_cast<std::size_t>(last));
    BOOST_TEST(error_category().name() == std::string("skep"));
    for (const int unknown : {0, -1, last + 1, 1000}) {
        BOOST_TEST(error_category().message(unknown) == "unknown error");
    }
}

BOOST_AUTO_TEST_CASE(conditions) {
    namespace generic = boost::system::errc;
    constexpr int last = static_cast<int>(errc::node_lost);
    for (int code = 1; code <= last; ++code) {
        const auto value = static_cast<errc>(code);
        const auto ec = make_error_code(value);
        const bool times_out = value == errc::timeout || value == errc::queue_timeout ||
                               value == errc::no_worker || value == errc::no_node ||
                               value == errc::startup_timeout;
        BOOST_TEST((ec == generic::operation_canceled) == (value == errc::cancelled), code);
        BOOST_TEST((ec == generic::timed_out) == times_out, code);
        BOOST_TEST((ec == value));
    }
}

BOOST_AUTO_TEST_CASE(an_error_is_a_system_error) {
    try {
        throw error(errc::queue_timeout, {});
    } catch (const boost::system::system_error& failure) {
        BOOST_TEST((failure.code() == errc::queue_timeout));
        BOOST_TEST(contains(failure.what(), failure.code().message()));
    }
}

BOOST_AUTO_TEST_CASE(what_tells_every_fact) {
    error_info info;
    info.detail = "it closed its channel";
    info.pool = "blue";
    info.command = "predict";
    info.worker = worker_id{"blue", 3, 17};
    info.pid = 4711;
    info.status = exit_status::signalled(SIGKILL);
    info.output_tail = "line one\nline two\n";
    info.wait_time = 1500ms;
    info.queue_depth = 12;
    info.attempts = 2;
    info.remote_type = "ValueError";
    info.remote_message = "no such text";
    info.remote_traceback = "File \"worker.py\"\n  raise";
    const error failure(errc::remote_error, info);
    const std::string text = failure.what();
    for (const auto* const fact :
         {"the worker's code raised an exception", "it closed its channel", "predict", "blue/3#17", "4711",
          "signal 9 (Killed)", "likely cause: killed from outside", "1500 ms", "12 calls", "attempt 2",
          "ValueError: no such text", "    File \"worker.py\"\n      raise", "    line one\n    line two"}) {
        BOOST_TEST(contains(text, fact), fact << " in:\n" << text);
    }
    BOOST_TEST(text.back() != '\n');
    BOOST_TEST(failure.info().detail == info.detail);
    BOOST_TEST((failure.info().worker == info.worker));
}

BOOST_AUTO_TEST_CASE(what_names_the_node) {
    error_info info;
    info.detail = "the peer was silent for 6000 ms";
    info.command = "predict";
    info.node = "gpu-7";
    info.worker = worker_id{"blue", 0, 1};
    BOOST_TEST(error(errc::node_lost, info).what() ==
               std::string("node gpu-7 was lost while it had the call: the peer was silent for 6000 ms "
                           "[command 'predict', worker blue/0#1]"));
    BOOST_TEST(error(errc::queue_timeout, info).what() ==
               std::string("no worker became free in time: the peer was silent for 6000 ms "
                           "[command 'predict', node gpu-7, worker blue/0#1]"));
}

BOOST_AUTO_TEST_CASE(a_failure_of_a_newer_node_is_not_the_callers_fault) {
    error_info info;
    info.remote_type = "skep.Failure";
    info.remote_code = "license_expired";
    const error failure(errc::remote_error, info);
    BOOST_TEST(!is_callers_fault(failure));
    BOOST_TEST(contains(failure.what(), "license_expired"));
}

BOOST_AUTO_TEST_CASE(what_leaves_out_what_does_not_apply) {
    error_info info;
    info.pool = "blue";
    info.attempts = 1;
    const std::string text = error(errc::shutting_down, info).what();
    BOOST_TEST(text == "the pool is shutting down [pool blue]");
}

BOOST_AUTO_TEST_CASE(an_unknown_exit_status_is_no_fact) {
    error_info info;
    info.pid = 5;
    const std::string text = error(errc::worker_lost, info).what();
    BOOST_TEST(!contains(text, "unknown"));
    BOOST_TEST(!contains(text, "likely cause"));
    info.status = exit_status::exited(3);
    BOOST_TEST(contains(error(errc::worker_lost, info).what(), "exit code 3"));
    BOOST_TEST(!contains(error(errc::worker_lost, info).what(), "likely cause"));
}

BOOST_AUTO_TEST_CASE(an_error_can_be_copied_and_keeps_its_text) {
    error_info info;
    info.detail = std::string(1000, 'x');
    auto first = std::make_unique<error>(errc::timeout, info);
    const error second(*first);
    const std::string text = first->what();
    first.reset();
    BOOST_TEST(second.what() == text);
    BOOST_TEST((second.code() == errc::timeout));
}

BOOST_AUTO_TEST_CASE(a_copy_cannot_fail_and_shares_what_is_told) {
    BOOST_TEST(std::is_nothrow_copy_constructible_v<error>);
    BOOST_TEST(std::is_nothrow_copy_assignable_v<error>);
    error_info info;
    info.command = "predict";
    error first(errc::timeout, std::move(info));
    error second(errc::cancelled, {});
    second = std::move(first);
    BOOST_TEST(second.info().command == "predict");
    BOOST_TEST(first.info().command == "predict"); // NOLINT: to have been moved from takes nothing away
    BOOST_TEST(&first.info() == &second.info());
}

BOOST_AUTO_TEST_CASE(what_does_not_end_at_a_nul) {
    error_info info;
    info.remote_type = "ValueError";
    info.remote_message = std::string("before\0after", 12);
    info.command = "predict";
    const error problem(errc::remote_error, info);
    BOOST_TEST(std::string(problem.what()).find("before\\x00after") != std::string::npos, problem.what());
    BOOST_TEST(std::string(problem.what()).find("predict") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_status_that_somebody_else_took_is_explained) {
    error_info info;
    info.pid = 17;
    BOOST_TEST(std::string(error(errc::worker_lost, info).what()).find("SIGCHLD") == std::string::npos);
    info.status = exit_status::taken();
    const std::string text = error(errc::worker_lost, info).what();
    BOOST_TEST(text.find("ended by unknown exit status") != std::string::npos, text);
    BOOST_TEST(text.find("leave SIGCHLD at its default") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(a_status_that_a_nursery_has_not_reported_is_explained) {
    error_info info;
    info.pid = 17;
    info.status = exit_status::unreported();
    const std::string text = error(errc::worker_lost, info).what();
    BOOST_TEST(text.find("ended by unknown exit status") != std::string::npos, text);
    BOOST_TEST(text.find("the nursery of its template") != std::string::npos, text);
    BOOST_TEST(text.find("SIGCHLD") == std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(what_gives_advice_after_the_cause) {
    error_info info;
    info.detail = "5 ms ago";
    info.pool = "blue";
    BOOST_TEST(
        error(errc::poisonous_request, info).what() ==
        std::string("the request is refused: the same input made workers crash, lie or outgrow their memory: "
                    "5 ms ago; do not send it again [pool blue]"));
}

BOOST_AUTO_TEST_CASE(every_code_is_somebodys_to_act_on) {
    const std::set<errc> may_pass{errc::pool_saturated,
                                  errc::queue_timeout,
                                  errc::no_worker,
                                  errc::unavailable,
                                  errc::timeout,
                                  errc::worker_lost,
                                  errc::session_backend_failed,
                                  errc::worker_busy,
                                  errc::no_node,
                                  errc::node_lost};
    const std::set<errc> mistakes{errc::unknown_command, errc::invalid_arguments, errc::invalid_request,
                                  errc::frame_too_large, errc::poisonous_request, errc::unknown_worker,
                                  errc::invalid_config,  errc::session_not_found, errc::invalid_session,
                                  errc::pool_not_found};
    for (int value = 1; value <= static_cast<int>(errc::node_lost); ++value) {
        const auto code = static_cast<errc>(value);
        BOOST_TEST(retryable(code) == may_pass.contains(code), make_error_code(code).message());
        BOOST_TEST(is_callers_fault(code) == mistakes.contains(code), make_error_code(code).message());
        BOOST_TEST(is_callers_fault(error(code, {})) == mistakes.contains(code));
    }
}

BOOST_AUTO_TEST_CASE(the_workers_code_may_blame_the_caller) {
    error_info info;
    info.remote_type = "skep.Error";
    info.remote_message = "not an image";
    BOOST_TEST(!is_callers_fault(error(errc::remote_error, info)));
    info.remote_code = "bad_image";
    info.remote_data = {{"secret", 1}};
    const error failure(errc::remote_error, info);
    BOOST_TEST(is_callers_fault(failure));
    BOOST_TEST(!retryable(failure.kind()));
    BOOST_TEST(failure.what() ==
               std::string("the worker's code raised an exception: skep.Error 'bad_image': not an image"));
}

BOOST_AUTO_TEST_CASE(a_code_of_its_own_needs_no_type) {
    error_info info;
    info.remote_type = "skep.UnknownCommand";
    info.remote_message = "unknown command 'predct'";
    BOOST_TEST(error(errc::unknown_command, info).what() ==
               std::string("the worker has no such command: unknown command 'predct'"));
}

BOOST_AUTO_TEST_SUITE_END()
