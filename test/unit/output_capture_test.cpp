// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker prints, on virtual time and through real pipes.

#include "core/clock.hpp"
#include "process/output_capture.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

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

/// The stdout of a worker that prints now and then.
class printer {
public:
    printer() {
        std::array<int, 2> ends{};
        BOOST_REQUIRE_EQUAL(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
        unique_fd output(ends[0]);
        unique_fd errors;
        sink_ = unique_fd(ends[1]);
        capture_.emplace(
            strand(context_.get_executor()), worker_id{"p", 0, 1}, output_options(),
            [this](const output_line& line) { lines_.emplace_back(line.text); }, output, errors);
        asio::co_spawn(context_, capture_->read_output(), [](std::exception_ptr) {});
    }
    ~printer() {
        capture_->close();
        context_.restart();
        context_.poll();
    }

    void print(std::string_view text) {
        BOOST_REQUIRE_EQUAL(::write(sink_.get(), text.data(), text.size()),
                            static_cast<ssize_t>(text.size()));
        context_.restart();
        context_.poll();
    }

    void end() {
        sink_.reset();
        context_.restart();
        context_.poll();
    }

    void pass(duration time) { time_.advance(time); }
    const std::vector<std::string>& lines() const { return lines_; }
    std::string tail() const { return capture_->tail(); }
    std::uint64_t lines_dropped() const { return capture_->lines_dropped(); }

private:
    manual_time time_;
    asio::io_context context_;
    unique_fd sink_;
    std::optional<output_capture> capture_;
    std::vector<std::string> lines_;
};

using lines = std::vector<std::string>;

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

BOOST_AUTO_TEST_CASE(a_progress_bar_comes_out_while_it_grows) {
    printer worker;
    worker.print("loading\n");
    worker.print("\r 10%");
    worker.print("\r 20%");
    BOOST_TEST((worker.lines() == lines{"loading", " 10%"}));
    worker.print("\r 30%\r");
    BOOST_TEST((worker.lines() == lines{"loading", " 10%", " 20%", " 30%"}));
    worker.print("\ndone\r\n");
    BOOST_TEST((worker.lines() == lines{"loading", " 10%", " 20%", " 30%", "done"}));
    BOOST_TEST(worker.tail() == "loading\n 30%\ndone\n");
}

BOOST_AUTO_TEST_CASE(a_progress_bar_that_is_redrawn_all_the_time_costs_few_lines) {
    printer worker;
    for (int i = 0; i < 5000; ++i) {
        worker.print(std::to_string(i) + "\r");
        worker.pass(1ms);
    }
    BOOST_TEST(worker.lines().size() >= 50u);
    BOOST_TEST(worker.lines().size() <= 60u);
    BOOST_TEST(worker.tail() == "4999\r");
    worker.print("\nlost\r\n");
    BOOST_TEST((lines(worker.lines().end() - 2, worker.lines().end()) == lines{"4999", "lost"}));
    BOOST_TEST(worker.lines_dropped() == 0u);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_output_is_kept_to_the_byte) {
    printer worker;
    std::string text;
    for (int i = 0; i < 3000; ++i) {
        const auto line = "line " + std::to_string(i) + "\n";
        text += line;
        worker.print(line);
        if (i % 100 == 99) {
            const auto limit = std::min<std::size_t>(text.size(), output_options().tail_bytes);
            BOOST_TEST(worker.tail() == text.substr(text.size() - limit));
        }
    }
}

BOOST_AUTO_TEST_CASE(the_account_of_a_fatal_error_is_kept_beyond_the_limit) {
    printer worker;
    worker.print(std::string(10'000, 'x') + "\n");
    std::string account = "Fatal Python error: Segmentation fault\n";
    for (int i = 0; i < 1000; ++i) {
        account += "  File \"worker.py\", line " + std::to_string(i) + "\n";
    }
    for (std::size_t at = 0; at < account.size(); at += 10) { // as faulthandler writes it
        worker.print(account.substr(at, 10));
    }
    BOOST_TEST(worker.tail().ends_with(account));
    worker.print(std::string(35'000, 'y'));
    worker.print(std::string(35'000, 'y'));
    BOOST_TEST(worker.tail() == std::string(output_options().tail_bytes, 'y'));
}

BOOST_AUTO_TEST_CASE(lines_of_another_system_are_lines_of_text) {
    printer worker;
    std::string text;
    for (int i = 0; i < 500; ++i) {
        text += "line\r\n";
    }
    worker.print(text);
    BOOST_TEST((worker.lines() == lines(500, "line")));
}

BOOST_AUTO_TEST_CASE(the_last_state_of_a_progress_bar_comes_out_at_the_end) {
    printer worker;
    for (int i = 0; i < 100; ++i) {
        worker.print(std::to_string(i) + "\r");
    }
    worker.end();
    BOOST_TEST(worker.lines().size() == 11u);
    BOOST_TEST(worker.lines().back() == "99");
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
