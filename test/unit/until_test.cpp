// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include "support/fake_runtime.hpp"
#include <skep/until.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace skep::test {

namespace {

/// An operation, and another one that may end first, on a context that is polled by hand.
class race_trial {
public:
    asio::awaitable<int> answer() {
        co_await wait_at(first_door_);
        co_return 42;
    }
    asio::awaitable<void> work() { co_await wait_at(first_door_); }
    asio::awaitable<int> fail() {
        co_await wait_at(first_door_);
        throw std::runtime_error("no answer");
    }

    /// Has its answer, though it is cancelled.
    asio::awaitable<int> insist() {
        try {
            co_await wait_at(first_door_);
        } catch (const std::exception&) {}
        co_return 43;
    }

    asio::awaitable<void> other() { co_await wait_at(second_door_); }
    asio::awaitable<std::string> failing_other() {
        co_await wait_at(second_door_);
        throw std::runtime_error("the client is lost");
    }

    template <class T, class Other>
    void begin(asio::awaitable<T> operation, asio::awaitable<Other> beside) {
        auto run = [](race_trial& self, asio::awaitable<T> op,
                      asio::awaitable<Other> against) -> asio::awaitable<void> {
            auto racing = until(std::move(op), std::move(against));
            const auto result = co_await std::move(racing);
            if constexpr (std::is_void_v<T>) {
                self.end_ = result ? "done" : "given up";
            } else {
                self.end_ = result ? std::to_string(*result) : "given up";
            }
        };
        asio::co_spawn(
            context_, run(*this, std::move(operation), std::move(beside)),
            asio::bind_cancellation_slot(signal_.slot(), [this](const std::exception_ptr& problem) {
                end_ = problem ? text_of(problem) : end_;
                has_ended_ = true;
            }));
        poll();
    }

    void end_operation() { open(first_door_); }
    void end_other() { open(second_door_); }
    void cancel() {
        signal_.emit(asio::cancellation_type::terminal);
        poll();
    }

    /// Returns the outcome; empty while the race runs.
    std::string end() const { return has_ended_ ? end_ : ""; }
    int waiting() const noexcept { return waiting_; }

private:
    struct counted_wait {
        explicit counted_wait(int& count) : count_(count) { ++count_; }
        counted_wait(const counted_wait&) = delete;
        ~counted_wait() { --count_; }

    private:
        int& count_;
    };

    asio::awaitable<void> wait_at(asio::steady_timer& door) {
        const counted_wait here(waiting_);
        boost::system::error_code opened;
        co_await door.async_wait(asio::redirect_error(asio::use_awaitable, opened));
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) {
            throw std::runtime_error("cancelled");
        }
    }

    void open(asio::steady_timer& door) {
        door.cancel();
        poll();
    }
    void poll() {
        context_.restart();
        context_.poll();
    }

    asio::io_context context_;
    asio::steady_timer first_door_{context_, asio::steady_timer::time_point::max()};
    asio::steady_timer second_door_{context_, asio::steady_timer::time_point::max()};
    asio::cancellation_signal signal_;
    std::string end_;
    bool has_ended_ = false;
    int waiting_ = 0;
};

asio::awaitable<int> at_once(int value) {
    co_return value;
}

} // namespace

BOOST_AUTO_TEST_SUITE(until_another_ends)

BOOST_AUTO_TEST_CASE(a_result_passes_and_ends_the_other) {
    race_trial trial;
    trial.begin(trial.answer(), trial.other());
    BOOST_TEST(trial.waiting() == 2);
    BOOST_TEST(trial.end() == "");
    trial.end_operation();
    BOOST_TEST(trial.end() == "42");
    BOOST_TEST(trial.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(an_error_passes_and_ends_the_other) {
    race_trial trial;
    trial.begin(trial.fail(), trial.other());
    trial.end_operation();
    BOOST_TEST(trial.end() == "no answer");
    BOOST_TEST(trial.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_other_cancels_the_operation) {
    race_trial trial;
    trial.begin(trial.answer(), trial.other());
    trial.end_other();
    BOOST_TEST(trial.end() == "given up");
    BOOST_TEST(trial.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_failure_of_the_other_is_its_end) {
    race_trial trial;
    trial.begin(trial.answer(), trial.failing_other());
    trial.end_other();
    BOOST_TEST(trial.end() == "given up");
}

BOOST_AUTO_TEST_CASE(a_result_in_spite_of_the_cancellation_is_kept) {
    race_trial trial;
    trial.begin(trial.insist(), trial.other());
    trial.end_other();
    BOOST_TEST(trial.end() == "43");
}

BOOST_AUTO_TEST_CASE(an_operation_without_result_tells_who_was_first) {
    race_trial trial;
    trial.begin(trial.work(), trial.other());
    trial.end_operation();
    BOOST_TEST(trial.end() == "done");
    race_trial another;
    another.begin(another.work(), another.other());
    another.end_other();
    BOOST_TEST(another.end() == "given up");
}

BOOST_AUTO_TEST_CASE(a_cancellation_of_the_caller_is_no_end_of_the_other) {
    race_trial trial;
    trial.begin(trial.answer(), trial.other());
    trial.cancel();
    BOOST_TEST(trial.end() == "cancelled");
    BOOST_TEST(trial.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(an_operation_that_ends_at_once_needs_no_other) {
    race_trial trial;
    trial.begin(at_once(7), trial.other());
    BOOST_TEST(trial.end() == "7");
    BOOST_TEST(trial.waiting() == 0);
}

BOOST_AUTO_TEST_CASE(a_call_is_cancelled_in_its_worker) {
    running_pool pool(fake_config());
    asio::steady_timer client(pool.facade().get_executor(), asio::steady_timer::time_point::max());
    std::optional<std::optional<reply>> outcome;
    auto serve = [&]() -> asio::awaitable<void> {
        auto call = pool.facade().execute(request("work"));
        auto leaving = client.async_wait(asio::use_awaitable);
        auto racing = until(std::move(call), std::move(leaving));
        outcome = co_await std::move(racing);
    };
    pool.begin(serve());
    const auto id = pool.worker(0).take_call();
    client.cancel();
    pool.run_until_idle();
    BOOST_TEST(pool.worker(0).take_controls("cancel").size() == 1u);
    pool.worker(0).fail(id, "skep.Cancelled", "");
    pool.run_until_idle();
    BOOST_REQUIRE(outcome);
    BOOST_TEST(!outcome->has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
