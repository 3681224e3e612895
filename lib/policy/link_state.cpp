// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/link_state.hpp"

#include "core/visible_text.hpp"
#include "policy/patient_deadline.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

using namespace std::chrono_literals;

constexpr duration request_interval = 100ms;   ///< of requests for a link, syncs and probes
constexpr duration longest_patience = 1s;      ///< without acknowledgements, before a probe
constexpr duration longest_question_wait = 2s; ///< between two requests for lost bytes
constexpr duration return_interval = 10ms;     ///< of answers to such requests, at least
constexpr duration longest_return_interval = 200ms;
constexpr duration accept_interval = 10ms;
constexpr duration acknowledgement_delay = 10ms;
constexpr duration busy_beat = 1s;          ///< link_limits::beat of a client whose node has calls
constexpr duration slack_of_beat = 500ms;   ///< for the way
constexpr duration longest_gap = 1s;        ///< between two reports of one absence
constexpr duration least_time = 2s;         ///< for the peer to be heard after a cut
constexpr std::size_t longest_detail = 200; ///< bytes of the peer's reason

} // namespace

link_state::link_state(link_role role, const link_limits& limits, std::uint32_t window, std::string greeting,
                       time_point now)
    : limits_(limits), role_(role), greeting_(std::move(greeting)), own_window_(window), heard_(now) {
    if (role == link_role::client) {
        down_since_ = now; // until on_bus()
    }
}

// Sending

void link_state::emit(link_kind kind, time_point now, messages& out, std::string_view body) {
    out.push_back({kind, own_load_, own_window_, output_.cursor(), expected_, body, own_epoch_});
    last_emitted_ = now;
    owed_ = 0;
    acknowledgement_due_ = time_point::max();
}

void link_state::emit_data(std::size_t most, time_point now, messages& out) {
    if (!has_unacknowledged()) {
        last_progress_ = now;
    }
    const auto position = output_.cursor();
    const auto taken_again = output_.taken_again();
    const auto bytes = output_.take(most);
    emit(link_kind::data, now, out, bytes);
    out.back().position = position;
    if (!stopwatch_ && output_.taken_again() == taken_again) {
        stopwatch_ = stopwatch{output_.cursor(), now};
    }
}

/// Sends as much as the peer's window allows. Waits for room rather than send a small part.
void link_state::flush(time_point now, messages& out) {
    while (may_send() && output_.to_send() > 0) {
        const auto room = peer_window_ - std::min<std::size_t>(output_.in_flight(), peer_window_);
        if (room < std::min(output_.to_send(), segment())) {
            return; // an acknowledgement follows
        }
        emit_data(std::min(room, segment()), now, out);
    }
}

std::size_t link_state::segment() const noexcept {
    return std::min<std::size_t>(limits_.segment, std::max<std::size_t>(peer_window_ / 4, 1));
}

bool link_state::may_send() const noexcept {
    return is_open() && is_bus_up() && is_synced_;
}

/// Asks the peer for an answer: for a link, or after a cut for its position in the stream.
void link_state::request(time_point now, messages& out) {
    if (is_opening()) {
        const bool is_first = next_request_ == time_point();
        stopwatch_ = is_first ? std::optional(stopwatch{0, now}) : std::nullopt;
        emit(link_kind::open, now, out, greeting_);
    } else {
        emit(link_kind::sync, now, out);
    }
    next_request_ = now + request_interval;
}

/// Asks for lost bytes, unless an answer is on its way. Data that follows the loss arrives in front of the
/// answer, and every further question would have the bytes sent once more. A beat comes when the peer has
/// nothing else to send.
void link_state::ask_again(link_kind news, time_point now, messages& out) {
    const auto wait = news == link_kind::data ? question_wait_ : patience();
    if (!asked_ || now >= *asked_ + wait) {
        emit(link_kind::sync, now, out);
        question_wait_ = std::min(std::max(2 * question_wait_, patience()), longest_question_wait);
        asked_ = now;
    }
}

/// Sends a beat: the peer acknowledges it, and notices bytes that were lost before.
void link_state::probe(time_point now, messages& out) {
    emit(link_kind::beat, now, out);
    last_probe_ = now;
}

void link_state::tell_load(time_point now, messages& out) {
    if (may_send()) {
        probe(now, out);
    }
}

void link_state::close(std::string reason, time_point now, messages& out) {
    if (phase_ != phase::ended) {
        end(link_end_cause::closed, reason);
        emit(link_kind::close, now, out, end_->detail);
    }
}

void link_state::end(link_end_cause cause, std::string_view detail) {
    phase_ = phase::ended;
    end_ = link_end{cause, visible(detail.substr(0, longest_detail))};
}

// The bus

void link_state::on_bus(bool is_up, time_point now, messages& out) {
    if (!is_up && is_bus_up()) {
        down_since_ = now;
    }
    if (is_up && down_since_) {
        heard_ += now - *down_since_; // the outage is not the peer's silence
        down_since_.reset();
    }
    if (is_up && phase_ != phase::ended) {
        begin_again(now, out);
    }
}

/// The peer may have sent messages that were lost, or that wait to be received.
void link_state::begin_again(time_point now, messages& out) {
    grant_time(now);
    missing_.reset();
    if (is_open()) {
        lose_touch();
    }
    if (role_ == link_role::client || is_open()) {
        request(now, out);
    }
}

/// Gives the peer some time before it is given up.
void link_state::grant_time(time_point now) noexcept {
    const auto least = now - limits_.silence + std::min(limits_.silence, least_time);
    heard_ = std::max(heard_, least);
    last_progress_ = std::max(last_progress_, least);
}

/// From now on the peer is asked for its position before bytes are sent.
void link_state::lose_touch() noexcept {
    is_synced_ = false;
    stopwatch_.reset();
}

/// A peer that reconnects to the bus is missing for a moment. Ends the link if the peer stays missing.
void link_state::on_no_receiver(time_point now, messages& out) {
    if (phase_ == phase::ended) {
        return;
    }
    if (!missing_ || now - missing_->last > longest_gap) {
        missing_ = absence{now, now};
    }
    missing_->last = now;
    if (missing_->last - missing_->first >= limits_.without_receiver) {
        close("no receiver", now, out);
        end_->cause = link_end_cause::no_receiver;
    } else if (is_open() && is_synced_) {
        lose_touch();
        next_request_ = now + request_interval;
    }
}

// Receiving

link_input link_state::receive(const link_message& message, time_point now, messages& out) {
    if (phase_ == phase::ended) {
        return {};
    }
    if (is_of_another_end(message)) {
        close("the peer has begun anew", now, out);
        end_->cause = link_end_cause::begun_anew;
        return {};
    }
    if (const auto problem = find_violation(message); !problem.empty()) {
        close(std::string(problem), now, out);
        end_->cause = link_end_cause::violation;
        return {};
    }
    switch (message.kind) {
    case link_kind::close: end(link_end_cause::peer_closed, message.body); return {};
    case link_kind::refuse: end(link_end_cause::refused, message.body); return {};
    default: return is_opening() ? on_opening(message, now, out) : on_message(message, now, out);
    }
}

/// A node that has lost or ended its end of a link accepts the link again if a repeated request comes late.
/// The streams do not fit together. A program without the link closes it without an epoch.
bool link_state::is_of_another_end(const link_message& message) const noexcept {
    return is_open() && message.epoch != peer_epoch_ && message.kind != link_kind::close;
}

/// Returns the rule that the message breaks, or an empty text.
std::string_view link_state::find_violation(const link_message& message) const noexcept {
    const bool is_answer = message.kind == link_kind::accept || message.kind == link_kind::refuse;
    if (role_ == link_role::client ? message.kind == link_kind::open : is_answer) {
        return "only a client opens a link, and only a node accepts or refuses it";
    }
    if (message.kind == link_kind::refuse && is_open()) {
        return "an accepted link cannot be refused";
    }
    const bool is_last = message.kind == link_kind::refuse || message.kind == link_kind::close;
    const bool is_heeded = is_open() || message.kind == link_kind::open || message.kind == link_kind::accept;
    if (is_last || !is_heeded) {
        return {}; // its numbers are not used
    }
    if (message.window < limits_.least_window) {
        return "the window is too small";
    }
    if (message.expected > output_.end()) {
        return "bytes are acknowledged that were not sent";
    }
    return {};
}

/// Heeds the request for a link, or the consent. Other messages come too early, and follow again.
link_input link_state::on_opening(const link_message& message, time_point now, messages& out) {
    if (message.kind == link_kind::open) {
        establish(message, now);
        accept(now, out);
        return {};
    }
    if (message.kind != link_kind::accept) {
        return {};
    }
    establish(message, now);
    flush(now, out);
    return {true, message.body};
}

void link_state::establish(const link_message& message, time_point now) noexcept {
    phase_ = phase::open;
    peer_epoch_ = message.epoch;
    hear(message, now);
}

/// A request may come several times.
void link_state::accept(time_point now, messages& out) {
    if (now >= next_accept_) {
        next_accept_ = now + accept_interval;
        emit(link_kind::accept, now, out, greeting_);
    }
}

link_input link_state::on_message(const link_message& message, time_point now, messages& out) {
    hear(message, now);
    std::string_view bytes;
    switch (message.kind) {
    case link_kind::open: accept(now, out); break;
    case link_kind::data: bytes = take_new(message, now, out); break;
    case link_kind::beat: owe_acknowledgement(0, now, out); break;
    case link_kind::sync: on_sync(now, out); break;
    case link_kind::sync_ack: on_sync_ack(now); break;
    default: break;
    }
    if (message.position > expected_) {
        ++counts_.gaps;
        ask_again(message.kind, now, out);
    }
    flush(now, out);
    return {false, bytes};
}

/// Takes the facts in every message of the peer. The facts of a message that comes late may be outdated.
void link_state::hear(const link_message& message, time_point now) noexcept {
    heard_ = now;
    missing_.reset();
    if (message.expected < output_.acknowledged()) {
        return;
    }
    peer_load_ = message.load;
    peer_window_ = std::min(message.window, limits_.most_window);
    if (message.expected > output_.acknowledged()) {
        output_.acknowledge(message.expected);
        last_progress_ = now;
    }
    if (stopwatch_ && message.expected >= stopwatch_->position) {
        measure(now - stopwatch_->began);
        stopwatch_.reset();
    }
}

void link_state::measure(duration sample) noexcept {
    round_trip_ += round_trip_ == duration::zero() ? sample : (sample - round_trip_) / 8;
}

/// Returns the bytes of the message that have not arrived before, if they are the next.
std::string_view link_state::take_new(const link_message& message, time_point now, messages& out) {
    if (message.position > expected_) {
        return {};
    }
    const auto known = expected_ - message.position;
    if (known >= message.body.size()) {
        ++counts_.duplicates;
        owe_acknowledgement(0, now, out);
        return {};
    }
    const auto bytes = message.body.substr(static_cast<std::size_t>(known));
    expected_ += bytes.size();
    asked_.reset();
    question_wait_ = {};
    owe_acknowledgement(bytes.size(), now, out);
    return bytes;
}

/// The acknowledgement goes with the next message, or soon by itself.
void link_state::owe_acknowledgement(std::size_t bytes, time_point now, messages& out) {
    owed_ += bytes;
    acknowledgement_due_ = std::min(acknowledgement_due_, now + acknowledgement_delay);
    if (owed_ >= own_window_ / 4) {
        emit(link_kind::ack, now, out);
    }
}

/// The peer lacks the bytes from its position on. A question that follows another at once is ignored, unless
/// a segment has arrived meanwhile: the bytes are on their way.
void link_state::on_sync(time_point now, messages& out) {
    const bool has_progress = output_.acknowledged() - returned_to_ >= segment();
    if (!is_synced_ || has_progress || now >= next_return_) {
        resume();
        go_back(now);
        emit(link_kind::sync_ack, now, out);
    }
}

/// Both sides know again where the stream goes on.
void link_state::resume() noexcept {
    counts_.resumes += is_synced_ ? 0 : 1;
    is_synced_ = true;
}

/// The stream follows from the expected position on.
void link_state::on_sync_ack(time_point now) {
    asked_.reset();
    if (!is_synced_) {
        resume();
        go_back(now);
    }
}

void link_state::go_back(time_point now) {
    output_.go_back(segment());
    stopwatch_.reset();
    returned_to_ = output_.acknowledged();
    next_return_ = now + std::clamp(round_trip_, return_interval, longest_return_interval);
}

// Time

/// Returns the time that the peer has to acknowledge bytes before it is asked.
duration link_state::patience() const noexcept {
    return std::clamp<duration>(4 * round_trip_, request_interval, longest_patience);
}

/// Returns the time after which the peer's silence is unusual.
time_point link_state::quiet_since() const noexcept {
    const auto expected_by = heard_ + limits_.beat + slack_of_beat;
    return std::min(expected_by,
                    silence_due() - limits_.silence / 4); // a peer is probed before it is given up
}

bool link_state::is_suspect(time_point now) const noexcept {
    const bool is_stuck =
        has_unacknowledged() && now - last_progress_ > std::max(longest_patience, 2 * patience());
    return !is_bus_up() || !is_synced_ || missing_ || is_stuck || now >= quiet_since();
}

/// A client learns of the end of its node by the answer of the bus to a message.
time_point link_state::beat_due() const noexcept {
    const bool has_calls = role_ == link_role::client && peer_load_.calls > 0;
    return last_emitted_ + (has_calls ? std::min(busy_beat, limits_.beat) : limits_.beat);
}

time_point link_state::probe_due() const noexcept {
    const auto unacknowledged =
        has_unacknowledged() ? std::max(last_progress_, last_probe_) + patience() : time_point::max();
    return std::min(unacknowledged, std::max(quiet_since(), last_probe_ + request_interval));
}

time_point link_state::next_tick() const noexcept {
    if (phase_ == phase::ended || !is_bus_up()) {
        return time_point::max();
    }
    if (is_opening()) {
        return role_ == link_role::client ? std::min(silence_due(), next_request_) : silence_due();
    }
    if (!is_synced_) {
        return std::min({silence_due(), acknowledgement_due_, next_request_});
    }
    return std::min({silence_due(), no_progress_due(), acknowledgement_due_, beat_due(), probe_due()});
}

void link_state::tick(time_point now, messages& out) {
    const auto due = next_tick();
    if (now < due) {
        return;
    }
    if (now - due > long_stall) { // the host stood still
        begin_again(now, out);
    } else if (now >= silence_due()) {
        close("silence", now, out);
        end_->cause = link_end_cause::silence;
    } else if (is_synced_ && now >= no_progress_due()) {
        close("no progress", now, out);
        end_->cause = link_end_cause::no_progress;
    } else if ((is_opening() || !is_synced_) && now >= next_request_) {
        request(now, out);
    } else if (is_synced_ && (now >= probe_due() || now >= beat_due())) {
        probe(now, out);
    } else {
        emit(link_kind::ack, now, out);
    }
}

} // namespace skep
