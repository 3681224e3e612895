// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/operation.hpp"
#include "pool/stream_reader.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <stdexcept>

namespace skep {

namespace {

/// The consumer's side of the strand: what it has taken is granted to the worker, and it waits.
void begin_wait(const std::weak_ptr<pool_core>& pool, const stream_ptr& stream, suspended_caller&& caller) {
    const auto core = pool.lock();
    if (core) {
        forward_cancellation(caller, core,
                             [stream](pool_core&, asio::cancellation_type) { stream->cancel_wait(); });
    }
    auto wait = [core, stream, caller = std::move(caller)]() mutable {
        if (core) {
            core->guard([&] { core->take_chunks(*stream, stream->given().size); });
        }
        stream->wait(std::move(caller));
    };
    execute_with_retry(stream->executor(), std::move(wait));
}

asio::awaitable<void> wait_for_chunks(std::weak_ptr<pool_core> pool, stream_ptr stream) {
    if (const auto core = pool.lock()) {
        core->refuse_if_forked();
    }
    auto start = [pool = std::move(pool), stream](suspended_caller&& caller) {
        begin_wait(pool, stream, std::move(caller));
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
}

asio::awaitable<std::optional<chunk>> nothing() {
    co_return std::nullopt;
}

} // namespace

stream_reader::stream_reader(const core_ptr& pool, stream_ptr stream) noexcept
    : pool_(pool), stream_(std::move(stream)), progress_(stream_) {}

stream_reader::~stream_reader() {
    progress_.close();
    leave();
}

void stream_reader::leave() noexcept {
    const auto core = pool_.lock();
    if (!core || is_over_ || stream_->is_forgotten() || std::exchange(has_left_, true)) {
        return;
    }
    try {
        asio::post(core->executor(), [core, mine = stream_] {
            core->guard([&] { core->parts().calls.cancel(*mine, asio::cancellation_type::terminal); });
        });
    } catch (const std::bad_alloc&) { // it ends by its timeouts
    }
}

asio::awaitable<std::optional<chunk>> stream_reader::next(stream_reader& self) {
    auto& given = self.stream_->given();
    if (!self.has_left_ && given.chunks.empty() && !given.is_last) {
        co_await wait_for_chunks(self.pool_, self.stream_);
        // Whoever has cancelled it does not look at what it returns: the chunk is for the next time.
        const auto cancellation = co_await asio::this_coro::cancellation_state;
        given.was_cancelled |= cancellation.cancelled() != asio::cancellation_type::none;
    }
    co_return self.take_next();
}

std::optional<chunk> stream_reader::take_next() {
    auto& given = stream_->given();
    if (has_left_ || std::exchange(given.was_cancelled, false)) {
        error_info info;
        info.command = stream_->req.command();
        throw error(errc::cancelled, std::move(info));
    }
    if (!given.chunks.empty()) {
        std::optional<chunk> first(std::move(given.chunks.front().piece));
        given.chunks.pop_front();
        return first;
    }
    is_over_ = true;
    progress_.close();
    if (stream_->has_failed()) {
        stream_->throw_failure();
    }
    return std::nullopt;
}

const reply& stream_reader::result() const {
    if (!is_over_ || stream_->has_failed()) {
        throw std::logic_error("skep::reply_stream::result() is for after next() has returned nothing");
    }
    return stream_->answer();
}

reply_stream stream_reader::open(const core_ptr& pool, stream_ptr stream) {
    return reply_stream(std::make_unique<stream_reader>(pool, std::move(stream)));
}

reply_stream::reply_stream(std::unique_ptr<stream_reader> reader) noexcept : reader_(std::move(reader)) {}
reply_stream::reply_stream() noexcept = default;
reply_stream::reply_stream(reply_stream&&) noexcept = default;
reply_stream& reply_stream::operator=(reply_stream&&) noexcept = default;
reply_stream::~reply_stream() = default;

asio::awaitable<std::optional<chunk>> reply_stream::next() {
    return reader_ ? stream_reader::next(*reader_) : nothing();
}

const reply& reply_stream::result() const {
    if (!reader_) {
        throw std::logic_error("an empty skep::reply_stream has no result");
    }
    return reader_->result();
}

void reply_stream::cancel() {
    if (reader_) {
        reader_->leave();
    }
}

} // namespace skep
