// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/initialization_delegate.hpp>

#include <boost/asio/awaitable.hpp>

namespace skep {

namespace asio = boost::asio;

initialization_delegate::~initialization_delegate() = default;

asio::awaitable<void> initialization_delegate::before_first_worker() {
    co_return;
}

asio::awaitable<launch_options> initialization_delegate::before_launch(worker_id, launch_options options) {
    co_return options;
}

asio::awaitable<void> initialization_delegate::warm_up(worker_id, call_interface&) {
    co_return;
}

asio::awaitable<void> initialization_delegate::after_end(worker_exit) {
    co_return;
}

} // namespace skep
