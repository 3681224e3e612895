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

/// A chunk, and what it takes off the credit.
struct arrival {
    chunk piece;
    std::int64_t bytes;
};

/// What a stream's consumer has been given, and is alone with until it waits again.
struct delivery {
    std::list<arrival> chunks;
    stream_credit size;         ///< of the chunks, those included that were taken out
    bool is_last = false;       ///< nothing comes after them
    bool was_cancelled = false; ///< the consumer's wait
};

/// A call whose answer comes in chunks. They are handed to the consumer in portions, each of half a window's
/// chunks at most: while it is at one, the worker goes on. On the strand, but for what the consumer has been given.
class stream_call final : public call, private call_sink {
public:
    stream_call(request&& new_request, strand executor, stream_credit window, duration idle_timeout)
        : call(std::move(new_request), static_cast<call_sink*>(this)),
          executor_(std::move(executor)),
          flow_{stream_window(window), idle_timeout, {}} {
        stream = &flow_;
    }

    const strand& executor() const noexcept { return executor_; }

    /// Who waits until a worker has the call, or it has failed, and is given `new_stream` then. Before anything else.
    void attach(completion<reply_stream>&& opener, reply_stream&& new_stream) noexcept {
        opener_ = std::move(opener);
        opened_ = std::move(new_stream);
    }

    /// The consumer is through with its portion: it waits for the next one.
    void wait(completion<void>&& reader) {
        reader_ = std::move(reader);
        given_ = {};
        deliver();
    }

    /// It waits no more.
    void cancel_wait() {
        if (reader_) {
            given_.was_cancelled = true;
            reader_.complete();
        }
    }

    /// The pool has ended without a word, with its execution context.
    bool is_forgotten() const noexcept { return is_forgotten_; }

    /// The consumer's portion.
    delivery& given() noexcept { return given_; }

    /// For the consumer, once it has been given all.
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

    /// At the end of this turn of the strand, so that chunks which came together wake the consumer once.
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
            given_.chunks.splice(given_.chunks.end(), arrived_, arrived_.begin()); // takes no memory
        }
        given_.is_last = is_over_ && arrived_.empty();
        reader_.complete();
    }

    strand executor_;
    stream_flow flow_;
    completion<reply_stream> opener_;
    reply_stream opened_; ///< for the opener; keeps this alive until then
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
