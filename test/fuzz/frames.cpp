// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A stream of bytes, cut anywhere, gives the same frames as in one piece, or is refused, and takes little
// memory.

#include "check.hpp"
#include "wire/frame.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <cstring>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>
#include <vector>

namespace skep::fuzz {

namespace {

constexpr std::size_t most_room_ahead = 128u << 10;

/// What becomes of a stream. Frames with their headers.
struct outcome {
    std::vector<std::string> frames;
    bool is_refused = false;

    bool operator==(const outcome&) const = default;
};

std::size_t length_at(std::string_view bytes, std::size_t at) {
    std::size_t length = 0;
    for (std::size_t i = at; i < at + 4; ++i) {
        length = length << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return length;
}

/// As the protocol says it, without a thought for speed.
outcome expected(std::string_view bytes, const frame_limits& limits) {
    outcome result;
    while (bytes.size() >= 4) {
        const auto length = length_at(bytes, 0);
        result.is_refused = length < 4 || length > limits.frame_bytes;
        if (result.is_refused || bytes.size() < 8) {
            break;
        }
        const auto json_length = length_at(bytes, 4);
        result.is_refused = json_length > length - 4 || json_length > limits.json_bytes;
        if (result.is_refused || bytes.size() < 4 + length) {
            break;
        }
        result.frames.emplace_back(bytes.substr(0, 4 + length));
        bytes.remove_prefix(4 + length);
    }
    return result;
}

std::string encoded(const frame_view& frame) {
    std::string bytes;
    const auto begin = begin_frame(bytes);
    bytes += frame.json;
    const auto json_end = bytes.size();
    bytes.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
    end_frame(bytes, begin, json_end);
    return bytes;
}

/// `piece(room)` says how many bytes come at once.
template <class Piece>
outcome decoded(std::string_view bytes, const frame_limits& limits, Piece piece) {
    frame_decoder decoder(limits);
    outcome result;
    std::size_t fed = 0;
    try {
        while (fed < bytes.size()) {
            const auto room = decoder.prepare();
            require(!room.empty(), "there is always room for more");
            require(room.size() <= 3 * fed + most_room_ahead, "memory grows with what has come");
            const auto count = std::min({piece(), room.size(), bytes.size() - fed});
            std::memcpy(room.data(), bytes.data() + fed, count);
            decoder.commit(count);
            fed += count;
            while (const auto frame = decoder.next()) {
                result.frames.push_back(encoded(*frame));
            }
        }
    } catch (const protocol_violation&) {
        result.is_refused = true;
    }
    return result;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    const auto frame_bytes = input.ConsumeIntegralInRange<std::size_t>(4, 1u << 20);
    const frame_limits limits{frame_bytes, input.ConsumeIntegralInRange<std::size_t>(0, frame_bytes)};
    auto cuts = input.ConsumeIntegral<std::uint32_t>();
    const auto bytes = input.ConsumeRemainingBytesAsString();
    const auto any_piece = [&cuts] {
        cuts = cuts * 1664525 + 1013904223;
        return std::size_t(1) << (cuts >> 28);
    };
    const auto right = expected(bytes, limits);
    require(decoded(bytes, limits, [] { return std::size_t(-1); }) == right, "frames of whole pieces");
    require(decoded(bytes, limits, any_piece) == right, "frames of pieces cut anywhere");
    return 0;
}

} // namespace skep::fuzz
