// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/memory_stream.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace skep::simulation {

asio::awaitable<bool> wake::wait(time_point until) {
    timer_.expires_at(until);
    boost::system::error_code ec;
    auto token = asio::redirect_error(asio::use_awaitable, ec);
    co_await timer_.async_wait(std::move(token));
    const auto state = co_await asio::this_coro::cancellation_state;
    co_return state.cancelled() == asio::cancellation_type::none;
}

void wake::notify() {
    const spared_by_faults here;
    timer_.cancel();
}

connection::connection(world& in, std::size_t room, duration latency)
    : to_worker(std::make_shared<pipe>(in, room, latency)),
      to_host(std::make_shared<pipe>(in, static_cast<std::size_t>(-1), latency)) {
    to_host->on_bytes = [this](std::string_view bytes) {
        arrived += bytes;
        if (host != nullptr) {
            host->wake_reader();
        }
    };
    to_host->on_end = [this] {
        at_end = true;
        if (host != nullptr) {
            host->wake_reader();
        }
    };
    to_worker->on_room = [this] {
        if (host != nullptr) {
            host->wake_writer();
        }
    };
}

void connection::end_by_worker() {
    if (!worker_gone) {
        worker_gone = true;
        to_host->end();
        to_worker->drop();
        if (host != nullptr) {
            host->wake_writer();
        }
    }
}

memory_stream::memory_stream(world& in, const strand& executor, std::shared_ptr<connection> to)
    : world_(in), connection_(std::move(to)), readable_(executor), writable_(executor) {
    connection_->host = this;
}

memory_stream::~memory_stream() {
    close();
    connection_->host = nullptr;
}

std::optional<std::size_t> memory_stream::try_write(std::span<const char> bytes) noexcept {
    const spared_by_faults here;
    auto& to = *connection_;
    if (to.worker_gone || to.host_closed) {
        return std::nullopt;
    }
    const bool is_short = bytes.size() > 1 && world_.chance.chance(0.02);
    const auto most = is_short ? world_.chance.below(bytes.size()) : bytes.size();
    const std::string_view piece(bytes.data(), most);
    const auto count = to.to_worker->write(piece);
    to.is_behind = count < bytes.size();
    if (to.is_behind) {
        to.on_short();
    }
    to.on_written(piece.substr(0, count));
    return count;
}

asio::awaitable<void> memory_stream::wait_writable() {
    bool goes_on = true;
    while (goes_on && !is_writable()) {
        goes_on = co_await writable_.wait();
    }
}

asio::awaitable<std::size_t> memory_stream::read(std::span<char> room) {
    bool goes_on = true;
    while (goes_on && !is_readable()) {
        goes_on = co_await readable_.wait();
    }
    co_return take(room);
}

std::size_t memory_stream::take(std::span<char> room) {
    const spared_by_faults here;
    auto& from = *connection_;
    if (from.host_closed) {
        return 0;
    }
    const auto count = std::min(room.size(), from.arrived.size());
    std::copy_n(from.arrived.begin(), count, room.begin());
    from.arrived.erase(0, count);
    from.consumed += count;
    if (from.on_consumed) {
        from.on_consumed();
    }
    return count;
}

/// Others may hold the worker's end; what it has written is on its way.
void memory_stream::hear_out() noexcept {
    const spared_by_faults here;
    connection_->to_host->end();
}

void memory_stream::close() noexcept {
    const spared_by_faults here;
    auto& both = *connection_;
    if (!both.host_closed) {
        both.host_closed = true;
        both.to_host->drop();
        both.to_worker->end();
        wake_reader();
        wake_writer();
    }
}

} // namespace skep::simulation
