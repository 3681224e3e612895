// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Slots and their workers, without a pool: nobody makes calls here.

#include "pool/supply/sizing.hpp"
#include "pool/supply/supervisor.hpp"
#include "support/worker_bench.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(supervision)

namespace {

class supply_bench final : public worker_bench {
public:
    explicit supply_bench(pool_config what)
        : worker_bench(std::move(what)),
          changed_(surroundings.executor),
          slots(surroundings, config),
          supply(around, log, slots, changed_) {
        supply.reset();
        sizing(slots).set_desired(*config.workers, false);
        loops_.spawn(nullptr, supply.supervise());
        run_until_idle();
    }
    ~supply_bench() {
        loops_.cancel();
        supply.stop_all(stop_stage::kill);
        advance(1s, 100ms);
        BOOST_TEST(slots.leaving().empty());
        BOOST_TEST(slots.ready() + slots.starting() == 0u);
    }

    std::size_t started() const noexcept { return starter.workers.size(); }
    void crash(std::size_t index) {
        far_side(index).exit(exit_status::signalled(SIGSEGV));
        advance(600ms);
    }

private:
    condition_variable changed_;
    task_group loops_{surroundings.executor, [](std::exception_ptr) {}};

public:
    roster slots;
    supervisor supply;

private:
    void on_event(const worker_event& event) override {
        auto& subject = *event.subject;
        if (std::holds_alternative<came_up>(event.fact)) {
            supply.on_up(subject);
        } else if (std::holds_alternative<left_service>(event.fact)) {
            supply.on_left_service(subject);
        } else if (std::holds_alternative<ended>(event.fact)) {
            supply.on_ended(subject);
        }
        changed_.notify_all();
    }
    void on_result(worker&, call&, result_message&, time_point) override {}
    void on_remote_error(worker&, call&, error_message&) override {}
    void on_recalled(worker&, call&, time_point) override {}
    void on_chunk(call&, chunk_message&) override {}
    void on_log(const worker&, const log_message&) noexcept override {}
    void on_begun_in_vain(call&) override {}
};

} // namespace

BOOST_AUTO_TEST_CASE(every_slot_is_filled) {
    supply_bench bench(fake_config(3));
    BOOST_TEST(bench.started() == 3u);
    BOOST_TEST(bench.slots.ready() == 3u);
    BOOST_TEST(bench.slots.vacant().empty());
}

BOOST_AUTO_TEST_CASE(no_more_start_at_a_time_than_a_batch) {
    auto config = fake_config(5);
    config.start.batch_size = 2;
    config.restart.starts_per_tick = 1;
    supply_bench bench(config);
    bench.starter.on_start = [](fake_worker&) {};
    BOOST_TEST(bench.started() >= 2u);
}

BOOST_AUTO_TEST_CASE(one_that_dies_unused_comes_back_after_its_backoff) {
    auto config = fake_config();
    config.restart.initial_backoff = 2s;
    config.restart.jitter = 0;
    supply_bench bench(config);
    bench.crash(0);
    BOOST_TEST(bench.started() == 1u);
    bench.advance(2s);
    BOOST_TEST(bench.started() == 2u);
    BOOST_TEST(bench.slots.ready() == 1u);
    BOOST_TEST(bench.far_side(1).order().worker.generation == 2u);
}

BOOST_AUTO_TEST_CASE(too_many_that_fail_make_it_wait) {
    auto config = fake_config();
    config.restart.limit = 2;
    config.restart.initial_backoff = 1ms;
    config.restart.max_backoff = 1ms;
    config.restart.open_time = 30s;
    supply_bench bench(config);
    for (std::size_t i = 0; i < 3; ++i) {
        bench.crash(i);
        bench.advance(1s);
    }
    BOOST_TEST(bench.supply.is_unavailable());
    BOOST_TEST(bench.started() == 3u);
    bench.advance(30s, 100ms);
    BOOST_TEST(bench.started() == 4u); // the trial
    BOOST_TEST(!bench.supply.is_unavailable());
}

BOOST_AUTO_TEST_CASE(fewer_are_wanted) {
    supply_bench bench(fake_config(3));
    sizing(bench.slots).set_desired(1, false);
    bench.run_until_idle();
    BOOST_TEST(bench.slots.leaving().size() == 2u);
    for (std::size_t i = 0; i < 3; ++i) {
        if (!bench.far_side(i).take_controls("shutdown").empty()) {
            bench.far_side(i).exit(exit_status::exited(0));
        }
    }
    bench.advance(600ms);
    BOOST_TEST(bench.slots.leaving().empty());
    BOOST_TEST(bench.slots.ready() == 1u);
    BOOST_TEST(bench.started() == 3u);
}

BOOST_AUTO_TEST_CASE(of_those_that_are_too_many_the_ones_that_start_go_before_the_idle_ones) {
    supply_bench bench(fake_config(1));
    bench.starter.on_start = [](fake_worker&) {};
    sizing(bench.slots).set_desired(2, false);
    bench.run_until_idle();
    BOOST_TEST(bench.slots.starting() == 1u);
    BOOST_TEST(sizing(bench.slots).set_desired(1, false) == 1u);
    bench.run_until_idle();
    BOOST_TEST(bench.far_side(1).terminations == 1);
    BOOST_TEST(bench.far_side(0).take_controls("shutdown").empty());
    BOOST_TEST(bench.slots.ready() == 1u);
}

BOOST_AUTO_TEST_CASE(repeated_resizing_does_not_collect_workers_that_leave) {
    supply_bench bench(fake_config());
    for (int i = 0; i < 5; ++i) {
        sizing(bench.slots).set_desired(0, false);
        bench.run_until_idle();
        sizing(bench.slots).set_desired(1, false);
        bench.run_until_idle();
    }
    BOOST_TEST(bench.started() == 2u);
    BOOST_TEST(bench.slots.leaving().size() == 2u);
    BOOST_TEST((bench.slots.vacancy(0).state() == worker_state::pending));
    BOOST_TEST(bench.slots.vacancy(0).history().back().reason == "two workers are still leaving its slot");
    bench.far_side(0).exit(exit_status::exited(0));
    bench.advance(600ms);
    BOOST_TEST(bench.started() == 3u);
    BOOST_TEST(bench.slots.ready() == 1u);
    BOOST_TEST(sizing(bench.slots).set_desired(2, false) == 2u); // in a slot that nobody leaves
    bench.run_until_idle();
    BOOST_TEST(bench.started() == 4u);
}

BOOST_AUTO_TEST_CASE(a_slot_whose_worker_is_still_being_stopped_comes_last) {
    supply_bench bench(fake_config(2));
    bench.starter.on_start = [](fake_worker& fresh) { fresh.obeys_terminate = false; };
    bench.crash(0);
    bench.advance(5s);
    BOOST_REQUIRE_EQUAL(bench.started(), 3u);
    BOOST_TEST(bench.slots.starting() == 1u);
    sizing(bench.slots).set_desired(0, false);
    bench.run_until_idle();
    sizing(bench.slots).set_desired(1, false);
    bench.run_until_idle();
    BOOST_TEST(!bench.slots[0].wanted); // its worker ignores SIGTERM
    BOOST_TEST(bench.started() == 4u);
    BOOST_TEST(bench.far_side(3).order().worker.slot == 1u);
}

BOOST_AUTO_TEST_CASE(a_recycled_worker_leaves_when_its_successor_is_up) {
    supply_bench bench(fake_config());
    bench.starter.on_start = [](fake_worker&) {};
    bench.supply.replacing().recycle(*bench.slots[0].current, "it is old");
    bench.run_until_idle();
    BOOST_REQUIRE_EQUAL(bench.started(), 2u);
    BOOST_TEST(bench.slots[0].current->id().generation == 1u);
    bench.far_side(1).shake_hands();
    bench.run_until_idle();
    BOOST_TEST(bench.slots[0].current->id().generation == 2u);
    BOOST_TEST(bench.far_side(0).take_controls("shutdown").size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_it_tells_of_its_workers_adds_up) {
    supply_bench bench(fake_config(2));
    bench.crash(0);
    bench.advance(5s);
    pool_status status;
    bench.supply.report(status, bench.surroundings.now());
    BOOST_TEST(status.live == 2u);
    BOOST_TEST(status.counters.workers_started == 3u);
    BOOST_TEST(status.counters.workers_lost == 1u);
    BOOST_TEST(status.counters.crashes == 1u);
    BOOST_TEST(status.workers.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
