// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/operation.hpp"
#include "pool/stream_reader.hpp"
#include <skep/pool_operations.hpp>

#include <boost/asio/system_executor.hpp>

#include <exception>
#include <stdexcept>

namespace skep {

namespace {

/// The caller of next(), completed with the next chunk or the end of the stream.
struct chunk_caller : detail::inner_caller<std::optional<chunk>> {
    void operator()(lazy_error&& failure, std::monostate&&) {
        std::optional<chunk> taken;
        if (!failure) {
            try {
                taken = reader->take_next();
            } catch (...) {
                failure = lazy_error(std::current_exception());
            }
        }
        reader.reset();
        caller(std::move(failure), std::move(taken));
    }

    std::shared_ptr<stream_reader> reader;
};

} // namespace

stream_reader::stream_reader(const core_ptr& pool, stream_ptr stream) noexcept
    : pool_(pool), stream_(std::move(stream)), progress_(stream_) {}

void stream_reader::close() noexcept {
    progress_.close();
    leave();
}

void stream_reader::leave() noexcept {
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

bool stream_reader::has_to_wait() const noexcept {
    const auto& given = stream_->given();
    return !has_left_ && given.chunks.empty() && !given.is_last;
}

/// Enters the strand: grants the consumed credit to the worker, then waits.
void stream_reader::wait(completion<void>&& caller) {
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
    return reply_stream(std::make_shared<stream_reader>(pool, std::move(stream)));
}

reply_stream::reply_stream(std::shared_ptr<stream_reader> reader) noexcept : reader_(std::move(reader)) {}
reply_stream::reply_stream() noexcept = default;
reply_stream::reply_stream(reply_stream&&) noexcept = default;
reply_stream& reply_stream::operator=(reply_stream&& other) noexcept {
    const reply_stream left(std::move(*this));
    reader_ = std::move(other.reader_);
    return *this;
}
reply_stream::~reply_stream() {
    if (reader_) {
        reader_->close();
    }
}

asio::any_io_executor reply_stream::get_executor() const noexcept {
    const auto core = reader_ ? reader_->pool() : nullptr;
    return core ? detail::operations::executor_of(core) : asio::any_io_executor(asio::system_executor());
}

bool reply_stream::has_to_wait(const std::shared_ptr<stream_reader>& reader) noexcept {
    return reader && reader->has_to_wait();
}

void reply_stream::begin_wait(stream_reader& reader, completion<void>&& caller) {
    reader.wait(std::move(caller));
}

void reply_stream::end_wait(stream_reader& reader, asio::cancellation_type cancelled) noexcept {
    if (cancelled != asio::cancellation_type::none) {
        reader.cancel_next();
    }
}

std::optional<chunk> reply_stream::take_next(const std::shared_ptr<stream_reader>& reader) {
    return reader ? reader->take_next() : std::nullopt;
}

void reply_stream::begin_next(const std::shared_ptr<stream_reader>& reader,
                              completion<std::optional<chunk>>&& caller) {
    const auto executor = caller.get_executor();
    const bool waits = has_to_wait(reader);
    chunk_caller taking{{std::move(caller)}, reader};
    if (waits) {
        reader->wait(completion<void>::of<detail::by_parts>(std::move(taking), executor));
    } else if (reader) {
        completion<void>::of<detail::by_parts>(std::move(taking), executor).complete();
    } else {
        taking.caller.complete();
    }
}

asio::awaitable<std::optional<chunk>> reply_stream::next() {
    return next(default_token());
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
