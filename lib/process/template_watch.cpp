// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_watch.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <utility>

namespace skep {

template_watch::template_watch(const strand& executor, std::function<void()> on_end)
    : executor_(executor),
      on_end_(std::move(on_end)),
      watchers_(executor, [](const std::exception_ptr&) {}) {}

template_watch::~template_watch() {
    close();
}

void template_watch::add(unique_fd line) {
    std::erase_if(watched_, [](const auto& each) { return each.expired(); });
    auto one = std::make_shared<watched>(executor_);
    one->line.assign(line.get());
    line.release();
    watched_.push_back(one);
    watchers_.spawn(one, watch(one));
}

/// Waits for the end of the connection only: answers of the template are the spawner's.
asio::awaitable<void> template_watch::watch(std::shared_ptr<watched> one) {
    using descriptor = asio::posix::stream_descriptor;
    boost::system::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    co_await one->line.async_wait(descriptor::wait_error, std::move(token));
    if (!one->is_closed) {
        on_end_();
    }
}

void template_watch::close() noexcept {
    for (const auto& each : watched_) {
        if (const auto one = each.lock()) {
            one->is_closed = true;
            boost::system::error_code ec;
            one->line.close(ec);
        }
    }
    watched_.clear();
}

} // namespace skep
