// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/link_hub.hpp"
#include "simulation/pattern_byte.hpp"
#include "wire/frame.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skep::simulation {

class hub_program;

/// A link between two programs, with the frames of each direction. A frame has its number and the epoch of
/// its end as JSON, and a payload that follows from the number. A node may have several ends of the link, one
/// after the other.
struct link_record {
    struct direction {
        std::uint16_t epoch = 0;
        std::vector<std::size_t> sizes; ///< of the payloads
        std::size_t arrived = 0;        ///< number of the last frame that arrived
    };
    struct end {
        hub_program* program = nullptr;
        remote_link* link = nullptr; ///< until the link ends here
        bool is_gone = false;        ///< the program, or the link here
        frame_decoder frames{{64u << 20, 64u << 20}};
    };

    std::size_t number = 0;
    std::size_t client = 0; ///< numbers of the programs
    std::size_t node = 0;
    std::array<std::vector<direction>, 2> from; ///< the client, the node; by epoch
    std::array<end, 2> ends;
    bool is_reopened = false; ///< a repeated request has come after the end of the link at the node

    /// Returns a frame to send.
    std::string make_frame(std::size_t side, std::size_t payload) {
        auto& sizes = from[side].back().sizes;
        sizes.push_back(payload);
        const auto frame_number = sizes.size();
        std::string out;
        const auto begin = begin_frame(out);
        out += std::to_string(frame_number) + "e" + std::to_string(from[side].back().epoch);
        const auto json_end = out.size();
        out += payload_of(frame_number, payload);
        end_frame(out, begin, json_end);
        return out;
    }

    /// Returns what is wrong with a frame that has come from `side`, or null.
    const char* take(std::size_t side, const frame_view& frame) {
        std::size_t frame_number = 0;
        std::uint16_t epoch = 0;
        const auto* const end = frame.json.data() + frame.json.size();
        const auto [after_number, problem] = std::from_chars(frame.json.data(), end, frame_number);
        std::from_chars(std::min(after_number + 1, end), end, epoch);
        const auto found = std::find_if(from[side].begin(), from[side].end(),
                                        [&](const direction& each) { return each.epoch == epoch; });
        const bool has_two = std::any_of(from[side].begin(), from[side].end(), [&](const direction& each) {
            return each.epoch != epoch && each.arrived > 0;
        });
        if (found == from[side].end() || has_two) {
            return "frames of two ends have arrived";
        }
        auto& sent = *found;
        if (frame_number != sent.arrived + 1 || frame_number > sent.sizes.size()) {
            return "a frame is missing, has arrived twice, or was not sent";
        }
        sent.arrived = frame_number;
        const auto payload = payload_of(frame_number, frame.payload.size());
        const std::string_view bytes(reinterpret_cast<const char*>(frame.payload.data()),
                                     frame.payload.size());
        return frame.payload.size() == sent.sizes[frame_number - 1] && bytes == payload
                   ? nullptr
                   : "a frame has other bytes";
    }

    /// Returns true if all frames from `side` have arrived.
    bool has_all_from(std::size_t side) const {
        return from[side].back().arrived == from[side].back().sizes.size();
    }

private:
    static std::string payload_of(std::size_t frame_number, std::size_t size) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = pattern_byte(frame_number, i);
        }
        return bytes;
    }
};

} // namespace skep::simulation
