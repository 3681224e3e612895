// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The texts of `timeout`, by what the call has gone through; also on virtual time.

#include "policy/timeout_detail.hpp"
#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(timeout_detail_test)

namespace {

using enum late_call::position;

const std::vector<late_call::position> waiting{queued, queued_for_session, queued_for_home, queued_in_lease,
                                               pipelined};

std::string detail(late_call::position where, bool was_lost = false, const std::string& shortage = "") {
    late_call facts;
    facts.where = where;
    facts.was_lost = was_lost;
    facts.shortage = shortage;
    return timeout_detail(facts);
}

void check_lacks(const std::string& text, const std::string& part) {
    BOOST_TEST(text.find(part) == std::string::npos, "'" << part << "' in: " << text);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_call_that_never_ran_is_not_advised_to_run_for_longer) {
    for (const auto where : waiting) {
        const auto text = detail(where);
        BOOST_TEST(text.starts_with("it never ran: "), text);
        check_lacks(text, "raise the request's timeout");
    }
    check_mentions(detail(queued), "all workers were busy; raise workers, or lower queue.timeout");
    check_mentions(detail(queued_for_session), "the worker of its session was busy");
    check_mentions(detail(queued_for_home), "there was no link to the node of its session");
    check_mentions(detail(queued_in_lease), "the lease's other calls held its places");
    check_mentions(detail(pipelined), "raise workers, or lower pipeline_depth");
    for (const auto where : {queued_for_session, queued_for_home, queued_in_lease}) {
        check_lacks(detail(where), "raise workers"); // they would not help
    }
}

BOOST_AUTO_TEST_CASE(a_shortage_of_workers_is_the_cause) {
    BOOST_TEST(detail(queued, false, "the pool is suspended") == "it never ran: the pool is suspended");
    check_mentions(detail(delayed, true, "the pool is suspended"), "with it: the pool is suspended; ");
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_again_is_told_of_its_loss) {
    for (const auto where : {queued, queued_for_session, delayed}) {
        const auto text = detail(where, true);
        check_lacks(text, "never ran");
        check_mentions(text, "it waited to be sent again, after a worker was lost with it");
        check_mentions(text, "if another attempt is to fit in");
    }
}

BOOST_AUTO_TEST_CASE(of_a_running_call_the_longer_part_of_its_time_counts) {
    late_call facts;
    facts.where = running;
    facts.wait_time = 1s;
    facts.run_time = 1s;
    BOOST_TEST(timeout_detail(facts).empty()); // the phrase of the code fits
    facts.run_time = 900ms;
    BOOST_TEST(timeout_detail(facts) == "it waited for a worker, and ran for 900 ms only; raise workers, or "
                                        "the request's timeout if the work needs it");
    facts.was_lost = true;
    BOOST_TEST(timeout_detail(facts) == "its last attempt ran for 900 ms, after a worker was lost with it; "
                                        "raise the request's timeout if another attempt is to fit in");
}

BOOST_AUTO_TEST_CASE(a_call_that_runs_for_too_long) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("slow").timeout(3s));
    pool.advance(3s);
    BOOST_TEST(call->text() ==
               "the call took longer than its timeout; raise the request's timeout if the work needs it "
               "[command 'slow', worker default/0#1]");
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_for_a_worker_all_the_time) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto call = pool.execute(request("patient").timeout(3s));
    pool.advance(3s);
    BOOST_TEST(call->code() == errc::timeout);
    check_mentions(call->text(), "its timeout: it never ran: all workers were busy; raise workers");
    check_lacks(call->text(), "if the work needs it");
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_for_the_worker_of_its_session) {
    running_pool pool(fake_config(2));
    auto call = request("x").session("bee").affinity(affinity_mode::strict_queue);
    pool.execute(call);
    const auto late = pool.execute(call.timeout(3s));
    pool.advance(3s);
    BOOST_TEST(late->code() == errc::timeout);
    check_mentions(late->text(), "it never ran: the worker of its session was busy");
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_in_its_lease) {
    running_pool pool(fake_config());
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value);
    pool.execute(*held->value, request("first"));
    const auto late = pool.execute(*held->value, request("second").timeout(3s));
    pool.advance(3s);
    BOOST_TEST(late->code() == errc::timeout);
    check_mentions(late->text(), "it never ran: the lease's other calls held its places");
}

BOOST_AUTO_TEST_CASE(a_call_that_was_sent_ahead) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    running_pool pool(config);
    pool.execute(request("busy"));
    const auto call = pool.execute(request("ahead").timeout(3s));
    BOOST_TEST(pool.worker(0).take_calls().size() == 2u);
    pool.advance(3s);
    BOOST_TEST(call->code() == errc::timeout);
    check_mentions(call->text(), "it never ran: the worker that it was sent ahead to was busy");
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_for_most_of_its_time) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto call = pool.execute(request("late").timeout(3s));
    pool.advance(2s);
    pool.serve();
    pool.advance(1s);
    BOOST_TEST(call->code() == errc::timeout);
    check_mentions(call->text(), "it waited for a worker, and ran for 1000 ms only; raise workers");
    check_mentions(call->text(), "waited 2000 ms");
}

BOOST_AUTO_TEST_CASE(a_call_that_is_to_be_sent_again) {
    auto config = fake_config(2);
    config.retry.backoff = {10s};
    running_pool pool(config);
    const auto call = pool.execute(request("x").idempotent(true).timeout(3s));
    const std::size_t first = pool.worker(0).take_calls().empty() ? 1 : 0;
    crash_worker(pool, first);
    pool.advance(3s);
    BOOST_TEST(call->code() == errc::timeout);
    check_mentions(call->text(), "it waited to be sent again, after a worker was lost with it");
}

BOOST_AUTO_TEST_CASE(a_call_that_is_made_too_late) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("late").deadline(clock::now() - 1ns));
    check_mentions(call->text(), "it never ran: its deadline had passed before the call was made");
    check_lacks(call->text(), "if the work needs it");
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_quiet) {
    running_pool pool(fake_config());
    auto opened = pool.stream(request("tokens").idle_timeout(2s));
    BOOST_REQUIRE(opened->value);
    const auto next = pool.next(*opened->value);
    pool.advance(2s);
    BOOST_TEST(next->code() == errc::timeout);
    check_mentions(next->text(), "no chunk came for 2000 ms");
    check_mentions(next->text(), "yield more often, or raise the idle_timeout");
    check_lacks(next->text(), "raise the request's timeout");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
