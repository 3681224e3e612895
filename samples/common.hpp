// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What samples share: an end that is always orderly, be it finished, failed or interrupted.

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

/// SIGINT and SIGTERM. The first one cancels what was started with slot(); later ones find it at its end
/// already.
class stop_signals {
public:
    explicit stop_signals(boost::asio::io_context& context);

    boost::asio::cancellation_slot slot() { return stop_.slot(); }

    /// The first signal that came.
    std::optional<int> received() const noexcept { return received_; }

    /// Stops waiting, so that the context runs out of work.
    void close();

private:
    void wait();

    boost::asio::signal_set set_;
    boost::asio::cancellation_signal stop_;
    std::optional<int> received_;
    bool closed_ = false;
};

/// A sample: true if all went as it should. It is never cancelled, but what it runs by until_stopped() is.
using sample = std::function<boost::asio::awaitable<bool>(std::string python, stop_signals& stop)>;

/// Reads the command line and runs a sample on one thread. Returns the program's exit code.
int run_sample(const std::string& name, const std::vector<std::string>& args, const sample& body);

/// Runs a job that the first signal cancels. Returns what it failed with; empty if it did not.
boost::asio::awaitable<std::string> until_stopped(boost::asio::awaitable<void> job, stop_signals& stop);

/// Runs tasks side by side. The first one to fail, or a cancellation from above, ends the others; none is left
/// when this returns.
boost::asio::awaitable<void> run_together(std::vector<boost::asio::awaitable<void>> tasks);

/// "1.25 s"
std::string seconds(skep::duration span);

void print_shutdown(const skep::shutdown_report& report);
