// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Shared by the samples: an orderly end in all cases, finished, failed or interrupted.

#pragma once

#include <skep/shutdown_report.hpp>
#include <skep/time.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Handles SIGINT and SIGTERM. The first signal cancels operations started with slot(); later signals have no
/// effect.
class stop_signals {
public:
    explicit stop_signals(boost::asio::io_context& context);

    boost::asio::cancellation_slot slot() { return stop_.slot(); }

    /// Returns the number of the first signal.
    std::optional<int> received() const noexcept { return received_; }

    /// Stops waiting for signals, so that the context runs out of work.
    void close();

private:
    void wait();

    boost::asio::signal_set set_;
    boost::asio::cancellation_signal stop_;
    std::optional<int> received_;
    bool closed_ = false;
};

/// A sample. Returns true if it succeeded. A signal cancels only jobs that the sample runs by
/// until_stopped().
using sample = std::function<boost::asio::awaitable<bool>(std::string python, stop_signals& stop)>;

/// Reads the command line and runs a sample on one thread. Returns the program's exit code.
int run_sample(const std::string& name, const std::vector<std::string>& args, const sample& body);

/// Runs a job that the first signal cancels. Returns the text of its failure, or an empty string.
boost::asio::awaitable<std::string> until_stopped(boost::asio::awaitable<void> job, stop_signals& stop);

/// Runs tasks concurrently. The first failure, or a cancellation of the caller, ends the other tasks. Returns
/// when all tasks have ended.
boost::asio::awaitable<void> run_together(std::vector<boost::asio::awaitable<void>> tasks);

/// "1.25 s"
std::string seconds(skep::duration span);

void print_shutdown(const skep::shutdown_report& report);
