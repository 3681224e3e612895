// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

namespace json = boost::json;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(streams)

namespace {

constexpr auto every_type = asio::cancellation_type::all;

/// A pool of one, and a stream that its worker has.
class streaming : public running_pool {
public:
    explicit streaming(pool_config config = fake_config(1), request what = request("tokens"))
        : running_pool(std::move(config)) {
        auto opened = stream(std::move(what));
        BOOST_REQUIRE(opened->value);
        consumer = std::move(*opened->value);
        order = worker(0).take_calls().at(0);
    }

    /// The worker sends chunks of these values.
    void yield(int first, int last) {
        for (int i = first; i <= last; ++i) {
            worker(0).chunk(id(), i);
        }
        run_until_idle();
    }

    std::uint64_t id() const { return id_of(order); }
    auto read() { return next(consumer); }

    /// The value of the next chunk, which must have arrived.
    int take() {
        const auto piece = read();
        BOOST_REQUIRE(piece->value);
        BOOST_REQUIRE(piece->value->has_value());
        return (*piece->value)->as<int>();
    }

    /// What the worker has been told of that kind.
    std::size_t told(std::string_view type) { return worker(0).take_controls(type).size(); }

    reply_stream consumer;
    json::object order;
};

pool_config with_window(std::size_t chunks) {
    auto config = fake_config(1);
    config.stream.window = chunks;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(chunks_come_in_order_and_then_the_result) {
    streaming pool;
    pool.yield(1, 3);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.take() == 2);
    pool.yield(4, 4);
    BOOST_TEST(pool.take() == 3);
    BOOST_TEST(pool.take() == 4);
    const auto last = pool.read();
    BOOST_TEST(!last->done);
    BOOST_CHECK_THROW(pool.consumer.result(), std::logic_error);
    pool.worker(0).reply(pool.id(), "the end");
    pool.run_until_idle();
    BOOST_REQUIRE(last->value);
    BOOST_TEST(!last->value->has_value());
    BOOST_TEST(pool.consumer.result().value == json::value("the end"));
    BOOST_TEST(pool.consumer.result().worker.slot == 0u);
    BOOST_TEST(!pool.read()->value->has_value()); // and so it remains
    BOOST_TEST(pool.counters().succeeded == 1u);
}

BOOST_AUTO_TEST_CASE(a_consumer_that_waits_is_woken_by_a_chunk) {
    streaming pool;
    const auto waiting = pool.read();
    BOOST_TEST(!waiting->done);
    pool.yield(7, 7);
    BOOST_TEST((*waiting->value)->as<int>() == 7);
}

BOOST_AUTO_TEST_CASE(a_command_that_yields_nothing_has_its_result) {
    streaming pool;
    pool.worker(0).reply(pool.id(), 5);
    pool.run_until_idle();
    BOOST_TEST(!pool.read()->value->has_value());
    BOOST_TEST(pool.consumer.result().as<int>() == 5);
}

BOOST_AUTO_TEST_CASE(what_came_before_an_error_is_delivered_before_it) {
    streaming pool;
    pool.yield(1, 2);
    pool.worker(0).fail(pool.id(), "ValueError", "no third");
    pool.run_until_idle();
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.take() == 2);
    const auto failed = pool.read();
    BOOST_TEST(failed->code() == errc::remote_error);
    BOOST_TEST(failed->info().remote_message == "no third");
    BOOST_TEST(pool.read()->code() == errc::remote_error); // again
    BOOST_CHECK_THROW(pool.consumer.result(), std::logic_error);
}

BOOST_AUTO_TEST_CASE(the_worker_is_told_its_credit_and_gets_back_what_was_taken) {
    streaming pool(with_window(4));
    BOOST_TEST(pool.order.at("stream") == json::parse(R"({"chunks": 4, "bytes": 1048576})"));
    pool.yield(1, 4);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.take() == 2);
    BOOST_TEST(pool.told("credit") == 0u); // the consumer may still be at the second
    BOOST_TEST(pool.take() == 3);
    const auto granted = pool.worker(0).take_controls("credit");
    BOOST_REQUIRE(granted.size() == 1u);
    BOOST_TEST(granted[0].at("id") == json::value(pool.id()));
    BOOST_TEST(granted[0].at("credit").at("chunks") == json::value(2));
    pool.yield(5, 6);
    for (int i = 4; i <= 6; ++i) {
        BOOST_TEST(pool.take() == i);
    }
}

BOOST_AUTO_TEST_CASE(a_consumer_that_does_not_read_costs_no_credit) {
    streaming pool(with_window(4));
    pool.yield(1, 4);
    pool.advance(30s);
    BOOST_TEST(pool.told("credit") == 0u);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(a_chunk_without_credit_breaks_the_protocol) {
    streaming pool(with_window(2));
    pool.yield(1, 3);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.take() == 2);
    const auto failed = pool.read();
    pool.advance(5s);
    BOOST_TEST(failed->code() == errc::worker_lost);
    check_mentions(failed->text(), "without credit");
}

BOOST_AUTO_TEST_CASE(a_chunk_of_a_call_that_is_no_stream_breaks_the_protocol) {
    running_pool pool(fake_config(1));
    const auto call = pool.execute(request("plain"));
    pool.worker(0).chunk(pool.worker(0).take_call(), 1);
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::worker_lost);
    check_mentions(call->text(), "no stream");
}

BOOST_AUTO_TEST_CASE(leaving_a_stream_cancels_it_and_frees_its_worker) {
    streaming pool;
    const auto next_call = pool.execute(request("next"));
    pool.yield(1, 2);
    pool.consumer = reply_stream();
    pool.run_until_idle();
    BOOST_TEST(pool.told("cancel") == 1u);
    pool.yield(3, 4); // on their way when it was told
    pool.worker(0).fail(pool.id(), "skep.Cancelled", "");
    pool.run_until_idle();
    pool.serve();
    BOOST_TEST(next_call->value.has_value());
    BOOST_TEST(pool.counters().cancelled == 1u);
    BOOST_TEST(pool.counters().late_answers == 1u);
    BOOST_TEST(pool.launched() == 1u);
}

BOOST_AUTO_TEST_CASE(a_worker_that_does_not_leave_the_stream_is_replaced) {
    streaming pool;
    pool.consumer.cancel();
    pool.advance(10s);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(cancel_ends_a_wait_and_all_that_would_follow) {
    streaming pool;
    const auto waiting = pool.read();
    pool.consumer.cancel();
    pool.run_until_idle();
    BOOST_TEST(waiting->code() == errc::cancelled);
    BOOST_TEST(pool.read()->code() == errc::cancelled);
    BOOST_TEST(pool.told("cancel") == 1u);
    pool.consumer.cancel();
    pool.run_until_idle();
    BOOST_TEST(pool.told("cancel") == 0u);
}

BOOST_AUTO_TEST_CASE(cancelling_a_wait_loses_no_chunk) {
    streaming pool;
    const auto waiting = pool.read();
    waiting->cancel.emit(every_type);
    pool.run_until_idle();
    BOOST_TEST(waiting->code() == errc::cancelled);
    pool.yield(1, 1);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.told("cancel") == 0u);
}

BOOST_AUTO_TEST_CASE(a_stream_that_has_ended_is_not_cancelled) {
    streaming pool;
    pool.worker(0).reply(pool.id());
    pool.run_until_idle();
    BOOST_TEST(!pool.read()->value->has_value());
    pool.consumer = reply_stream();
    pool.run_until_idle();
    BOOST_TEST(pool.told("cancel") == 0u);
    BOOST_TEST(pool.counters().cancelled == 0u);
}

BOOST_AUTO_TEST_CASE(silence_ends_it) {
    streaming pool(fake_config(1), request("tokens").idle_timeout(2s));
    pool.advance(1500ms);
    pool.yield(1, 1);
    pool.advance(1500ms);
    BOOST_TEST(pool.take() == 1);
    const auto waiting = pool.read();
    BOOST_TEST(!waiting->done);
    pool.advance(600ms);
    BOOST_TEST(waiting->code() == errc::timeout);
    check_mentions(waiting->text(), "no chunk came for 2000 ms");
    BOOST_TEST(pool.told("cancel") == 1u);
}

BOOST_AUTO_TEST_CASE(the_silence_of_a_worker_without_credit_is_the_consumers) {
    streaming pool(with_window(2), request("tokens").idle_timeout(2s));
    pool.yield(1, 2);
    pool.advance(10s);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.take() == 2);
    const auto waiting = pool.read(); // now it is the worker's turn again
    pool.advance(1900ms);
    BOOST_TEST(!waiting->done);
    pool.advance(200ms);
    BOOST_TEST(waiting->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_it_whatever_comes) {
    streaming pool(fake_config(1), request("tokens").timeout(3s));
    for (int i = 1; i <= 6; ++i) {
        pool.advance(600ms);
        pool.yield(i, i);
    }
    for (int i = 1; i <= 4; ++i) {
        BOOST_TEST(pool.take() == i);
    }
    BOOST_TEST(pool.read()->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(without_a_timeout_of_its_own_a_stream_has_that_of_streams) {
    auto config = fake_config(1);
    config.stream.idle_timeout = 0s;
    config.stream.timeout = 10min;
    streaming pool(std::move(config));
    const auto waiting = pool.read();
    pool.advance(599s, 1s);
    BOOST_TEST(!waiting->done);
    pool.advance(2s);
    BOOST_TEST(waiting->code() == errc::timeout);
}

BOOST_AUTO_TEST_CASE(a_stream_is_sent_again_only_before_its_first_chunk) {
    streaming pool(fake_config(2), request("tokens").idempotent(true));
    pool.worker(0).exit(exit_status::signalled(SIGKILL));
    pool.advance(100ms);
    const auto again = pool.worker(1).take_calls();
    BOOST_REQUIRE(again.size() == 1u);
    pool.worker(1).chunk(id_of(again[0]), 1);
    pool.run_until_idle();
    pool.worker(1).exit(exit_status::signalled(SIGKILL));
    pool.advance(100ms);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.read()->code() == errc::worker_lost);
    BOOST_TEST(pool.counters().retried == 1u);
}

BOOST_AUTO_TEST_CASE(a_stream_waits_for_a_worker_like_a_call) {
    auto config = fake_config(1);
    config.queue.limit = 1;
    running_pool pool(std::move(config));
    const auto busy = pool.execute(request("busy"));
    const auto waiting = pool.stream(request("tokens").queue_timeout(1s));
    BOOST_TEST(!waiting->done);
    BOOST_TEST(pool.stream(request("tokens"))->code() == errc::pool_saturated);
    pool.advance(1100ms);
    BOOST_TEST(waiting->code() == errc::queue_timeout);
    const auto later = pool.stream(request("tokens"));
    pool.serve();
    BOOST_TEST(later->value.has_value());
    pool.worker(0).reply(pool.worker(0).take_call());
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_stream_that_waits_for_a_worker_can_be_cancelled) {
    running_pool pool(fake_config(1));
    const auto busy = pool.execute(request("busy"));
    const auto waiting = pool.stream(request("tokens"));
    waiting->cancel.emit(every_type);
    pool.run_until_idle();
    BOOST_TEST(waiting->code() == errc::cancelled);
    pool.serve();
    BOOST_TEST(pool.worker(0).take_calls().empty());
}

BOOST_AUTO_TEST_CASE(what_cannot_be_sent_is_no_stream) {
    running_pool pool(fake_config(1));
    const auto call = request("tokens").arg("x", std::numeric_limits<double>::infinity());
    BOOST_TEST(pool.stream(call)->code() == errc::invalid_request);
}

BOOST_AUTO_TEST_CASE(a_shutdown_lets_a_stream_finish) {
    streaming pool;
    const auto ended = pool.shutdown();
    pool.yield(1, 1);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(!ended->done);
    pool.worker(0).reply(pool.id());
    pool.run_until_idle();
    BOOST_TEST(!pool.read()->value->has_value());
}

BOOST_AUTO_TEST_CASE(a_stream_outlives_its_pool) {
    streaming pool;
    pool.yield(1, 1);
    pool.destroy_pool();
    pool.advance(10s);
    BOOST_TEST(pool.take() == 1);
    BOOST_TEST(pool.read()->code() == errc::shutting_down);
    pool.consumer.cancel();
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_stream_of_nothing_is_empty) {
    running_pool pool(fake_config(1));
    reply_stream none;
    BOOST_TEST(!pool.next(none)->value->has_value());
    BOOST_CHECK_THROW(none.result(), std::logic_error);
    none.cancel();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
