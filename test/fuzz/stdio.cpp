// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What comes over the stdout of a worker, read as its link reads it: a greeting, garbage, half a frame or
// messages. What is no frame is shown in one line that does nothing to a terminal, and what a frame holds is
// never shown.

#include "check.hpp"
#include "core/text.hpp"
#include "core/visible_text.hpp"
#include "wire/frame.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/stray_output.hpp"
#include "wire/worker_messages.hpp"

#include <algorithm>
#include <cstring>
#include <fuzzer/FuzzedDataProvider.h>
#include <string>
#include <string_view>

namespace skep::fuzz {

namespace {

constexpr frame_limits limits{64u << 20, 64u << 20};
constexpr std::size_t longest_line = 512;

void check_visible(std::string_view text) {
    const auto shown = visible(text);
    require(is_utf8(shown), "what is shown is UTF-8");
    require(shown.find_first_of("\n\r\x1b") == std::string::npos, "what is shown is one line");
    require(visible(shown) == shown, "what is shown hides nothing");
    require(shown.size() <= 4 * text.size(), "what is shown is not much longer");
    const auto lines = visible(text, line_feeds::keep);
    require(std::count(lines.begin(), lines.end(), '\n') == std::count(text.begin(), text.end(), '\n'),
            "lines stay as many as they were");
}

void check_stray(std::string_view unread) {
    const auto line = stray_output(unread);
    require(visible(line) == line && line.size() < longest_line, "stray output is shown as one short line");
    const bool may_be_frame = unread.size() >= 4 && static_cast<unsigned char>(unread[0]) < 4;
    require(!may_be_frame || line.empty(), "what a frame holds is never shown");
}

/// Feeds it in pieces of that size, at most. Returns how many messages came.
std::size_t read(std::string_view bytes, std::size_t piece) {
    frame_decoder frames(limits);
    worker_message_decoder messages({64, 1u << 20});
    std::size_t count = 0;
    try {
        while (!bytes.empty()) {
            const auto room = frames.prepare();
            const auto size = std::min({piece, room.size(), bytes.size()});
            std::memcpy(room.data(), bytes.data(), size);
            frames.commit(size);
            bytes.remove_prefix(size);
            while (const auto frame = frames.next()) {
                messages.decode(*frame);
                ++count;
            }
            check_stray(frames.unread()); // it may end here
        }
    } catch (const protocol_violation&) {
        check_stray(frames.unread());
    }
    return count;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    FuzzedDataProvider input(data, size);
    const auto piece = input.ConsumeIntegralInRange<std::size_t>(1, 64);
    const auto bytes = input.ConsumeRemainingBytesAsString();
    check_visible(bytes);
    require(read(bytes, bytes.size() + 1) == read(bytes, piece), "pieces make no difference");
    return 0;
}

} // namespace skep::fuzz
