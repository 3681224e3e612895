// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include "runtime/pool_context.hpp"
#include <skep/completion.hpp>
#include <skep/reply_stream.hpp>

#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <utility>

namespace skep {

/// A chunk, and the credit that the chunk consumes.
struct arrival {
    chunk piece;
    std::int64_t bytes;
};

/// The portion given to a stream's consumer, for its exclusive use until its next wait.
struct delivery {
    std::list<arrival> chunks;
    stream_credit size;         ///< of all chunks, including chunks already taken out
    bool is_last = false;       ///< no chunk follows
    bool was_cancelled = false; ///< the consumer's wait was cancelled
};

/// A call that is answered in chunks. The consumer receives the chunks in portions of at most half a window's
/// chunks; the worker continues while the consumer uses a portion. On the strand, except the consumer's
/// portion.
class stream_call final : public call, private call_sink {
public:
    stream_call(request&& new_request, strand executor, stream_credit window, duration idle_timeout)
        : call(std::move(new_request), static_cast<call_sink*>(this)),
          executor_(std::move(executor)),
          flow_{stream_window(window), idle_timeout, {}} {
        stream = &flow_;
    }

    const strand& executor() const noexcept { return executor_; }

    /// Attaches the caller that opens the stream. `opener` completes with `new_stream` once a worker has the
    /// call, or fails with the call. To be called first.
    void attach(completion<reply_stream>&& opener, reply_stream&& new_stream) noexcept {
        opener_ = std::move(opener);
        opened_ = std::move(new_stream);
    }

    /// Drops the consumer's finished portion and waits for the next portion.
    void wait(completion<void>&& reader) {
        reader_ = std::move(reader);
        given_ = {};
        deliver();
    }

    /// Cancels the consumer's wait.
    void cancel_wait() {
        if (reader_) {
            given_.was_cancelled = true;
            reader_.complete();
        }
    }

    /// Returns true if the pool ended with its execution context, without completing the call.
    bool is_forgotten() const noexcept { return is_forgotten_; }

    /// The consumer's portion.
    delivery& given() noexcept { return given_; }

    /// For the consumer, after the last portion.
    const reply& answer() const noexcept { return answer_; }
    bool has_failed() const noexcept { return bool(failure_); }
    [[noreturn]] void throw_failure() const { throw failure_.to_error(); }

private:
    void put_answer(reply&& answer) override {
        answer_ = std::move(answer);
        end();
    }
    void put_failure(lazy_error&& failure) override {
        failure_ = std::move(failure);
        end();
    }

    void on_sent() override { opener_.end({}, std::move(opened_)); }

    void put_chunk(chunk piece, std::size_t bytes) override {
        arrived_.push_back({std::move(piece), static_cast<std::int64_t>(bytes)});
        schedule_delivery();
    }

    void end() {
        is_over_ = true;
        opener_.end(lazy_error(failure_), std::move(opened_));
        deliver();
    }

    void forget() noexcept override {
        const boost::intrusive_ptr<stream_call> self(this);
        is_forgotten_ = true;
        opener_ = {};
        opened_ = {};
        reader_ = {};
    }

    /// Delivers at the end of this turn of the strand, so that chunks that arrived together wake the consumer
    /// once.
    void schedule_delivery() {
        if (!reader_ || is_scheduled_) {
            return;
        }
        const boost::intrusive_ptr<stream_call> self(this);
        asio::post(executor_, [self] {
            self->is_scheduled_ = false;
            self->deliver();
        });
        is_scheduled_ = true;
    }

    void deliver() {
        if (!reader_ || (arrived_.empty() && !is_over_)) {
            return;
        }
        const auto most = (flow_.window.size().chunks + 1) / 2;
        while (!arrived_.empty() && given_.size.chunks < most) {
            ++given_.size.chunks;
            given_.size.bytes += arrived_.front().bytes;
            given_.chunks.splice(given_.chunks.end(), arrived_, arrived_.begin()); // allocates nothing
        }
        given_.is_last = is_over_ && arrived_.empty();
        reader_.complete();
    }

    strand executor_;
    stream_flow flow_;
    completion<reply_stream> opener_;
    reply_stream opened_; ///< for the opener; keeps this call alive until then
    completion<void> reader_;
    std::list<arrival> arrived_;
    delivery given_;
    reply answer_;
    lazy_error failure_;
    bool is_over_ = false;
    bool is_scheduled_ = false;
    bool is_forgotten_ = false;
};

} // namespace skep
