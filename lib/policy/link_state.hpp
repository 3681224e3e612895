// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/link_message.hpp"
#include "policy/link_output.hpp"
#include <skep/link_counters.hpp>
#include <skep/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

struct link_limits {
    std::size_t segment = 256 << 10;                     ///< largest body of a data message
    std::uint32_t least_window = 64 << 10;               ///< smallest window that the peer may grant
    std::uint32_t most_window = 64 << 20;                ///< a larger window counts as this
    duration beat = std::chrono::seconds(3);             ///< the longest time between messages of an idle end
    duration silence = std::chrono::seconds(6);          ///< ends a link whose peer sends or takes nothing
    duration without_receiver = std::chrono::seconds(2); ///< ends a link whose peer the bus cannot find
};

enum class link_role { client, node };

enum class link_end_cause {
    closed,      ///< by this side
    peer_closed, ///< by the peer
    refused,     ///< by the node
    no_receiver, ///< the bus has found no receiver for link_limits::without_receiver
    begun_anew,  ///< the peer, with another end
    silence,     ///< the peer was silent for link_limits::silence
    no_progress, ///< the peer has acknowledged nothing for link_limits::silence
    violation,   ///< the peer broke the protocol
};

/// Returns true unless one side has ended the link, or refused it, in order.
constexpr bool is_loss(link_end_cause cause) noexcept {
    return cause != link_end_cause::closed && cause != link_end_cause::peer_closed &&
           cause != link_end_cause::refused;
}

struct link_end {
    link_end_cause cause;
    std::string detail; ///< visible text
};

/// The effect of a received message.
struct link_input {
    bool is_accepted = false;    ///< the node has accepted the link; `bytes` is the body of its message
    std::string_view bytes = {}; ///< otherwise the next bytes of the peer's stream
};

/// One end of a link between a client and a node: an ordered, complete and flow-controlled stream of bytes in
/// both directions, over a bus that may lose, repeat and delay messages, or be cut. The link outlives a cut.
/// Every function appends the messages that are due to `out`; a body refers to memory of the link until the
/// next function is called. The window limits the bytes on the way, not the bytes that the receiver keeps:
/// received bytes are acknowledged at once.
class link_state {
public:
    using messages = std::vector<link_message>;

    link_state(const link_state&) = delete;
    link_state& operator=(const link_state&) = delete;

    /// Constructs an end. `greeting`: the body of the client's request, or of the node's consent.
    /// A client begins with on_bus(), and asks the node for a link until the node answers. A node begins with
    /// the client's request: see receive().
    /// Preconditions: the durations of `limits` are positive and finite; `window` is at least the peer's
    /// least_window.
    link_state(link_role role, const link_limits& limits, std::uint32_t window, std::string greeting,
               time_point now);

    bool is_opening() const noexcept { return phase_ == phase::opening; }
    bool is_open() const noexcept { return phase_ == phase::open; }

    /// Returns the end of the link, or nullopt before.
    const std::optional<link_end>& outcome() const noexcept { return end_; }

    // Facts in every message of this end.
    void set_load(const link_load& own) noexcept { own_load_ = own; }
    void set_epoch(std::uint16_t number) noexcept { own_epoch_ = number; }
    std::uint16_t epoch() const noexcept { return own_epoch_; }
    void set_window(std::uint32_t window) noexcept { own_window_ = window; }
    void set_segment(std::size_t bytes) noexcept { limits_.segment = std::max<std::size_t>(bytes, 1); }

    /// Tells the peer the load now.
    void tell_load(time_point now, messages& out);

    /// The stream to the peer. flush() sends what has been added.
    link_output& output() noexcept { return output_; }
    const link_output& output() const noexcept { return output_; }
    void flush(time_point now, messages& out);

    // Reports of the bus: it is connected or not; it has found no receiver for a message of this end.
    void on_bus(bool is_up, time_point now, messages& out);
    void on_no_receiver(time_point now, messages& out);

    /// Takes a message of the peer. The result refers to the body of `message`.
    link_input receive(const link_message& message, time_point now, messages& out);

    /// Returns the time at which tick() is due.
    time_point next_tick() const noexcept;
    void tick(time_point now, messages& out);

    /// Ends the link and tells the peer.
    void close(std::string reason, time_point now, messages& out);

    /// Returns the load in the peer's last message.
    const link_load& peer_load() const noexcept { return peer_load_; }

    /// Returns true if the peer may be out of reach.
    bool is_suspect(time_point now) const noexcept;

    /// Returns the time between a message and its acknowledgement, smoothed; 0 before the first measurement.
    duration round_trip() const noexcept { return round_trip_; }

    link_counters counts() const noexcept {
        auto counts = counts_;
        counts.resent_bytes = output_.taken_again();
        return counts;
    }

private:
    enum class phase { opening, open, ended };

    /// The reports of the bus that the peer is missing.
    struct absence {
        time_point first;
        time_point last;
    };

    /// The measurement of a round trip.
    struct stopwatch {
        std::uint64_t position; ///< ends when the bytes before are acknowledged
        time_point began;
    };

    void emit(link_kind kind, time_point now, messages& out, std::string_view body = {});
    void emit_data(std::size_t most, time_point now, messages& out);
    void request(time_point now, messages& out);
    void ask_again(link_kind news, time_point now, messages& out);
    void probe(time_point now, messages& out);
    void begin_again(time_point now, messages& out);
    void go_back(time_point now);
    void lose_touch() noexcept;
    void grant_time(time_point now) noexcept;
    void end(link_end_cause cause, std::string_view detail);

    void establish(const link_message& message, time_point now) noexcept;
    bool is_of_another_end(const link_message& message) const noexcept;
    std::string_view find_violation(const link_message& message) const noexcept;
    link_input on_opening(const link_message& message, time_point now, messages& out);
    void accept(time_point now, messages& out);
    link_input on_message(const link_message& message, time_point now, messages& out);
    void hear(const link_message& message, time_point now) noexcept;
    void measure(duration sample) noexcept;
    std::string_view take_new(const link_message& message, time_point now, messages& out);
    void owe_acknowledgement(std::size_t bytes, time_point now, messages& out);
    void on_sync(time_point now, messages& out);
    void on_sync_ack(time_point now);
    void resume() noexcept;

    bool is_bus_up() const noexcept { return !down_since_; }
    bool may_send() const noexcept;
    bool has_unacknowledged() const noexcept { return output_.in_flight() > 0; }
    std::size_t segment() const noexcept;
    duration patience() const noexcept;
    time_point quiet_since() const noexcept;
    time_point beat_due() const noexcept;
    time_point probe_due() const noexcept;
    time_point silence_due() const noexcept { return heard_ + limits_.silence; }
    time_point no_progress_due() const noexcept {
        return has_unacknowledged() ? last_progress_ + limits_.silence : time_point::max();
    }

    link_limits limits_;
    link_role role_;
    std::string greeting_;
    phase phase_ = phase::opening;
    std::optional<link_end> end_;
    link_output output_;
    link_load own_load_;
    link_load peer_load_;
    std::uint16_t own_epoch_ = 0;
    std::uint16_t peer_epoch_ = 0;
    std::uint32_t own_window_;
    std::uint32_t peer_window_ = 0;
    std::uint64_t expected_ = 0; ///< position of the next byte to receive
    std::size_t owed_ = 0;       ///< bytes received since the last message
    bool is_synced_ = true;      ///< false after a cut, until the peer has answered

    time_point heard_; ///< the peer, or the bus after a cut
    std::optional<absence> missing_;
    time_point last_emitted_{};
    time_point last_progress_{}; ///< of the acknowledgements
    time_point last_probe_{};
    time_point next_request_{};            ///< of an opening or unsynced link
    std::optional<time_point> asked_;      ///< for lost bytes, without an answer yet
    duration question_wait_{};             ///< for the answer
    time_point next_return_{};             ///< earliest time to send bytes again
    std::uint64_t returned_to_ = 0;        ///< the cursor at that time
    time_point next_accept_{};             ///< earliest time to accept again
    std::optional<time_point> down_since_; ///< the bus
    time_point acknowledgement_due_ = time_point::max();
    std::optional<stopwatch> stopwatch_;
    duration round_trip_{};
    link_counters counts_; ///< but resent_bytes
};

} // namespace skep
