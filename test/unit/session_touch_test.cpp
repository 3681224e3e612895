// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Backends of sessions that are silent, or that lie.

#include "pool/demand/session_touches.hpp"
#include "support/allocations.hpp"
#include "support/complete.hpp"
#include "support/fake_runtime.hpp"
#include <skep/session_backend.hpp>
#include <skep/session_store.hpp>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <list>
#include <memory>
#include <optional>
#include <string>

namespace skep::test {

namespace {

/// Answers each touch when the test says so, and everything else at once: every session exists, and another
/// is always faster; there is always more to sweep.
class odd_sessions final : public session_backend {
public:
    awaitable<session_insertion> insert(std::string id, session_data data, session::wall_time created_at,
                                        std::size_t) override {
        co_return session_insertion{some_session(std::move(id), std::move(data), created_at), true, 1};
    }
    awaitable<std::optional<session>> find(std::string id, session_access) override {
        ++finds;
        co_return some_session(std::move(id), session_data().ttl(std::chrono::hours(1)), {});
    }
    awaitable<session_replacement> replace(session, session_data) override {
        co_return session_replacement();
    }
    awaitable<bool> record_worker(std::string id, worker_id worker) override {
        last_worker = std::move(worker);
        return touch(std::move(id));
    }
    awaitable<bool> touch(std::string) override {
        ++touches;
        if (is_away) {
            throw error(errc::session_backend_failed, {});
        }
        boost::asio::steady_timer answer(co_await boost::asio::this_coro::executor,
                                         boost::asio::steady_timer::time_point::max());
        const auto mine = waiting.insert(waiting.end(), &answer);
        boost::system::error_code ec;
        auto token = boost::asio::redirect_error(boost::asio::use_awaitable, ec);
        co_await answer.async_wait(std::move(token));
        waiting.erase(mine);
        const auto state = co_await boost::asio::this_coro::cancellation_state;
        if (state.cancelled() != boost::asio::cancellation_type::none) {
            throw error(errc::cancelled, {});
        }
        co_return true;
    }
    awaitable<bool> remove(std::string) override { co_return true; }
    awaitable<session_sweep> sweep(std::size_t most) override {
        ++sweeps;
        co_return session_sweep{most, false};
    }
    awaitable<session_usage> usage() override { co_return session_usage{count, 0, 0}; }

    void answer_touches() {
        for (auto* const each : waiting) {
            each->cancel();
        }
    }

    std::list<boost::asio::steady_timer*> waiting;
    worker_id last_worker; ///< of the last touch
    bool is_away = false;
    std::size_t touches = 0;
    std::size_t finds = 0;
    std::size_t sweeps = 0;
    std::size_t count = 0; ///< that it claims to hold

private:
    static session some_session(std::string id, session_data data, session::wall_time created_at) {
        return {std::move(id), std::move(data), created_at, duration::zero(), duration::zero(), 1};
    }
};

/// A pool of one worker whose sessions are in an odd place.
struct odd_pool {
    void call(const std::string& session) {
        const auto done = workers.execute(request("work").session(session));
        workers.serve();
        BOOST_REQUIRE(done->value.has_value());
    }

    static pool_config config_for(std::shared_ptr<session_backend> backend) {
        auto config = fake_config(1);
        config.sessions = std::make_shared<session_store>(session_options(), std::move(backend));
        return config;
    }

    std::shared_ptr<odd_sessions> backend = std::make_shared<odd_sessions>();
    running_pool workers{config_for(backend)};
};

} // namespace

BOOST_AUTO_TEST_SUITE(session_touch_test)

BOOST_AUTO_TEST_CASE(a_silent_backend_has_one_touch_of_a_session_to_answer) {
    odd_pool pool;
    for (int i = 0; i < 500; ++i) {
        pool.call("s");
    }
    BOOST_TEST(pool.backend->touches == 1u);
    pool.backend->answer_touches();
    pool.workers.run_until_idle();
    BOOST_TEST(pool.backend->touches == 2u); // for the calls since the first
    BOOST_TEST(pool.backend->waiting.size() == 1u);
    pool.backend->answer_touches();
    pool.workers.run_until_idle();
    BOOST_TEST(pool.backend->touches == 2u);
    BOOST_TEST(pool.backend->waiting.empty());
    pool.call("s");
    BOOST_TEST(pool.backend->touches == 3u);
}

BOOST_AUTO_TEST_CASE(a_touch_tells_which_worker_served_the_session_last) {
    const auto backend = std::make_shared<odd_sessions>();
    auto config = odd_pool::config_for(backend);
    config.workers = 2;
    running_pool pool(config);
    pool.execute(request("first").session("s"));
    const auto first = backend->last_worker.slot;
    pool.execute(request("second").session("s")); // at the other, as the first worker is busy
    BOOST_TEST(backend->touches == 1u);
    backend->answer_touches();
    pool.run_until_idle();
    BOOST_TEST(backend->touches == 2u);
    BOOST_TEST(backend->last_worker.slot == 1 - first);
    backend->answer_touches();
    pool.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_backend_that_was_away_is_told_of_the_next_use) {
    odd_pool pool;
    pool.backend->is_away = true;
    pool.call("s");
    pool.call("s");
    BOOST_TEST(pool.backend->touches == 2u);
    pool.backend->is_away = false;
    pool.call("s");
    BOOST_TEST(pool.backend->touches == 3u);
    BOOST_TEST(pool.backend->waiting.size() == 1u);
    pool.backend->answer_touches();
    pool.workers.run_until_idle();
}

BOOST_AUTO_TEST_CASE(a_silent_backend_has_so_many_touches_to_answer_and_no_more) {
    odd_pool pool;
    for (std::size_t i = 0; i < session_touches::most + 50; ++i) {
        pool.call(std::to_string(i));
    }
    BOOST_TEST(pool.backend->waiting.size() == session_touches::most);
    pool.backend->answer_touches();
    pool.workers.run_until_idle();
    pool.call("one more");
    BOOST_TEST(pool.backend->waiting.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_the_touches_that_a_backend_does_not_answer) {
    odd_pool pool;
    pool.call("s");
    pool.call("t");
    BOOST_TEST(pool.backend->waiting.size() == 2u);
    const auto report = pool.workers.shutdown();
    pool.workers.advance(std::chrono::seconds(20)); // the worker is in no hurry
    BOOST_REQUIRE(report->value.has_value());
    BOOST_TEST(pool.backend->waiting.empty());
}

/// What one use of a session allocates, and what an access of its own would.
BOOST_AUTO_TEST_CASE(a_use_allocates_no_more_than_one_access_of_the_store) {
    asio::io_context context;
    const strand executor(context.get_executor());
    const auto store = std::make_shared<session_store>(session_options());
    const std::string id = "a name that is too long to be kept inside of a string";
    complete(store->create(id));
    const worker_id worker{"default", 3, 14};
    const auto run = [&context] {
        context.restart();
        context.poll();
    };

    task_group group(executor, [](std::exception_ptr) {});
    const auto access = [](std::shared_ptr<session_store> of, std::string session) -> asio::awaitable<void> {
        auto touching = of->touch(std::move(session));
        co_await std::move(touching);
    };
    const auto access_once = [&] {
        group.spawn(nullptr, access(store, id));
        run();
    };
    const auto record = [&store, &id, &worker]() -> asio::awaitable<void> {
        auto recording = store->record_worker(id, worker);
        co_await std::move(recording);
    };
    const auto record_once = [&] {
        group.spawn(nullptr, record());
        run();
    };
    session_touches touches(executor, store);
    const auto use_once = [&] {
        touches.add(nullptr, id, worker);
        run();
    };
    for (int i = 0; i < 3; ++i) {
        access_once();
        record_once();
        use_once();
    }
    BOOST_TEST((complete(store->peek(id))->last_worker_id() == worker));
    BOOST_TEST(allocations_in(use_once) <= allocations_in(access_once));
    BOOST_TEST(allocations_in(use_once) == allocations_in(record_once)); // what is noted down takes none
}

BOOST_AUTO_TEST_CASE(an_update_that_is_always_too_late_ends) {
    const auto backend = std::make_shared<odd_sessions>();
    session_store store({}, backend);
    const auto failure = failure_of_complete(store.update("s", [](session_data&) {}));
    BOOST_TEST((failure.kind() == errc::session_backend_failed));
    check_mentions(failure.what(), "update: others have changed the session 10000 times meanwhile");
    BOOST_TEST(backend->finds == 10'000u);
}

BOOST_AUTO_TEST_CASE(a_cleanup_that_is_never_done_ends_with_the_sessions_there_were) {
    const auto backend = std::make_shared<odd_sessions>();
    session_store store({}, backend);
    backend->count = 1'000;
    BOOST_TEST(complete(store.cleanup_expired()) >= 1'000u);
    BOOST_TEST(backend->sweeps < 12u);
    backend->count = ~std::size_t(0);
    backend->sweeps = 0;
    complete(store.cleanup_expired());
    BOOST_TEST(backend->sweeps < 100'000u); // enough for the largest quota
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
