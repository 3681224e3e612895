// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "support/text.hpp"
#include <skep/retry.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;
namespace asio = boost::asio;

BOOST_AUTO_TEST_SUITE(retry_policy_test)

namespace {

const error lost(errc::worker_lost, {});

error raised(const std::string& type) {
    error_info info;
    info.remote_type = type;
    return error(errc::remote_error, std::move(info));
}

/// The waits of a policy in milliseconds, without jitter, until it gives up.
std::vector<long> waits(const retry_policy& policy, const error& failure = lost) {
    std::vector<long> result;
    for (int made = 1; made <= 1000; ++made) {
        const auto wait = policy.wait_after(made, failure, 0.5);
        if (!wait) {
            break;
        }
        result.push_back(static_cast<long>(*wait / 1ms));
    }
    return result;
}

/// An operation that fails as often as told, and how often it was begun.
struct operation {
    int failures;
    error failure = lost;
    int begun = 0;

    asio::awaitable<int> run() {
        if (++begun <= failures) {
            throw failure;
        }
        co_return begun;
    }
};

/// retry() on virtual time.
struct attempts {
    attempts(retry_policy policy, operation& what) {
        auto run = [&what] { return what.run(); };
        auto keep = [this](std::exception_ptr error, int value) {
            problem = error;
            result = value;
        };
        asio::co_spawn(context, retry(std::move(policy), run),
                       asio::bind_cancellation_slot(cancel.slot(), keep));
        context.poll();
    }

    void advance(duration span) {
        time.advance(span);
        // A timer that is due at once makes the reactor look at the clock.
        asio::basic_waitable_timer<skep::clock> kick(context, time_point::min());
        kick.async_wait([](const boost::system::error_code&) {});
        context.restart();
        context.poll();
    }

    errc code() const {
        BOOST_REQUIRE(problem != nullptr);
        try {
            std::rethrow_exception(problem);
        } catch (const error& e) {
            return static_cast<errc>(e.code().value());
        }
    }

    manual_time time;
    asio::io_context context;
    asio::cancellation_signal cancel;
    std::exception_ptr problem;
    std::optional<int> result;
};

} // namespace

BOOST_AUTO_TEST_CASE(the_default_is_three_attempts) {
    BOOST_TEST(waits(retry_policy()) == (std::vector<long>{100, 200}), boost::test_tools::per_element());
    BOOST_TEST(waits(retry_policy().attempts(1)).empty());
}

BOOST_AUTO_TEST_CASE(the_last_wait_of_a_list_repeats) {
    BOOST_TEST(waits(retry_policy().attempts(8)) == (std::vector<long>{100, 200, 400, 800, 1600, 1600, 1600}),
               boost::test_tools::per_element());
    BOOST_TEST(waits(retry_policy().attempts(4).backoff({50ms, 0ms})) == (std::vector<long>{50, 0, 0}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(exponential_waits_grow_by_their_factor_up_to_the_longest) {
    const auto policy = retry_policy().attempts(8).exponential_backoff(10ms, 3).longest_wait(1s);
    BOOST_TEST(waits(policy) == (std::vector<long>{10, 30, 90, 270, 810, 1000, 1000}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(no_number_of_attempts_overflows) {
    const auto policy =
        retry_policy().attempts(1000).exponential_backoff(24h, 100).longest_wait(24h).jitter(1);
    for (const int made : {1, 2, 10, 500, 999}) {
        const auto wait = policy.wait_after(made, lost, 0.999);
        BOOST_REQUIRE(wait.has_value());
        BOOST_TEST((*wait > 0s && *wait <= 24h));
    }
    BOOST_TEST(!policy.wait_after(1000, lost, 0.5));
    BOOST_TEST(!policy.wait_after(std::numeric_limits<int>::max(), lost, 0.5));
}

BOOST_AUTO_TEST_CASE(jitter_stays_within_its_share_and_the_longest_wait) {
    const retry_policy policy; // 25 %
    BOOST_TEST((policy.wait_after(1, lost, 0.0) == 75ms));
    BOOST_TEST((policy.wait_after(1, lost, 0.5) == 100ms));
    BOOST_TEST((*policy.wait_after(1, lost, 0.999) < 125ms));
    BOOST_TEST((retry_policy().longest_wait(100ms).wait_after(1, lost, 0.999) == 100ms));
    BOOST_TEST((retry_policy().jitter(1).wait_after(1, lost, 0.0) == 0ms));
}

BOOST_AUTO_TEST_CASE(only_what_may_pass_by_itself_is_retried) {
    for (int value = 1; value <= static_cast<int>(errc::invalid_session); ++value) {
        const auto code = static_cast<errc>(value);
        BOOST_TEST(waits(retry_policy(), error(code, {})).empty() != retryable(code));
    }
}

BOOST_AUTO_TEST_CASE(a_condition_may_look_at_the_whole_error) {
    const auto policy = retry_policy().when(
        [](const error& failure) { return failure.info().remote_type == "ConnectionRefusedError"; });
    BOOST_TEST(waits(policy, raised("ConnectionRefusedError")).size() == 2u);
    BOOST_TEST(waits(policy, raised("ValueError")).empty());
    BOOST_TEST(waits(policy, lost).empty());
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
    const std::vector<std::pair<std::string, std::function<void()>>> bad{
        {"retry_policy.attempts = 0", [] { retry_policy().attempts(0); }},
        {"retry_policy.attempts = 1001", [] { retry_policy().attempts(1001); }},
        {"retry_policy.backoff (number of waits) = 0", [] { retry_policy().backoff({}); }},
        {"retry_policy.backoff = -1 ms",
         [] {
             retry_policy().backoff({1ms, -1ms});
         }},
        {"(first) = 86400001 ms", [] { retry_policy().exponential_backoff(24h + 1ms); }},
        {"(factor) = 0.5", [] { retry_policy().exponential_backoff(1ms, 0.5); }},
        {"retry_policy.longest_wait = -1 ms", [] { retry_policy().longest_wait(-1ms); }},
        {"retry_policy.jitter = 1.5", [] { retry_policy().jitter(1.5); }},
        {"retry_policy.jitter", [] { retry_policy().jitter(std::numeric_limits<double>::quiet_NaN()); }},
        {"retry_policy.when: must not be empty", [] { retry_policy().when({}); }},
    };
    for (const auto& [complaint, spoil] : bad) {
        try {
            spoil();
            BOOST_ERROR("accepted: " << complaint);
        } catch (const error& refusal) {
            BOOST_TEST((refusal.code() == errc::invalid_config));
            BOOST_TEST(contains(refusal.what(), complaint), refusal.what());
        }
    }
}

BOOST_AUTO_TEST_CASE(retry_awaits_until_it_succeeds) {
    operation what{2};
    attempts trying(retry_policy().jitter(0), what);
    BOOST_TEST(what.begun == 1);
    trying.advance(99ms);
    BOOST_TEST(what.begun == 1);
    trying.advance(1ms);
    BOOST_TEST(what.begun == 2);
    trying.advance(200ms);
    BOOST_TEST((trying.result == 3));
    BOOST_TEST(!trying.problem);
}

BOOST_AUTO_TEST_CASE(retry_ends_with_the_last_error) {
    operation what{100};
    attempts trying(retry_policy().jitter(0), what);
    trying.advance(100ms);
    trying.advance(200ms);
    BOOST_TEST(what.begun == 3);
    BOOST_TEST((trying.code() == errc::worker_lost));
}

BOOST_AUTO_TEST_CASE(retry_does_not_repeat_what_is_not_worth_it) {
    operation what{100, raised("ValueError")};
    attempts trying(retry_policy(), what);
    BOOST_TEST(what.begun == 1);
    BOOST_TEST((trying.code() == errc::remote_error));
}

BOOST_AUTO_TEST_CASE(a_wait_of_retry_can_be_cancelled) {
    operation what{100};
    attempts trying(retry_policy(), what);
    trying.cancel.emit(asio::cancellation_type::terminal);
    trying.advance(0ms);
    BOOST_TEST((trying.code() == errc::cancelled));
    trying.advance(1h);
    BOOST_TEST(what.begun == 1);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
