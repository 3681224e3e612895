// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers whose process has ended before the pool learns of it.

#include "support/fake_runtime.hpp"

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(end_at_launch_test)

namespace {

void ends_at_once(fake_worker& worker) {
    worker.exit(exit_3);
}

void ends_after_its_greeting(fake_worker& worker) {
    worker.shake_hands();
    worker.exit(exit_3);
}

/// The shutdown ends soon: there is no process to wait for.
void check_quick_shutdown(manual_pool& pool) {
    const auto down = pool.shutdown();
    pool.advance(1s);
    BOOST_REQUIRE(down->done);
    BOOST_TEST(down->value.has_value());
}

} // namespace

BOOST_AUTO_TEST_CASE(the_start_fails_and_a_shutdown_ends) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        manual_pool pool(fake_config(2));
        pool.runtime().on_start = how;
        const auto started = pool.start();
        pool.advance(5s);
        BOOST_TEST(pool.launched() >= 2u);
        check_quick_shutdown(pool);
        BOOST_TEST(started->done);
    }
}

BOOST_AUTO_TEST_CASE(a_shutdown_at_the_moment_of_the_launch_ends) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        manual_pool pool(fake_config(2));
        std::shared_ptr<manual_pool::outcome<shutdown_report>> down;
        pool.runtime().on_start = [&](fake_worker& worker) {
            how(worker);
            asio::post(pool.context, [&] {
                if (!down) {
                    down = pool.shutdown();
                }
            });
        };
        const auto started = pool.start();
        pool.advance(1s);
        BOOST_REQUIRE(down);
        BOOST_TEST(down->done);
        BOOST_TEST(started->done);
    }
}

BOOST_AUTO_TEST_CASE(replacements_that_end_at_once_are_replaced) {
    for (const auto how : {ends_at_once, ends_after_its_greeting}) {
        running_pool pool(fake_config());
        pool.warm_up();
        pool.runtime().on_start = how;
        crash_worker(pool, 0);
        pool.advance(1s);
        BOOST_TEST(pool.launched() >= 3u);
        pool.runtime().on_start = [](fake_worker& worker) { worker.shake_hands(); };
        pool.advance(30s);
        const auto call = pool.execute(request("f"));
        pool.serve(pool.launched() - 1);
        BOOST_TEST(call->done);
        BOOST_TEST((call->code() == errc()));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
