// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/pool_stream_reader.hpp"

#include "pool/operation.hpp"
#include <skep/pool_operations.hpp>

#include <boost/asio/system_executor.hpp>

#include <stdexcept>
#include <utility>

namespace skep {

pool_stream_reader::pool_stream_reader(const core_ptr& pool, stream_ptr stream) noexcept
    : pool_(pool), stream_(std::move(stream)), progress_(stream_) {}

asio::any_io_executor pool_stream_reader::get_executor() const noexcept {
    const auto core = pool_.lock();
    return core ? detail::operations::executor_of(core) : asio::any_io_executor(asio::system_executor());
}

void pool_stream_reader::close() noexcept {
    progress_.close();
    leave();
}

void pool_stream_reader::leave() noexcept {
    const auto core = pool_.lock();
    if (!core || is_over_ || stream_->is_forgotten() || std::exchange(has_left_, true)) {
        return;
    }
    try {
        post_to_strand(core, [&calls = core->parts().calls, mine = stream_] {
            calls.cancel(*mine, asio::cancellation_type::terminal);
        });
    } catch (const std::bad_alloc&) { // the stream ends by its timeouts
    }
}

bool pool_stream_reader::has_to_wait() const noexcept {
    const auto& given = stream_->given();
    return !has_left_ && given.chunks.empty() && !given.is_last;
}

/// Enters the strand: grants the consumed credit to the worker, then waits.
void pool_stream_reader::wait(completion<void>&& caller) {
    const auto core = pool_.lock();
    if (core) {
        if (is_refused(caller, *core)) {
            return;
        }
        forward_cancellation(
            caller, core, [stream = stream_](pool_core&, asio::cancellation_type) { stream->cancel_wait(); });
    }
    auto begin = [core, stream = stream_, caller = std::move(caller)]() mutable {
        if (core) {
            core->guard([&] { core->take_chunks(*stream, stream->given().size); });
        }
        stream->wait(std::move(caller));
    };
    execute_with_retry(stream_->executor(), std::move(begin));
}

std::optional<chunk> pool_stream_reader::take_next() {
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

const reply& pool_stream_reader::result() const {
    if (!is_over_ || stream_->has_failed()) {
        throw std::logic_error("skep::reply_stream::result() is for after next() has returned nothing");
    }
    return stream_->answer();
}

} // namespace skep
