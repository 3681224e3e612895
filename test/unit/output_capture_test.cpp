// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker prints, on virtual time and through real pipes.

#include "core/clock.hpp"
#include "process/output_capture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(output_capture_test)

namespace {

/// Both streams of a worker that prints as much as it gets rid of.
class flood {
public:
    explicit flood(char what) : text_(64u << 10, what) {
        for (auto& each : pipes_) {
            std::array<int, 2> ends{};
            BOOST_REQUIRE_EQUAL(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
            each = {unique_fd(ends[0]), unique_fd(ends[1])};
        }
        capture_.emplace(
            strand(context_.get_executor()), worker_id{"p", 0, 1}, output_options(),
            [this](const output_line&) { ++lines_; }, pipes_[0].first, pipes_[1].first);
        const auto ignore = [](std::exception_ptr) {};
        asio::co_spawn(context_, capture_->read_output(), ignore);
        asio::co_spawn(context_, capture_->read_errors(), ignore);
    }
    ~flood() {
        capture_->close();
        context_.restart();
        context_.poll();
    }

    /// How many bytes are read in that time.
    std::size_t read_in(duration span) {
        std::size_t written = 0;
        for (auto passed = 0ns; passed < span; passed += 1ms) {
            time_.advance(1ms);
            std::size_t more = 1;
            for (int i = 0; more > 0 && i < 1000; ++i) {
                more = fill();
                written += more;
                poll();
            }
        }
        return written;
    }

    std::size_t lines() const { return lines_; }

private:
    /// A timer that is due at once makes the reactor look at the clock.
    void poll() {
        asio::basic_waitable_timer<skep::clock> kick(context_, time_point::min());
        kick.async_wait([](const boost::system::error_code&) {});
        context_.restart();
        context_.poll();
    }

    std::size_t fill() {
        std::size_t sum = 0;
        for (const auto& each : pipes_) {
            const auto count = ::write(each.second.get(), text_.data(), text_.size());
            sum += count > 0 ? static_cast<std::size_t>(count) : 0;
        }
        return sum;
    }

    manual_time time_;
    asio::io_context context_;
    std::string text_;
    std::array<std::pair<unique_fd, unique_fd>, 2> pipes_;
    std::optional<output_capture> capture_;
    std::size_t lines_ = 0;
};

constexpr std::size_t mib = 1u << 20;

} // namespace

BOOST_AUTO_TEST_CASE(two_streams_that_flood_are_slowed_down_together) {
    flood both('x');
    const auto count = both.read_in(500ms);
    BOOST_TEST(count > 20 * mib);
    BOOST_TEST(count < 36 * mib); // 64 MiB a second
}

BOOST_AUTO_TEST_CASE(empty_lines_cost_more_than_their_byte) {
    flood both('\n');
    const auto count = both.read_in(500ms);
    BOOST_TEST(count > mib / 4);
    BOOST_TEST(count < 2 * mib);
    BOOST_TEST(both.lines() <= 1500u);
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_cannot_be_watched_is_the_callers_again) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE_EQUAL(::pipe2(ends.data(), O_CLOEXEC), 0);
    asio::io_context context;
    const strand executor(context.get_executor());
    unique_fd output(ends[0]);
    unique_fd errors(::dup(ends[1]));
    descriptor already(executor, errors.get()); // epoll knows it, and refuses it a second time
    BOOST_CHECK_THROW(
        output_capture(
            executor, worker_id{"p", 0, 1}, output_options(), [](const output_line&) {}, output, errors),
        boost::system::system_error);
    BOOST_TEST(errors.get() >= 0);
    already.release();
    ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
