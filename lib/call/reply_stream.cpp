// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/stream_reader.hpp"

#include <boost/asio/system_executor.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

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

boost::asio::any_io_executor reply_stream::get_executor() const noexcept {
    return reader_ ? reader_->get_executor() : boost::asio::any_io_executor(boost::asio::system_executor());
}

bool reply_stream::has_to_wait(const std::shared_ptr<stream_reader>& reader) noexcept {
    return reader && reader->has_to_wait();
}

void reply_stream::begin_wait(stream_reader& reader, completion<void>&& caller) {
    reader.wait(std::move(caller));
}

void reply_stream::end_wait(stream_reader& reader, boost::asio::cancellation_type cancelled) noexcept {
    if (cancelled != boost::asio::cancellation_type::none) {
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

boost::asio::awaitable<std::optional<chunk>> reply_stream::next() {
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
