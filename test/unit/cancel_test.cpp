// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

namespace {

constexpr auto terminal = asio::cancellation_type::terminal;
constexpr auto partial = asio::cancellation_type::partial;
constexpr auto total = asio::cancellation_type::total;

template <class T>
void cancel(manual_pool& pool, manual_pool::outcome<T>& which, asio::cancellation_type type = terminal) {
    which.cancel.emit(type);
    pool.run_until_idle();
}

/// A caller on an io_context of its own, so that it and the pool can be run in turns.
class remote_caller {
public:
    explicit remote_caller(manual_pool& pool) : pool_(pool) {}

    /// Starts the call as far as the caller's side goes.
    void execute(request what) {
        const auto on_end = [this](std::exception_ptr problem, const reply&) {
            done = true;
            if (problem) {
                try {
                    std::rethrow_exception(problem);
                } catch (const error& e) {
                    code = static_cast<errc>(e.code().value());
                }
            }
        };
        auto operation = cancellable(pool_.facade().execute(std::move(what)));
        asio::co_spawn(context, std::move(operation), asio::bind_cancellation_slot(signal.slot(), on_end));
        run();
    }

    void run() {
        context.restart();
        context.poll();
    }

    asio::io_context context{1};
    asio::cancellation_signal signal;
    bool done = false;
    errc code{};

private:
    static asio::awaitable<reply> cancellable(asio::awaitable<reply> operation) {
        const auto every_type = asio::enable_total_cancellation();
        co_await asio::this_coro::reset_cancellation_state(every_type);
        reply answer = co_await std::move(operation);
        co_return answer;
    }

    manual_pool& pool_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(cancelling)

BOOST_AUTO_TEST_SUITE(queued)

BOOST_AUTO_TEST_CASE(every_type_ends_the_wait_at_once) {
    for (const auto type : {terminal, partial, total}) {
        running_pool pool(fake_config());
        pool.execute(request("busy"));
        const auto call = pool.execute(request("waiting"));
        cancel(pool, *call, type);
        BOOST_TEST(call->code() == errc::cancelled);
        BOOST_TEST(call->info().command == "waiting");
        BOOST_TEST(call->info().attempts == 0);
        BOOST_TEST(pool.status().queued == 0u);
        BOOST_TEST(pool.counters().cancelled == 1u);
        BOOST_TEST(pool.worker(0).take_controls("cancel").empty());
    }
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_is_never_sent) {
    running_pool pool(fake_config());
    pool.execute(request("busy"));
    const auto call = pool.execute(request("waiting"));
    cancel(pool, *call);
    pool.serve();
    BOOST_TEST(pool.worker(0).take_calls().empty());
}

BOOST_AUTO_TEST_CASE(a_call_that_waits_for_its_second_attempt_is_a_waiting_one) {
    for (const auto type : {terminal, partial, total}) {
        running_pool pool(fake_config());
        pool.runtime().on_start = [](fake_worker&) {};
        const auto call = pool.execute(request("again").idempotent(true));
        pool.worker(0).exit(exit_status::exited(1));
        pool.run_until_idle();
        cancel(pool, *call, type);
        BOOST_TEST(call->code() == errc::cancelled);
        BOOST_TEST(pool.status().queued == 0u);
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(running)

BOOST_AUTO_TEST_CASE(terminal_and_partial_end_it_at_once_and_the_worker_is_told) {
    for (const auto type : {terminal, partial}) {
        running_pool pool(fake_config());
        const auto call = pool.execute(request("running"));
        const auto id = pool.worker(0).take_call();
        cancel(pool, *call, type);
        BOOST_TEST(call->code() == errc::cancelled);
        BOOST_TEST(to_string(call->info().worker.value_or(worker_id())) == "default/0#1");
        const auto told = pool.worker(0).take_controls("cancel");
        BOOST_REQUIRE_EQUAL(told.size(), 1u);
        BOOST_TEST(id_of(told[0]) == id);
        BOOST_TEST(pool.counters().cancelled == 1u);
        BOOST_TEST(pool.status().in_flight == 0u);
    }
}

BOOST_AUTO_TEST_CASE(total_is_ignored) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("running"));
    cancel(pool, *call, total);
    BOOST_TEST(!call->done);
    BOOST_TEST(pool.worker(0).take_controls("cancel").empty());
    pool.serve();
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(pool.counters().cancelled == 0u);
}

BOOST_AUTO_TEST_CASE(a_stronger_wish_may_follow_a_weaker_one) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("running"));
    cancel(pool, *call, total);
    BOOST_TEST(!call->done);
    cancel(pool, *call, partial);
    BOOST_TEST(call->code() == errc::cancelled);
}

BOOST_AUTO_TEST_CASE(the_worker_is_free_again_when_it_answers) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("running"));
    const auto id = pool.worker(0).take_call();
    cancel(pool, *call);
    const auto next = pool.execute(request("next"));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    pool.worker(0).reply(id);
    pool.run_until_idle();
    BOOST_TEST(pool.serve() == "next");
    BOOST_TEST(next->value.has_value());
    BOOST_TEST(pool.counters().late_answers == 1u);
}

BOOST_AUTO_TEST_CASE(the_worker_is_replaced_if_it_does_not_let_go) {
    running_pool pool(fake_config());
    pool.warm_up();
    const auto call = pool.execute(request("running"));
    cancel(pool, *call);
    pool.advance(1990ms);
    BOOST_TEST(pool.worker(0).terminations == 0);
    pool.advance(10ms);
    BOOST_TEST(pool.worker(0).terminations == 1);
    BOOST_TEST(pool.launched() == 2u);
}

BOOST_AUTO_TEST_CASE(its_deadline_means_nothing_any_more) {
    auto config = fake_config();
    config.cancel_grace = 1h;
    running_pool pool(config);
    const auto call = pool.execute(request("running").timeout(1s));
    cancel(pool, *call);
    pool.advance(5s);
    BOOST_TEST(call->code() == errc::cancelled);
    BOOST_TEST(pool.counters().timeouts == 0u);
    BOOST_TEST(pool.counters().failed == 1u);
}

BOOST_AUTO_TEST_CASE(it_is_not_sent_again) {
    running_pool pool(fake_config(2));
    const auto call = pool.execute(request("running").idempotent(true));
    pool.worker(0).take_calls();
    cancel(pool, *call);
    pool.worker(0).exit(exit_status::exited(1));
    pool.advance(1s);
    BOOST_TEST(pool.worker(1).take_calls().empty());
    BOOST_TEST(pool.counters().retried == 0u);
    BOOST_TEST(pool.status().in_flight == 0u);
}

// However the two meet, the call ends once.
BOOST_AUTO_TEST_CASE(an_answer_that_meets_the_cancelling_completes_the_call_once) {
    for (const auto type : {terminal, partial, total}) {
        for (int handlers = 0; handlers < 30; ++handlers) {
            running_pool pool(fake_config());
            const auto call = pool.execute(request("x"));
            pool.worker(0).answer_call();
            pool.context.restart();
            for (int i = 0; i < handlers; ++i) {
                pool.context.poll_one();
            }
            cancel(pool, *call, type);
            BOOST_TEST(call->done);
            BOOST_TEST((call->value || type != total));
            const auto counters = pool.counters();
            BOOST_TEST(counters.succeeded + counters.failed == 1u);
            BOOST_TEST(counters.late_answers == counters.failed);
            BOOST_TEST(!pool.execute(request("next"))->done);
            BOOST_TEST(pool.serve() == "next");
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(at_odd_moments)

BOOST_AUTO_TEST_CASE(after_the_end_it_has_no_effect) {
    for (const auto type : {terminal, partial, total}) {
        running_pool pool(fake_config());
        const auto call = pool.execute(request("x"));
        pool.serve();
        cancel(pool, *call, type);
        BOOST_TEST(call->value.has_value());
        BOOST_TEST(pool.counters().cancelled == 0u);
        BOOST_TEST(pool.worker(0).take_controls("cancel").empty());
    }
}

BOOST_AUTO_TEST_CASE(a_second_time_it_has_no_effect) {
    for (const auto type : {terminal, partial, total}) {
        running_pool pool(fake_config());
        const auto running = pool.execute(request("running"));
        const auto queued = pool.execute(request("queued"));
        cancel(pool, *running);
        cancel(pool, *running, type);
        cancel(pool, *queued);
        cancel(pool, *queued, type);
        BOOST_TEST(pool.counters().cancelled == 2u);
        BOOST_TEST(pool.counters().failed == 2u);
        BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
    }
}

BOOST_AUTO_TEST_CASE(twice_in_one_turn_is_once) {
    running_pool pool(fake_config());
    const auto running = pool.execute(request("running"));
    const auto queued = pool.execute(request("queued"));
    for (const auto& call : {running, queued}) {
        call->cancel.emit(terminal);
        call->cancel.emit(partial);
        call->cancel.emit(terminal);
    }
    pool.run_until_idle();
    BOOST_TEST(pool.counters().cancelled == 2u);
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
}

void check_cancelled_unseen(manual_pool& pool, asio::cancellation_type type) {
    remote_caller caller(pool);
    caller.execute(request("x"));
    caller.signal.emit(type);
    caller.run();
    pool.run_until_idle();
    caller.run();
    BOOST_TEST(caller.done);
    BOOST_TEST(caller.code == errc::cancelled);
}

BOOST_AUTO_TEST_CASE(before_the_pool_has_seen_a_call_that_will_wait) {
    for (const auto type : {terminal, partial, total}) {
        running_pool pool(fake_config());
        pool.execute(request("busy"));
        check_cancelled_unseen(pool, type);
        BOOST_TEST(pool.status().queued == 0u);
    }
}

BOOST_AUTO_TEST_CASE(before_the_pool_has_seen_a_call_that_will_run) {
    for (const auto type : {terminal, partial}) {
        running_pool pool(fake_config());
        check_cancelled_unseen(pool, type);
        BOOST_TEST(pool.status().in_flight == 0u);
    }
}

BOOST_AUTO_TEST_CASE(of_a_call_that_was_refused_it_has_no_effect) {
    manual_pool pool(fake_config());
    const auto call = pool.execute(request("too early"));
    BOOST_TEST(call->code() == errc::not_started);
    cancel(pool, *call);
    BOOST_TEST(call->code() == errc::not_started);
    BOOST_TEST(pool.counters().cancelled == 0u);
}

BOOST_AUTO_TEST_CASE(of_a_call_that_timed_out_it_has_no_effect) {
    running_pool pool(fake_config());
    const auto call = pool.execute(request("slow").timeout(1s));
    pool.advance(1s);
    cancel(pool, *call);
    BOOST_TEST(call->code() == errc::timeout);
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

/// Where a caller goes on.
BOOST_AUTO_TEST_SUITE(executors)

namespace {

using caller_strand = asio::strand<asio::io_context::executor_type>;

/// Runs `operation` on a strand and tells whether its caller went on there.
template <class T>
std::shared_ptr<std::optional<bool>> on_own_strand(manual_pool& pool, asio::awaitable<T> operation,
                                                   std::shared_ptr<asio::cancellation_signal> signal = {}) {
    auto home = asio::make_strand(pool.context);
    auto result = std::make_shared<std::optional<bool>>();
    auto caller = [](asio::awaitable<T> inner, caller_strand where,
                     std::shared_ptr<std::optional<bool>> came_home) -> asio::awaitable<void> {
        try {
            co_await std::move(inner);
        } catch (const error&) {
            *came_home = where.running_in_this_thread();
            co_return;
        }
        *came_home = where.running_in_this_thread();
    };
    auto body = caller(std::move(operation), home, result);
    const auto slot = signal ? signal->slot() : asio::cancellation_slot();
    asio::co_spawn(home, std::move(body),
                   asio::bind_cancellation_slot(slot, [signal](std::exception_ptr) {}));
    pool.run_until_idle();
    return result;
}

bool is_true(const std::shared_ptr<std::optional<bool>>& answer) {
    return answer->value_or(false);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_reply_comes_home) {
    running_pool pool(fake_config());
    const auto home = on_own_strand(pool, pool.facade().execute(request("x")));
    BOOST_TEST(!home->has_value());
    pool.serve();
    BOOST_TEST(is_true(home));
}

BOOST_AUTO_TEST_CASE(a_refusal_comes_home) {
    manual_pool pool(fake_config());
    BOOST_TEST(is_true(on_own_strand(pool, pool.facade().execute(request("x")))));
}

BOOST_AUTO_TEST_CASE(a_timeout_comes_home) {
    running_pool pool(fake_config());
    const auto running = on_own_strand(pool, pool.facade().execute(request("x").timeout(1s)));
    const auto queued = on_own_strand(pool, pool.facade().execute(request("y").queue_timeout(1s)));
    pool.advance(1s);
    BOOST_TEST(is_true(running));
    BOOST_TEST(is_true(queued));
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_comes_home) {
    running_pool pool(fake_config());
    const auto signal = std::make_shared<asio::cancellation_signal>();
    const auto home = on_own_strand(pool, pool.facade().execute(request("x")), signal);
    BOOST_TEST(!home->has_value());
    signal->emit(terminal);
    pool.run_until_idle();
    BOOST_TEST(is_true(home));
}

/// The worker keeps a call that has timed out; the caller is on a context of its own, which ends first.
BOOST_AUTO_TEST_CASE(a_caller_that_is_not_resumed_ends_with_its_context) {
    running_pool pool(fake_config());
    struct life {
        explicit life(bool& flag) : is_alive(flag) { is_alive = true; }
        ~life() { is_alive = false; }
        bool& is_alive;
    };
    auto call = [](skep::pool& target, bool& flag) -> asio::awaitable<void> {
        const life mine(flag);
        co_await target.execute(request("x").timeout(1s));
    };
    bool is_alive = false;
    {
        asio::io_context home;
        auto body = call(pool.facade(), is_alive);
        asio::co_spawn(home, std::move(body), [](std::exception_ptr) {});
        home.poll();
        pool.run_until_idle();
        pool.advance(1s);
        BOOST_TEST(is_alive);
    }
    BOOST_TEST(!is_alive);
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_worker_comes_home) {
    running_pool pool(fake_config());
    const auto home = on_own_strand(pool, pool.facade().execute(request("x")));
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(is_true(home));
}

BOOST_AUTO_TEST_CASE(start_status_and_shutdown_come_home) {
    manual_pool pool(fake_config());
    BOOST_TEST(is_true(on_own_strand(pool, pool.facade().start())));
    BOOST_TEST(is_true(on_own_strand(pool, pool.facade().status())));
    const auto down = on_own_strand(pool, pool.facade().shutdown());
    pool.advance(2s);
    BOOST_TEST(is_true(down));
}

BOOST_AUTO_TEST_CASE(a_second_start_and_shutdown_come_home) {
    running_pool pool(fake_config());
    BOOST_TEST(is_true(on_own_strand(pool, pool.facade().start())));
    pool.shutdown();
    pool.advance(2s);
    BOOST_TEST(is_true(on_own_strand(pool, pool.facade().shutdown())));
}

BOOST_AUTO_TEST_CASE(a_caller_on_another_context_goes_on_there) {
    running_pool pool(fake_config());
    remote_caller caller(pool);
    caller.execute(request("x"));
    pool.run_until_idle();
    pool.serve();
    BOOST_TEST(!caller.done);
    caller.run();
    BOOST_TEST(caller.done);
}

BOOST_AUTO_TEST_CASE(the_context_of_a_waiting_caller_does_not_run_out_of_work) {
    running_pool pool(fake_config());
    remote_caller caller(pool);
    caller.execute(request("x"));
    pool.run_until_idle();
    BOOST_TEST(!caller.context.stopped());
    pool.serve();
    caller.run();
    BOOST_TEST(caller.context.stopped());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
