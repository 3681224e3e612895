// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/link_state.hpp"
#include "simulation/pattern_byte.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep::simulation {

/// One end of a link, with what its program has sent and received. Frames are numbered in their first bytes,
/// and the other bytes follow from the number.
class link_end_record {
public:
    static constexpr std::size_t frame_head = 8;

    std::optional<link_state> state;
    link_load load;             ///< as last set
    time_point stalled_until{}; ///< the program stands still
    bool has_died = false;
    bool has_ended = false; ///< its link
    time_point ended{};
    std::uint64_t timer = 0; ///< number of the armed timer
    time_point ticked{};     ///< the time, while tick() runs
    std::uint64_t messages = 0;
    std::uint64_t messages_before_rest = 0;
    std::uint64_t lost_messages = 0;
    std::uint64_t sent_bytes = 0;       ///< of the stream, each time that they are sent
    std::vector<std::size_t> sizes;     ///< of the frames that were added, by number - 1; 0: withdrawn
    std::optional<std::string> problem; ///< the first

    bool is_open() const noexcept { return state && state->is_open() && !has_died; }

    static std::string make_frame(std::uint32_t number, std::size_t size) {
        std::string bytes(size, '\0');
        const auto length = static_cast<std::uint32_t>(size);
        std::memcpy(bytes.data(), &length, 4);
        std::memcpy(bytes.data() + 4, &number, 4);
        for (std::size_t i = frame_head; i < size; ++i) {
            bytes[i] = pattern_byte(number, i);
        }
        return bytes;
    }

    void add_frame(std::size_t size) {
        sizes.push_back(size);
        const auto number = state->output().add(make_frame(static_cast<std::uint32_t>(sizes.size()), size));
        if (number != sizes.size()) {
            wrong("a frame has another number");
        }
    }

    /// Withdraws a frame at random, if that is possible. No part of the frame may have left then, and
    /// otherwise a part must have.
    void withdraw(std::uint64_t number) {
        if (sizes[number - 1] == 0) {
            return;
        }
        const bool has_begun = begin_of(number) < highest_;
        if (state->output().withdraw(number) == has_begun) {
            wrong("a frame was withdrawn late, or in vain");
        }
        if (!has_begun) {
            sizes[number - 1] = 0;
        }
    }

    /// Takes the next bytes of the peer's stream.
    void take(std::string_view bytes, const link_end_record& sender) {
        received_ += bytes.size();
        partial_ += bytes;
        std::size_t begin = 0;
        while (partial_.size() - begin >= frame_head) {
            std::uint32_t length = 0;
            std::uint32_t number = 0;
            std::memcpy(&length, partial_.data() + begin, 4);
            std::memcpy(&number, partial_.data() + begin + 4, 4);
            if (number == 0 || number > sender.sizes.size() || length != sender.sizes[number - 1]) {
                return wrong("a frame that was not sent has arrived");
            }
            if (partial_.size() - begin < length) {
                break;
            }
            take_frame(number, std::string_view(partial_).substr(begin, length), sender);
            begin += length;
        }
        partial_.erase(0, begin);
    }

    /// Returns true if all frames of the sender have arrived.
    bool has_all_of(const link_end_record& sender) const noexcept {
        return received_ == sender.begin_of(sender.sizes.size() + 1);
    }

    /// Returns the position of the first byte of the frame.
    std::uint64_t begin_of(std::uint64_t number) const noexcept {
        std::uint64_t position = 0;
        for (std::size_t i = 0; i + 1 < number; ++i) {
            position += sizes[i];
        }
        return position;
    }

    /// Notes the messages that the end sends, once each.
    void note_sent(const link_state::messages& out) {
        for (; noted_ < out.size(); ++noted_) {
            note_sent(out[noted_]);
        }
    }
    void end_turn() noexcept { noted_ = 0; }

    /// Notes a message that has arrived. `is_heeded`: the link was open for it.
    void note_received(const link_message& message, bool is_heeded) {
        if (!is_heeded || message.kind == link_kind::close) {
            return;
        }
        if (message.expected < acknowledged_) {
            return; // it is late
        }
        acknowledged_ = message.expected;
        peer_window_ = message.window;
        if (state->peer_load() != message.load) {
            wrong("the peer's load is not as it was told");
        }
    }

    /// Checks which frames have left.
    void check_frames() {
        if (++checks_ % 16 != 0) {
            return;
        }
        std::uint64_t end = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            end += sizes[i];
            if (sizes[i] > 0 && state->output().has_left(i + 1) != (end <= highest_)) {
                wrong("a frame has left, or has not, unnoticed");
            }
        }
    }

    /// Checks that a frame that has not left has not arrived.
    void check_left(const link_end_record& receiver) {
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            if (sizes[i] > 0 && i + 1 <= receiver.last_number_ && !state->output().has_left(i + 1)) {
                wrong("a frame that has not left has arrived");
            }
        }
    }

    /// Returns the position behind the last byte sent.
    std::uint64_t highest() const noexcept { return highest_; }

    void wrong(const char* what) {
        if (!problem) {
            problem = what;
        }
    }

private:
    void note_sent(const link_message& message) {
        ++messages;
        if (message.load != load) {
            wrong("a message does not tell the load");
        }
        if (message.kind != link_kind::data) {
            return;
        }
        const auto end = message.position + message.body.size();
        highest_ = std::max(highest_, end);
        sent_bytes += message.body.size();
        if (message.body.empty() || end - acknowledged_ > peer_window_) {
            wrong("more is unacknowledged than the peer's window allows");
        }
    }

    void take_frame(std::uint32_t number, std::string_view bytes, const link_end_record& sender) {
        for (auto i = last_number_ + 1; i < number; ++i) {
            if (sender.sizes[i - 1] != 0) {
                wrong("a frame is missing");
            }
        }
        if (number <= last_number_) {
            wrong("a frame has arrived twice");
        }
        if (bytes != make_frame(number, bytes.size())) {
            wrong("a frame has other bytes");
        }
        last_number_ = number;
    }

    std::size_t noted_ = 0; ///< messages of this turn
    std::uint64_t checks_ = 0;
    std::uint64_t highest_ = 0;      ///< position behind the last byte sent
    std::uint64_t acknowledged_ = 0; ///< as the peer has told
    std::uint64_t peer_window_ = 0;  ///< likewise
    std::string partial_;
    std::uint64_t received_ = 0;
    std::uint64_t last_number_ = 0;
};

} // namespace skep::simulation
