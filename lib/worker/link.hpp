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

/// The events of a link, for its worker.
class link_user {
public:
    /// Handles a message that is allowed now, on this channel. Throws protocol_violation if the message does
    /// not fit the worker's state.
    virtual void on_message(worker_message& message) = 0;

    /// Data has arrived, complete or not.
    virtual void on_sign_of_life() = 0;

    /// The worker has taken a piece of the backlog.
    virtual void on_backlog_shrunk() = 0;

    /// The data has ended. `stray` describes a rest that is no message; may be empty.
    virtual void on_data_ended(std::string stray) = 0;

    /// A channel has ended or is broken, or the worker broke the protocol.
    virtual void report(failure new_failure) = 0;

protected:
    ~link_user() = default;
};

/// The connection of the host with a worker: a channel for calls and their answers and, depending on the
/// transport, a second channel for control messages. Control messages arrive even while the worker runs a
/// call. Used on the pool's strand.
class link {
public:
    link(const pool_context& context, std::unique_ptr<byte_stream> data, std::unique_ptr<byte_stream> control,
         const limit_options& limits, link_user& user);

    /// Starts to read and write. `owner` stays alive until both have ended, after close().
    void start(task_group& tasks, const std::shared_ptr<void>& owner);

    channel& data() noexcept { return data_.source; }
    const channel& data() const noexcept { return data_.source; }

    /// Returns the channel for control messages.
    channel& control() noexcept { return control_ ? control_->source : data_.source; }
    bool has_control() const noexcept { return control_.has_value(); }

    /// Returns true while the host itself postpones reading the channel of the pongs.
    bool is_paused() const noexcept { return control_ ? control_->is_paused : data_.is_paused; }

    /// Returns the time at which the hello was answered. Precondition: the hello was answered.
    time_point welcomed() const noexcept { return welcomed_; }

    /// Returns true once all data of the worker has been read.
    bool has_heard_out() const noexcept { return heard_out_; }

    /// Sends the data channel's outbox at the end of this turn of the strand, so that frames share a write.
    void flush_soon(const std::shared_ptr<void>& owner);

    /// Discards the unsent data of calls for good, and still sends control messages. Does nothing if both
    /// share a channel.
    void stop_sending_calls() noexcept;

    /// Reads the rest of the data of the ended process, but no data of other processes with its descriptors.
    void hear_out() noexcept { data_.source.hear_out(); }

    void close() noexcept;

    /// Ends the pauses: an ended process has little left to send.
    void end_pauses() noexcept;

private:
    enum class phase { greeting, starting, serving };
    enum class taken { all, up_to_large, in_part };

    /// A channel, and the charges for its data.
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
