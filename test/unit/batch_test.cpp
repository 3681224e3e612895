// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Batches of calls, on fake workers and virtual time.

#include "support/fake_runtime.hpp"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

namespace json = boost::json;

pool_config batch_config(std::size_t workers = 1) {
    auto config = fake_config(workers);
    config.crash_barrier.enabled = true;
    config.restart.stable_after = 0s;
    return config;
}

/// A pool whose workers run `embed` in batches.
class batching_pool : public manual_pool {
public:
    explicit batching_pool(pool_config config = batch_config(), int most = 4, double wait_ms = 0)
        : manual_pool(std::move(config)) {
        runtime().on_start = [most, wait_ms](fake_worker& fresh) {
            fresh.batches = {{"embed", {{"most", most}, {"wait_ms", wait_ms}}}};
            fresh.has_health_check = true;
            fresh.shake_hands();
        };
        start();
    }

    std::shared_ptr<outcome<reply>> embed(request call = request("embed")) {
        return execute(std::move(call));
    }

    std::vector<std::shared_ptr<outcome<reply>>> embed_many(std::size_t count) {
        std::vector<std::shared_ptr<outcome<reply>>> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(embed());
        }
        return all;
    }

    /// The ids of the calls that the worker has received since the last look: they are one batch.
    std::vector<std::uint64_t> take_batch(std::size_t index = 0) {
        std::vector<std::uint64_t> ids;
        for (const auto& each : worker(index).take_calls()) {
            ids.push_back(id_of(each));
            const auto* const batch = each.if_contains("batch");
            sizes_.push_back(batch == nullptr ? 1 : batch->at(1).to_number<std::size_t>());
            BOOST_TEST((batch == nullptr || batch->at(0).to_number<std::uint64_t>() == ids.front()));
        }
        for (const auto size : std::exchange(sizes_, {})) {
            BOOST_TEST(size == ids.size());
        }
        return ids;
    }

    void reply_all(const std::vector<std::uint64_t>& ids, std::size_t index = 0) {
        for (const auto id : ids) {
            worker(index).reply(id, id);
        }
        run_until_idle();
    }

private:
    std::vector<std::size_t> sizes_;
};

std::size_t count(const std::vector<std::shared_ptr<manual_pool::outcome<reply>>>& all, errc code) {
    std::size_t found = 0;
    for (const auto& each : all) {
        found += each->done && each->code() == code ? 1 : 0;
    }
    return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(batches)

BOOST_AUTO_TEST_CASE(a_call_for_an_idle_worker_goes_alone_and_those_that_wait_go_together) {
    batching_pool pool;
    const auto calls = pool.embed_many(6);
    const auto first = pool.take_batch();
    BOOST_TEST(first.size() == 1u);
    pool.reply_all(first);
    const auto second = pool.take_batch();
    BOOST_TEST(second.size() == 4u);
    BOOST_TEST(pool.status().workers[0].load == 1u);
    pool.reply_all({second[2], second[0], second[3]});
    BOOST_TEST(pool.take_batch().empty()); // the batch is not over
    pool.reply_all({second[1]});
    const auto third = pool.take_batch();
    BOOST_TEST(third.size() == 1u);
    pool.reply_all(third);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        BOOST_REQUIRE(calls[i]->value);
        BOOST_TEST(calls[i]->value->value == i + 1);
        BOOST_TEST(calls[i]->value->attempts == 1);
    }
}

/// Makes two calls in one turn.
asio::awaitable<void> embed_twice(pool& target) {
    using namespace asio::experimental::awaitable_operators;
    auto both = target.execute(request("embed")) && target.execute(request("embed"));
    co_await std::move(both);
}

BOOST_AUTO_TEST_CASE(where_calls_came_together_lately_they_are_gathered) {
    batching_pool pool;
    pool.begin(embed_twice(pool.facade()));
    const auto alone = pool.take_batch();
    BOOST_TEST(alone.size() == 1u);
    pool.embed();
    pool.reply_all(alone);
    const auto both = pool.take_batch();
    BOOST_TEST(both.size() == 2u);
    pool.reply_all(both);
    pool.begin(embed_twice(pool.facade()));
    const auto gathered = pool.take_batch();
    BOOST_TEST(gathered.size() == 2u);
    pool.reply_all(gathered);
}

BOOST_AUTO_TEST_CASE(other_commands_and_keys_stay_apart_and_keep_their_turn) {
    batching_pool pool;
    pool.embed(); // keeps the worker busy
    pool.embed(request("embed").arg("n", 1));
    pool.execute(request("other"));
    pool.embed(request("embed").batch_key("big"));
    pool.embed(request("embed").arg("n", 2));
    pool.reply_all(pool.take_batch());
    const auto small = pool.take_batch();
    BOOST_TEST(small.size() == 2u);
    pool.reply_all(small);
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(pool.take_batch().size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_older_call_is_not_overtaken_for_ever) {
    batching_pool pool;
    pool.embed();
    pool.execute(request("other"));
    pool.embed_many(9);
    pool.reply_all(pool.take_batch());
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(pool.take_batch().size() == 4u);
}

BOOST_AUTO_TEST_CASE(the_configuration_says_how_many) {
    auto config = batch_config();
    config.commands["embed"].batch = 2;
    batching_pool pool(config);
    pool.embed_many(5);
    pool.reply_all(pool.take_batch());
    BOOST_TEST(pool.take_batch().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_batch_of_one_turns_batches_off) {
    auto config = batch_config();
    config.commands["embed"].batch = 1;
    batching_pool pool(config);
    pool.embed_many(3);
    pool.reply_all(pool.take_batch());
    BOOST_TEST(pool.take_batch().size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_error_fails_its_own_call) {
    batching_pool pool;
    const auto calls = pool.embed_many(4);
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    BOOST_REQUIRE(batch.size() == 3u);
    pool.worker(0).fail(batch[1], "ValueError", "bad");
    pool.reply_all({batch[0], batch[2]});
    BOOST_TEST(count(calls, errc::remote_error) == 1u);
    BOOST_TEST(calls[2]->code() == errc::remote_error);
    BOOST_TEST(calls[3]->value.has_value());
}

BOOST_AUTO_TEST_CASE(the_error_of_a_whole_batch_counts_once_against_the_worker) {
    auto config = batch_config();
    config.health_check.error_streak = 3;
    batching_pool pool(config, 16);
    pool.embed_many(17);
    pool.reply_all(pool.take_batch());
    for (const auto id : pool.take_batch()) {
        pool.worker(0).fail(id, "ValueError", "bad");
    }
    pool.run_until_idle();
    BOOST_TEST(pool.status().workers[0].errors == 16u);
    BOOST_TEST(pool.worker(0).take_calls().empty()); // no probe
}

BOOST_AUTO_TEST_CASE(the_error_of_one_call_does_not_hide_that_of_the_batch) {
    auto config = batch_config();
    config.health_check.error_streak = 3;
    batching_pool pool(config);
    pool.embed_many(1 + 3 * 4);
    pool.reply_all(pool.take_batch());
    for (int i = 0; i < 3; ++i) {
        const auto batch = pool.take_batch();
        BOOST_REQUIRE(batch.size() == 4u);
        pool.worker(0).refuse(batch[0], "bad_input"); // blames the caller
        for (std::size_t place = 1; place < batch.size(); ++place) {
            pool.worker(0).fail(batch[place], "ValueError", "bad");
        }
        pool.run_until_idle();
    }
    BOOST_TEST(pool.worker(0).take_calls().size() == 1u); // a probe
}

BOOST_AUTO_TEST_CASE(the_timeouts_of_a_batch_count_once_against_the_worker) {
    auto config = batch_config();
    config.health_check.error_streak = 3;
    batching_pool pool(config, 16);
    pool.embed();
    for (int i = 0; i < 16; ++i) {
        pool.embed(request("embed").timeout(1s));
    }
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    BOOST_REQUIRE(batch.size() == 16u);
    pool.advance(1s);
    pool.reply_all(batch);
    BOOST_TEST(pool.worker(0).take_calls().empty()); // no probe
}

BOOST_AUTO_TEST_CASE(a_call_that_is_cancelled_before_its_batch_leaves_it) {
    batching_pool pool;
    pool.embed();
    const auto gone = pool.embed();
    const auto stays = pool.embed();
    gone->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    pool.reply_all(pool.take_batch());
    BOOST_TEST(pool.take_batch().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_worker_has_cancel_grace_only_once_all_callers_have_left) {
    batching_pool pool;
    pool.warm_up();
    pool.embed();
    const auto first = pool.embed(request("embed").timeout(1s));
    const auto second = pool.embed(request("embed").timeout(20s));
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    BOOST_REQUIRE(batch.size() == 2u);
    pool.advance(10s);
    BOOST_TEST(first->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 0);
    BOOST_TEST(!second->done);
    pool.advance(10s);
    BOOST_TEST(second->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(an_early_answer_to_one_does_not_free_the_worker_from_the_grace_of_the_others) {
    batching_pool pool;
    pool.warm_up();
    pool.embed();
    pool.embed(request("embed").timeout(1s));
    pool.embed(request("embed").timeout(1s));
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    pool.advance(1s);
    pool.reply_all({batch.at(1)});
    pool.advance(2s);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(a_killer_is_found_within_three_crashes_and_the_others_are_answered) {
    batching_pool pool(batch_config(), 32);
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    const auto plug = pool.embed();
    for (int i = 0; i < 32; ++i) {
        calls.push_back(pool.embed(request("embed").arg("kills", i == 17).idempotent(true)));
    }
    pool.reply_all(pool.take_batch());
    BOOST_TEST(pool.worker(0).take_calls().size() == 32u);
    std::size_t current = 0;
    std::size_t crashes = 0;
    const auto crash = [&] {
        ++crashes;
        crash_worker(pool, current, exit_status::signalled(SIGSEGV));
        pool.advance(1s);
        ++current;
        BOOST_REQUIRE(pool.launched() == current + 1);
    };
    crash();
    for (int step = 0; step < 40 && count(calls, errc()) + count(calls, errc::poisonous_request) < 32;
         ++step) {
        const auto sent = pool.worker(current).take_calls();
        BOOST_REQUIRE(sent.size() == 1u);
        BOOST_TEST(!sent[0].contains("batch"));
        if (sent[0].at("args").at("kills").as_bool()) {
            crash();
        } else {
            pool.reply_all({id_of(sent[0])}, current);
        }
    }
    BOOST_TEST(crashes == 3u);
    BOOST_TEST(count(calls, errc()) == 31u);
    BOOST_TEST(calls[17]->code() == errc::poisonous_request);
}

BOOST_AUTO_TEST_CASE(a_call_of_a_crashed_batch_that_may_not_run_twice_is_lost_and_says_so) {
    batching_pool pool;
    pool.embed();
    const auto lost = pool.embed();
    pool.embed();
    pool.reply_all(pool.take_batch());
    crash_worker(pool, 0, exit_status::signalled(SIGSEGV));
    BOOST_TEST(lost->code() == errc::worker_lost);
    check_mentions(lost->text(), "a batch of 2 calls");
}

BOOST_AUTO_TEST_CASE(calls_of_a_session_go_together_only_in_their_order) {
    batching_pool pool;
    const auto in_session = [](const char* command) { return request(command).session("s"); };
    pool.embed(in_session("embed"));
    pool.embed(in_session("embed"));
    pool.embed(in_session("embed"));
    pool.execute(in_session("reset"));
    pool.embed(in_session("embed"));
    pool.embed();
    pool.reply_all(pool.take_batch());
    const auto two = pool.take_batch();
    BOOST_TEST(two.size() == 2u);
    pool.reply_all(two);
    BOOST_TEST(pool.serve() == "reset");
    BOOST_TEST(pool.take_batch().size() == 1u);
}

BOOST_AUTO_TEST_CASE(calls_that_waited_before_the_worker_of_their_session_was_known_come_first) {
    batching_pool pool;
    const auto in_session = [](const char* command, int number) {
        return request(command, {{"number", number}}).session("s").affinity(affinity_mode::strict_queue);
    };
    pool.execute(request("other"));
    pool.execute(in_session("first", 1));
    pool.execute(in_session("embed", 2));
    pool.execute(in_session("embed", 3));
    BOOST_TEST(pool.serve() == "other");
    pool.execute(in_session("embed", 4)); // for this worker only
    BOOST_TEST(pool.serve() == "first");
    std::vector<std::int64_t> numbers;
    for (const auto& each : pool.worker(0).take_calls()) {
        numbers.push_back(each.at("args").at("number").as_int64());
    }
    BOOST_TEST(numbers == std::vector<std::int64_t>({2, 3, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(calls_of_a_lease_go_together) {
    batching_pool pool;
    const auto held = pool.checkout();
    BOOST_REQUIRE(held->value);
    auto& lease = *held->value;
    for (int i = 0; i < 4; ++i) {
        pool.execute(lease, request("embed"));
    }
    pool.embed();
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    BOOST_TEST(batch.size() == 3u);
    pool.reply_all(batch);
    BOOST_TEST(pool.take_batch().empty()); // the lease is not given back
}

/// Workers that wait for 10 ms; calls come each millisecond.
struct waiting_pool : batching_pool {
    explicit waiting_pool(pool_config config = batch_config(), std::size_t most = 4)
        : batching_pool(std::move(config), most, 10) {
        for (int i = 0; i < 20; ++i) {
            embed();
            advance(1ms);
            reply_all(take_batch());
        }
        advance(1s);
        reply_all(take_batch());
    }
};

BOOST_AUTO_TEST_CASE(a_wait_holds_a_free_worker_for_more_calls) {
    waiting_pool pool;
    pool.embed();
    BOOST_TEST(pool.take_batch().empty());
    pool.advance(1ms);
    pool.embed();
    BOOST_TEST(pool.take_batch().empty());
    pool.advance(20ms);
    BOOST_TEST(pool.take_batch().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_full_batch_is_not_held) {
    waiting_pool pool;
    for (int i = 0; i < 4; ++i) {
        BOOST_TEST(pool.take_batch().empty());
        pool.embed();
    }
    BOOST_TEST(pool.take_batch().size() == 4u);
}

BOOST_AUTO_TEST_CASE(others_use_the_worker_that_is_held) {
    waiting_pool pool;
    pool.embed();
    const auto other = pool.execute(request("other"));
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(other->value.has_value());
    pool.advance(20ms);
    BOOST_TEST(pool.take_batch().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_sessions_call_uses_its_worker_that_is_held) {
    for (const auto mode : {affinity_mode::strict_fail_fast, affinity_mode::strict_queue}) {
        waiting_pool pool;
        const auto call = [mode] { return request("other").session("s").affinity(mode); };
        pool.execute(call());
        BOOST_TEST(pool.serve() == "other");
        pool.embed();
        const auto second = pool.execute(call());
        BOOST_TEST(pool.serve() == "other");
        BOOST_TEST(second->value.has_value());
        pool.advance(20ms);
        BOOST_TEST(pool.take_batch().size() == 1u);
    }
}

/// When its session gets a worker, a waiting call is bound to none yet. Newer ones are bound at once.
BOOST_AUTO_TEST_CASE(a_sessions_call_that_is_bound_does_not_overtake_one_that_is_not) {
    for (const bool is_late : {false, true}) {
        waiting_pool pool;
        const auto in_session = [](const char* command) {
            return request(command).session("s").affinity(affinity_mode::strict_queue);
        };
        pool.execute(request("busy"));
        pool.execute(in_session("first"));
        pool.embed();
        pool.execute(in_session("second"));
        BOOST_TEST(pool.serve() == "busy");
        if (!is_late) {
            pool.execute(in_session("third"));
        }
        BOOST_TEST(pool.serve() == "first");
        if (is_late) {
            pool.execute(in_session("third"));
        }
        const auto batch = pool.take_batch();
        BOOST_TEST(batch.empty());
        pool.advance(20ms);
        pool.reply_all(pool.take_batch());
        BOOST_TEST(pool.serve() == "second");
        BOOST_TEST(pool.serve() == "third");
    }
}

BOOST_AUTO_TEST_CASE(a_sessions_call_uses_its_worker_past_a_large_batch_that_is_held) {
    waiting_pool pool(batch_config(), 200);
    const auto call = [] { return request("other").session("s").affinity(affinity_mode::strict_fail_fast); };
    pool.execute(call());
    BOOST_TEST(pool.serve() == "other");
    for (int i = 0; i < 100; ++i) {
        pool.embed();
    }
    const auto second = pool.execute(call());
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(second->value.has_value());
    pool.advance(20ms);
    BOOST_TEST(pool.take_batch().size() == 100u);
}

BOOST_AUTO_TEST_CASE(others_use_the_held_worker_past_a_call_of_a_session) {
    waiting_pool pool;
    pool.execute(request("first"));
    pool.embed();
    pool.execute(request("new").session("s"));
    const auto other = pool.execute(request("other"));
    BOOST_TEST(pool.serve() == "first");
    pool.advance(1us);
    BOOST_TEST(pool.serve() == "other");
    BOOST_TEST(other->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_full_queue_lets_no_call_of_a_session_overtake) {
    auto config = batch_config();
    config.queue.limit = 0;
    waiting_pool pool(std::move(config));
    const auto in_session = [] {
        return request("embed").session("s").affinity(affinity_mode::strict_queue);
    };
    pool.embed();
    for (int i = 0; i < 3; ++i) {
        const auto waiting = pool.embed(in_session());
        BOOST_TEST(!waiting->done);
    }
    const auto newer = pool.embed(in_session());
    BOOST_TEST(newer->code() == errc::pool_saturated);
    BOOST_TEST(pool.take_batch().empty());
    pool.advance(20ms);
    const auto first = pool.take_batch();
    BOOST_TEST(first.size() == 1u);
    pool.reply_all(first);
    BOOST_TEST(pool.take_batch().size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_held_call_can_be_cancelled_and_times_out) {
    waiting_pool pool;
    const auto cancelled = pool.embed();
    cancelled->cancel.emit(asio::cancellation_type::total);
    pool.run_until_idle();
    BOOST_TEST(cancelled->code() == errc::cancelled);
    const auto late = pool.embed(request("embed").timeout(1ms));
    pool.advance(1ms);
    BOOST_TEST((late->done || pool.take_batch().size() == 1u)); // a deadline that is near ends the hold
}

BOOST_AUTO_TEST_CASE(each_batch_is_told_of_and_counted) {
    batching_pool pool;
    std::vector<events::batch_formed> told;
    const auto listening = pool.facade().events().listen<events::batch_formed>(
        pool.context.get_executor(), [&](const events::batch_formed& what) { told.push_back(what); });
    pool.embed();
    pool.embed();
    pool.advance(5ms);
    pool.embed();
    pool.reply_all(pool.take_batch());
    pool.run_until_idle();
    BOOST_REQUIRE(told.size() == 2u);
    BOOST_TEST(told[0].calls == 1u);
    BOOST_TEST(told[1].calls == 2u);
    BOOST_TEST((told[1].wait_time == 5ms));
    BOOST_TEST(told[1].command == "embed");
    BOOST_TEST(told[1].worker.generation == 1u);
    const auto figures = pool.metrics();
    BOOST_REQUIRE(figures.batches.contains("embed"));
    const auto& batches = figures.batches.at("embed");
    BOOST_TEST(batches.calls == 3u);
    BOOST_TEST(batches.sizes[0] == 1u);
    BOOST_TEST(batches.sizes[1] == 1u);
    BOOST_TEST(batches.wait_time.count() == 2u);
    const auto shown = to_json(figures).at("batches").at("embed");
    BOOST_TEST(shown.at("sizes").at("2") == 1);
    BOOST_TEST(shown.at("calls") == 3);
}

BOOST_AUTO_TEST_CASE(commands_without_batches_have_no_figures_of_them) {
    batching_pool pool;
    pool.execute(request("other"));
    pool.serve();
    BOOST_TEST(pool.metrics().batches.empty());
}

BOOST_AUTO_TEST_CASE(a_batch_has_a_span_that_links_its_calls) {
    batching_pool pool;
    std::vector<events::span> spans;
    const auto listening = pool.facade().events().listen<events::span>(
        pool.context.get_executor(), [&](const events::span& what) { spans.push_back(what); });
    pool.embed();
    pool.embed();
    pool.embed();
    pool.reply_all(pool.take_batch());
    const auto batch = pool.take_batch();
    spans.clear();
    pool.reply_all({batch.at(0)});
    BOOST_TEST(spans.size() == 2u); // of the call
    BOOST_TEST(spans[0].attributes.at("batch_size") == 2);
    pool.reply_all({batch.at(1)});
    BOOST_REQUIRE(spans.size() == 5u);
    const auto& whole = spans.back();
    BOOST_TEST(whole.what == "batch embed");
    BOOST_TEST(whole.kind == "internal");
    BOOST_TEST(whole.attributes.at("batch_size") == 2);
    BOOST_REQUIRE(whole.links.size() == 2u);
    BOOST_TEST(whole.links[0].at("span_id").as_string() == spans[0].span_id);
    BOOST_TEST(whole.links[0].at("trace_id").as_string() == spans[0].trace_id);
    BOOST_TEST(whole.trace_id.size() == 32u);
    BOOST_TEST(whole.trace_id != spans[0].trace_id);
}

BOOST_AUTO_TEST_CASE(an_engine_has_its_slots_whatever_the_capacity) {
    manual_pool pool(fake_config());
    pool.runtime().on_start = [](fake_worker& fresh) {
        fresh.slots = 64;
        fresh.shake_hands(64);
    };
    pool.start();
    BOOST_TEST(pool.status().workers[0].capacity == 64u);
}

BOOST_AUTO_TEST_CASE(slots_that_are_none_break_the_protocol) {
    for (const std::uint64_t slots : {std::uint64_t(0), std::uint64_t(65'537), UINT64_MAX}) {
        manual_pool pool(fake_config());
        pool.runtime().on_start = [&](fake_worker& fresh) {
            auto hello = fresh.hello();
            hello["slots"] = slots;
            fresh.send_data(hello);
        };
        const auto started = pool.start();
        pool.advance(1s);
        BOOST_TEST(pool.worker(0).terminations + pool.worker(0).kills >= 1, slots);
    }
}

/// Workers that give calls back.
struct pipelining_pool : manual_pool {
    pipelining_pool() : manual_pool(batch_config()) {
        runtime().on_start = [](fake_worker& fresh) {
            fresh.gives_back = true;
            fresh.batches = {{"embed", {{"most", 2}, {"wait_ms", 0}}}};
            fresh.shake_hands();
        };
        start();
        execute(request("short"));
        serve();
        execute(request("embed"));
        advance(1ms);
        serve();
    }

    std::vector<std::uint64_t> taken() {
        std::vector<std::uint64_t> ids;
        for (const auto& each : worker(0).take_calls()) {
            ids.push_back(id_of(each));
        }
        return ids;
    }
    void reply(std::uint64_t id) {
        worker(0).reply(id);
        run_until_idle();
    }
};

BOOST_AUTO_TEST_CASE(a_call_does_not_go_ahead_of_its_batch) {
    using ids = std::vector<std::uint64_t>;
    pipelining_pool pool;
    pool.execute(request("short"));
    pool.execute(request("embed"));
    BOOST_TEST(pool.taken() == ids{3}, boost::test_tools::per_element());
    pool.execute(request("embed"));
    BOOST_TEST(pool.taken().empty());
    pool.reply(3);
    BOOST_TEST(pool.taken() == (ids{4, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_batch_without_callers_has_cancel_grace_though_a_call_was_given_back_late) {
    pipelining_pool pool;
    pool.warm_up();
    std::vector<std::shared_ptr<manual_pool::outcome<reply>>> calls;
    for (int i = 0; i < 5; ++i) {
        calls.push_back(pool.execute(request("embed")));
    }
    pool.reply(pool.taken().back());
    const auto ids = pool.taken(); // a batch runs, and one is ahead
    BOOST_REQUIRE(ids.size() == 4u);
    pool.reply(ids[0]);
    pool.advance(10ms, 1ms);
    BOOST_REQUIRE(pool.worker(0).take_controls("recall").size() == 2u);
    pool.reply(ids[1]);
    calls[3]->cancel.emit(asio::cancellation_type::terminal); // its recall comes too late
    pool.run_until_idle();
    pool.worker(0).give_back(ids[3]);
    pool.run_until_idle();
    pool.advance(3s);
    BOOST_TEST(pool.worker(0).terminations == 1);
}

BOOST_AUTO_TEST_CASE(limits_that_are_none_break_the_protocol) {
    for (const auto* const text : {R"({"embed":{"most":0}})", R"({"embed":{}})", R"({"embed":3})", R"([])",
                                   R"({"embed":{"most":4,"wait_ms":-1}})", R"({"embed":{"most":70000}})"}) {
        manual_pool pool(fake_config());
        pool.runtime().on_start = [&](fake_worker& fresh) {
            auto hello = fresh.hello();
            hello["batches"] = json::parse(text);
            fresh.send_data(hello);
        };
        const auto started = pool.start();
        pool.advance(1s);
        BOOST_TEST(pool.worker(0).terminations + pool.worker(0).kills >= 1, text);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
