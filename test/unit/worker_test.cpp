// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// One worker, without a pool around it.

#include "support/worker_bench.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(worker_alone)

namespace {

/// Keeps what its worker tells and answers.
class lone_worker final : public bench_with_workers {
public:
    explicit lone_worker(pool_config what = fake_config()) : bench_with_workers(std::move(what)) {}
    ~lone_worker() { end(); }

    worker& subject() { return *workers.at(0); }

    kept_ptr send(std::string command = "work") {
        kept_ptr fresh(new kept_call(request(std::move(command))));
        fresh->state = call_state::running;
        subject().calls().assign(*fresh, surroundings.now());
        run_until_idle();
        return fresh;
    }

    template <class Fact>
    std::size_t told() const {
        return static_cast<std::size_t>(std::count_if(
            facts.begin(), facts.end(), [](const auto& each) { return std::holds_alternative<Fact>(each); }));
    }

    std::vector<decltype(worker_event::fact)> facts;
    std::vector<std::string> answers;

private:
    void on_event(const worker_event& event) override { facts.push_back(event.fact); }
    void on_result(worker&, call& answered, result_message&, time_point) override {
        answers.push_back("result of " + answered.req.command());
    }
    void on_remote_error(worker&, call& answered, error_message& answer) override {
        answers.push_back(answer.type + " of " + answered.req.command());
    }
    void on_recalled(worker&, call& recalled_call, time_point) override {
        answers.push_back(recalled_call.req.command() + " given back");
    }
    void on_chunk(call&, chunk_message&) override {}
    void on_log(const worker&, const log_message&) noexcept override {}
    void on_begun_in_vain(call& begun) override {
        answers.push_back(begun.req.command() + " begins in vain");
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(it_comes_up_and_says_so_once) {
    lone_worker bench;
    bench.launch();
    BOOST_TEST(bench.told<came_up>() == 1u);
    BOOST_TEST(bench.subject().calls().accepts_call());
    BOOST_TEST(bench.subject().is_idle());
}

BOOST_AUTO_TEST_CASE(it_takes_no_call_before_it_is_ready) {
    lone_worker bench;
    bench.starter.on_start = [](fake_worker& fresh) { fresh.send_data(fresh.hello()); };
    bench.launch();
    BOOST_TEST(!bench.subject().calls().accepts_call());
    bench.far_side().send_data({{"type", "ready"}});
    bench.run_until_idle();
    BOOST_TEST(bench.subject().calls().accepts_call());
}

BOOST_AUTO_TEST_CASE(answers_go_straight_to_who_has_asked) {
    lone_worker bench;
    bench.launch();
    bench.send("first");
    BOOST_TEST(!bench.subject().calls().accepts_call());
    bench.far_side().answer_call();
    bench.run_until_idle();
    bench.send("second");
    bench.far_side().fail(bench.far_side().take_call(), "ValueError", "no");
    bench.run_until_idle();
    const std::vector<std::string> expected{"result of first", "ValueError of second"};
    BOOST_TEST(bench.answers == expected, boost::test_tools::per_element());
    BOOST_TEST(bench.subject().calls().completed() == 2u);
}

BOOST_AUTO_TEST_CASE(it_takes_so_many_more_as_may_be_pipelined) {
    auto config = fake_config();
    config.capacity = 2;
    config.pipeline_depth = 1;
    lone_worker bench(config);
    bench.launch();
    bench.send();
    BOOST_TEST(bench.subject().calls().accepts_call());
    bench.send();
    BOOST_TEST(!bench.subject().calls().accepts_call());
    BOOST_TEST(bench.subject().calls().accepts_pipelined_call());
    const auto last = bench.send();
    BOOST_TEST(!bench.subject().calls().accepts_pipelined_call());
    BOOST_TEST(bench.subject().calls().is_pipelined(*last));
}

BOOST_AUTO_TEST_CASE(calls_lost_with_it_are_given_back_last_sent_first) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    lone_worker bench(config);
    bench.launch();
    const auto begun = bench.send("begun");
    const auto pipelined = bench.send("pipelined");
    bench.far_side().exit(exit_status::signalled(SIGSEGV));
    bench.advance(600ms);
    BOOST_TEST(bench.told<calls_lost>() == 1u);
    const auto first = bench.subject().calls().take_lost();
    BOOST_REQUIRE(first.has_value());
    BOOST_TEST(first->lost.get() == pipelined.get());
    BOOST_TEST(!first->may_have_begun);
    const auto second = bench.subject().calls().take_lost();
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST(second->lost.get() == begun.get());
    BOOST_TEST(second->may_have_begun);
    BOOST_TEST(second->is_to_blame);
    BOOST_TEST(!bench.subject().calls().take_lost().has_value());
}

BOOST_AUTO_TEST_CASE(its_end_is_the_last_thing_it_tells) {
    lone_worker bench;
    bench.launch();
    bench.far_side().exit(exit_status::exited(3));
    bench.advance(600ms);
    BOOST_TEST(bench.told<left_service>() == 1u);
    BOOST_TEST(bench.told<ended>() == 1u);
    BOOST_TEST(std::holds_alternative<ended>(bench.facts.back()));
    BOOST_TEST(exit_of(bench.subject()).status.code() == 3);
}

BOOST_AUTO_TEST_CASE(retired_it_finishes_its_calls_and_is_asked_to_end) {
    lone_worker bench;
    bench.launch();
    bench.send();
    bench.subject().retire(departure_cause::surplus, "not needed");
    bench.run_until_idle();
    BOOST_TEST(bench.told<left_service>() == 1u);
    BOOST_TEST(bench.far_side().take_controls("shutdown").empty());
    bench.far_side().answer_call();
    bench.run_until_idle();
    BOOST_TEST(bench.far_side().take_controls("shutdown").size() == 1u);
    BOOST_TEST(bench.far_side().terminations == 0);
}

BOOST_AUTO_TEST_CASE(retired_it_does_not_lose_a_call_that_it_begins_after_a_probe) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    config.cancel_grace = 0ms; // nobody has given up anything
    lone_worker bench(config);
    bench.launch();
    const kept_ptr probe(new kept_call(request("probe")));
    bench.subject().calls().assign_private(*probe);
    const auto begun = bench.send("begun");
    bench.subject().retire(departure_cause::surplus, "not needed");
    bench.run_until_idle();
    BOOST_TEST(bench.far_side().take_controls("shutdown").empty());
    bench.far_side().reply(probe->id);
    bench.run_until_idle();
    BOOST_TEST(bench.far_side().take_controls("shutdown").empty());
    bench.far_side().reply(begun->id);
    bench.run_until_idle();
    BOOST_TEST(bench.far_side().take_controls("shutdown").size() == 1u);
    BOOST_TEST(bench.answers.front() == "result of begun");
}

BOOST_AUTO_TEST_CASE(suspended_it_is_drained_first) {
    lone_worker bench;
    bench.launch();
    bench.send();
    bench.subject().suspend();
    bench.run_until_idle();
    BOOST_TEST(bench.told<condition_changed>() == 0u);
    bench.far_side().answer_call();
    bench.run_until_idle();
    BOOST_TEST(bench.told<condition_changed>() == 1u);
    BOOST_TEST(!bench.subject().calls().accepts_call());
    bench.subject().resume();
    BOOST_TEST(bench.subject().calls().accepts_call());
}

BOOST_AUTO_TEST_CASE(a_protocol_violation_ends_it_and_is_told) {
    lone_worker bench;
    bench.launch();
    bench.far_side().reply(77);
    bench.run_until_idle();
    BOOST_REQUIRE_EQUAL(bench.told<left_service>(), 1u);
    BOOST_TEST(bench.far_side().terminations == 1);
    BOOST_TEST(bench.subject().life().leaves_for(departure_cause::protocol_error));
}

BOOST_AUTO_TEST_CASE(a_private_call_answers_its_sink_and_nobody_else) {
    lone_worker bench;
    bench.launch();
    const kept_ptr mine(new kept_call(request("mine")));
    bench.subject().calls().assign_private(*mine);
    bench.run_until_idle();
    BOOST_TEST(!bench.subject().calls().accepts_call());
    bench.far_side().answer_call("done");
    bench.run_until_idle();
    BOOST_TEST(mine->woken == 1);
    BOOST_TEST(mine->answer->value == "done");
    BOOST_TEST(bench.answers.empty());
    BOOST_TEST(bench.subject().calls().completed() == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_given_up_while_it_was_pipelined_is_told_of_once_it_can_have_begun) {
    auto config = fake_config();
    config.pipeline_depth = 1;
    for (const bool is_first_private : {false, true}) { // a place is a place: that of a probe, too
        lone_worker bench(config);
        bench.launch();
        const auto first = is_first_private ? kept_ptr(new kept_call(request("first"))) : bench.send("first");
        if (is_first_private) {
            bench.subject().calls().assign_private(*first);
            bench.run_until_idle();
        }
        const auto given_up = bench.send("second");
        BOOST_TEST(bench.subject().calls().is_pipelined(*given_up));
        given_up->state = call_state::abandoned;
        bench.far_side().reply(first->id);
        bench.run_until_idle();
        BOOST_TEST(std::count(bench.answers.begin(), bench.answers.end(), "second begins in vain") == 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
