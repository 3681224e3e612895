// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls with callbacks whose executors, and whose cancellation slots, belong to other threads than the
// pool's.

#include "support/run.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>

namespace skep::test {

namespace {

/// One call from a thread of the users', which may be cancelled on its strand.
class user : public std::enable_shared_from_this<user> {
public:
    user(const asio::any_io_executor& executor, std::atomic<int>& outcomes, std::atomic<int>& surprises)
        : strand_(asio::make_strand(executor)), outcomes_(outcomes), surprises_(surprises) {}

    void call(pool& workers, int number) {
        asio::post(strand_, [self = shared_from_this(), &workers, number] {
            request echo = request("echo").arg("value", number);
            auto handler = [self, number](const result<reply>& answer) { self->check(answer, number); };
            auto bound = asio::bind_executor(
                self->strand_, asio::bind_cancellation_slot(self->signal_.slot(), std::move(handler)));
            workers.execute(std::move(echo), as_result(std::move(bound)));
            if (number % 3 == 0) {
                asio::post(self->strand_, [self] { self->signal_.emit(asio::cancellation_type::all); });
            }
        });
    }

private:
    void check(const result<reply>& answer, int number) {
        const bool is_expected = answer ? answer->value == number : answer.error().kind() == errc::cancelled;
        surprises_ += is_expected && strand_.running_in_this_thread() ? 0 : 1;
        ++outcomes_;
    }

    asio::strand<asio::any_io_executor> strand_;
    asio::cancellation_signal signal_;
    std::atomic<int>& outcomes_;
    std::atomic<int>& surprises_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(completion_tokens)

BOOST_AUTO_TEST_CASE(handlers_on_other_threads) {
    const leak_audit audit;
    constexpr int calls = 600;
    std::atomic<int> outcomes{0};
    std::atomic<int> surprises{0};
    asio::thread_pool pools(2);
    asio::thread_pool users(2);
    {
        auto config = basic_pool(2);
        config.capacity = 4;
        config.queue.limit = calls;
        pool workers(pools, config);
        workers.start(asio::use_future).get();
        for (int number = 0; number < calls; ++number) {
            std::make_shared<user>(users.get_executor(), outcomes, surprises)->call(workers, number);
        }
        users.join(); // handlers keep it at work
        BOOST_TEST(outcomes == calls);
        BOOST_TEST(surprises == 0);
        const auto report = workers.shutdown(as_result(asio::use_future)).get();
        BOOST_TEST(report.value().clean());
    }
    pools.join();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
