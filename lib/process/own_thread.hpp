// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/wait_mode.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <future>
#include <thread>

namespace skep {

namespace asio = boost::asio;

/// An execution context, and the thread that runs it.
class own_thread {
public:
    /// Starts the thread.
    /// Throws std::system_error if the thread could not be started.
    explicit own_thread(wait_mode wait);

    /// Waits until the context has no work left, at most a second, and ends the thread. Must not run on this
    /// thread.
    ~own_thread();

    own_thread(const own_thread&) = delete;
    own_thread& operator=(const own_thread&) = delete;

    asio::io_context::executor_type executor() noexcept { return context_.get_executor(); }

private:
    asio::io_context context_{1};
    asio::executor_work_guard<asio::io_context::executor_type> guard_{context_.get_executor()};
    std::promise<void> at_end_;
    std::thread thread_;
};

} // namespace skep
