// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "policy/recovery.hpp"
#include "policy/worker_talk.hpp"
#include "runtime/pool_context.hpp"
#include "runtime/runtime.hpp"
#include "worker/channel.hpp"

#include <memory>
#include <optional>
#include <string>

namespace skep {

/// What a link tells its worker.
class link_user {
public:
    /// A message that may come now, over this channel. Throws protocol_violation if the worker cannot mean it.
    virtual void on_message(worker_message& message) = 0;

    /// Something has arrived, whole or not.
    virtual void on_sign_of_life() = 0;

    /// It has taken a piece of what it was too slow to take at once.
    virtual void on_backlog_shrunk() = 0;

    /// Nothing more will come. `stray` tells of what came in the end and is no message, if anything did.
    virtual void on_data_ended(std::string stray) = 0;

    /// Nothing more can come over one of its channels, or the worker broke the protocol.
    virtual void report(failure new_failure) = 0;

protected:
    ~link_user() = default;
};

/// What connects the host with a worker: a channel for calls and their answers, and, where the transport has one,
/// another for control messages, which gets through while the worker is at a call. On the pool's strand.
class link {
public:
    link(const pool_context& context, std::unique_ptr<byte_stream> data, std::unique_ptr<byte_stream> control,
         const limit_options& limits, link_user& user);

    /// Begins to read and write; `owner` stays alive until that has ended, after close().
    void start(task_group& tasks, const std::shared_ptr<void>& owner);

    channel& data() noexcept { return data_.source; }
    const channel& data() const noexcept { return data_.source; }

    /// Where control messages go.
    channel& control() noexcept { return control_ ? control_->source : data_.source; }
    bool has_control() const noexcept { return control_.has_value(); }

    /// Whether the host itself leaves unread for a while what answers pings.
    bool is_paused() const noexcept { return control_ ? control_->is_paused : data_.is_paused; }

    /// When its hello was answered; to be asked afterwards.
    time_point welcomed() const noexcept { return welcomed_; }

    /// All that the worker has sent has been read.
    bool has_heard_out() const noexcept { return heard_out_; }

    /// Sends what is in the data channel's outbox at the end of this turn of the strand, so that frames share a write.
    void flush_soon(const std::shared_ptr<void>& owner);

    /// What has not been sent of the calls by now never will be; control messages still are. Does nothing where both share
    /// a channel.
    void stop_sending_calls() noexcept;

    /// The worker's process has ended: what it has sent is read, and nothing that others send through its descriptors.
    void hear_out() noexcept { data_.source.hear_out(); }

    void close() noexcept;

    /// From now on it is heard out without pauses: the process has ended, and so has what it can say.
    void end_pauses() noexcept;

private:
    enum class phase { greeting, starting, serving };
    enum class taken { all, up_to_large, in_part };

    /// A channel, and what is charged for what comes over it.
    struct inlet {
        inlet(const strand& executor, std::unique_ptr<byte_stream> connection, const limit_options& limits);

        channel source;
        worker_talk told;
        latch no_pause;
        bool is_paused = false;
    };

    asio::awaitable<void> read(inlet& input);
    asio::awaitable<void> pause_if_flooded(inlet& input);
    asio::awaitable<void> write(channel& target, const char* name);
    taken handle_messages(inlet& input);
    asio::awaitable<taken> handle_large(inlet& input);
    void handle(inlet& input, worker_message&& message, const frame_view& frame);
    void report_size();
    template <class Act>
    taken guarded(Act act);
    std::string stray() const;
    const char* objection_to(const worker_message& message, bool is_control) const noexcept;
    void go_on(const worker_message& message) noexcept;

    const pool_context& context_;
    link_user& user_;
    inlet data_;
    std::optional<inlet> control_;
    phase phase_ = phase::greeting;
    time_point welcomed_;
    bool flush_scheduled_ = false;
    bool heard_out_ = false;
};

} // namespace skep
