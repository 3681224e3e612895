// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/run_together.hpp"
#include "core/text.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace skep;
using asio::cancellation_type;

namespace {

using parts = std::vector<asio::awaitable<void>>;

/// Runs parts together, on a context that is polled by hand.
class together_trial {
public:
    /// A part that ends when it is let go, or throws when it is cancelled.
    asio::awaitable<void> wait(std::string name) {
        const auto state = co_await asio::this_coro::cancellation_state;
        boost::system::error_code problem; // of a timer that is cancelled in either case
        co_await door_.async_wait(asio::redirect_error(asio::use_awaitable, problem));
        const bool is_cancelled = state.cancelled() != cancellation_type::none;
        log_ += name + (is_cancelled ? " cancelled;" : ";");
        if (is_cancelled) {
            throw std::runtime_error(name + " was cancelled");
        }
    }

    asio::awaitable<void> fail(std::string name) {
        log_ += name + ";";
        throw std::runtime_error(name + " failed");
        co_return;
    }

    asio::awaitable<void> end(std::string name) {
        log_ += name + ";";
        co_return;
    }

    void begin(parts all, cancel_others policy) {
        asio::co_spawn(
            context_, run_together(std::move(all), policy),
            asio::bind_cancellation_slot(signal_.slot(), [this](const std::exception_ptr& problem) {
                end_ = problem ? text_of(problem) : "done";
            }));
        poll();
    }

    void let_go() {
        door_.cancel();
        poll();
    }

    void cancel() {
        signal_.emit(cancellation_type::terminal);
        poll();
    }

    /// How it has ended; empty while it runs.
    const std::string& end() const { return end_; }
    const std::string& log() const { return log_; }

private:
    void poll() {
        context_.restart();
        context_.poll();
    }

    asio::io_context context_;
    asio::steady_timer door_{context_, asio::steady_timer::time_point::max()};
    asio::cancellation_signal signal_;
    std::string log_;
    std::string end_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(running_together)

BOOST_AUTO_TEST_CASE(nothing_is_done_at_once) {
    together_trial trial;
    trial.begin({}, cancel_others::never);
    BOOST_TEST(trial.end() == "done");
}

BOOST_AUTO_TEST_CASE(it_ends_when_all_have_ended) {
    together_trial trial;
    parts all;
    all.push_back(trial.wait("a"));
    all.push_back(trial.wait("b"));
    trial.begin(std::move(all), cancel_others::after_failure);
    BOOST_TEST(trial.end() == "");
    trial.let_go();
    BOOST_TEST(trial.log() == "a;b;");
    BOOST_TEST(trial.end() == "done");
}

BOOST_AUTO_TEST_CASE(others_go_on_after_a_failure_which_is_thrown_at_the_end) {
    together_trial trial;
    parts all;
    all.push_back(trial.wait("a"));
    all.push_back(trial.fail("b"));
    all.push_back(trial.fail("c"));
    trial.begin(std::move(all), cancel_others::never);
    BOOST_TEST(trial.log() == "b;c;");
    BOOST_TEST(trial.end() == "");
    trial.let_go();
    BOOST_TEST(trial.log() == "b;c;a;");
    BOOST_TEST(trial.end() == "b failed");
}

BOOST_AUTO_TEST_CASE(a_failure_cancels_the_other_parts) {
    together_trial trial;
    parts all;
    all.push_back(trial.wait("a"));
    all.push_back(trial.fail("b"));
    all.push_back(trial.wait("c"));
    trial.begin(std::move(all), cancel_others::after_failure);
    BOOST_TEST(trial.log().starts_with("b;a cancelled;")); // c may not even begin
    BOOST_TEST(!trial.log().ends_with("c;"));
    BOOST_TEST(trial.end() == "b failed");
}

BOOST_AUTO_TEST_CASE(an_end_cancels_the_other_parts) {
    together_trial trial;
    parts all;
    all.push_back(trial.wait("a"));
    all.push_back(trial.end("b"));
    all.push_back(trial.wait("c"));
    trial.begin(std::move(all), cancel_others::after_end);
    BOOST_TEST(trial.log().starts_with("b;a cancelled;")); // c may not even begin
    BOOST_TEST(!trial.log().ends_with("c;"));
    BOOST_TEST(trial.end() == "a was cancelled");
}

BOOST_AUTO_TEST_CASE(a_cancellation_reaches_each_part) {
    together_trial trial;
    parts all;
    all.push_back(trial.wait("a"));
    all.push_back(trial.wait("b"));
    trial.begin(std::move(all), cancel_others::never);
    trial.cancel();
    BOOST_TEST(trial.log() == "a cancelled;b cancelled;");
    BOOST_TEST(trial.end() == "a was cancelled");
}

BOOST_AUTO_TEST_SUITE_END()
