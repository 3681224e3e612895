// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/attachments.hpp"

#include "wire/json_writer.hpp"
#include "wire/worker_messages.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstdint>
#include <string_view>

namespace skep {

namespace json = boost::json;

namespace {

/// Returns a part of the frame's payload. Shares the frame's memory, unless the part is much smaller than the
/// payload.
blob to_attachment(const frame_view& frame, std::span<const std::byte> part) {
    const bool shares = frame.memory && part.size() >= frame.payload.size() / 8;
    return shares ? blob(frame.memory, part) : blob::copy_of(part);
}

/// Opens an attachment in shared memory: {"region": number, "at": begin, "bytes": length}, or "sealed"
/// instead of "region". `left`: bytes that the message may still have there.
blob open_place(const message_members& fields, const json::object& item, memory_source* memory,
                std::size_t& left) {
    boost::system::error_code problem;
    const auto number = [&](std::string_view key) {
        const auto* const found = problem ? nullptr : item.if_contains(key);
        if (found == nullptr) {
            problem = json::error::not_number;
            return std::uint64_t(0);
        }
        return found->to_number<std::uint64_t>(problem);
    };
    const bool is_sealed = item.contains("sealed");
    const region_place place{number(is_sealed ? "sealed" : "region"), number("at"), is_sealed};
    const auto bytes = number("bytes");
    if (problem) {
        fields.refuse("attachments", "has a place without a region, at or bytes");
    }
    if (memory == nullptr) {
        fields.refuse("attachments", "is in shared memory, which the message must not use");
    }
    if (bytes > left) {
        fields.refuse("attachments", "has more bytes in shared memory than the limit shared.bytes");
    }
    left -= bytes;
    return memory->open(place, bytes);
}

void append_place(std::string& out, const region_place& place, std::size_t bytes) {
    out += place.is_sealed ? R"({"sealed":)" : R"({"region":)";
    append_json_number(out, place.region);
    out += R"(,"at":)";
    append_json_number(out, place.begin);
    out += R"(,"bytes":)";
    append_json_number(out, bytes);
    out += '}';
}

} // namespace

std::vector<blob> to_attachments(const message_members& fields, const frame_view& frame,
                                 memory_source* memory) {
    std::vector<blob> attachments;
    auto payload = frame.payload;
    const auto* lengths = fields.find("attachments");
    if (lengths == nullptr) {
        if (!payload.empty()) {
            fields.refuse("attachments", "is missing though the frame has a payload");
        }
        return attachments;
    }
    if (!lengths->is_array() || lengths->get_array().size() > most_attachments) {
        fields.refuse("attachments", "is not an array of at most 65,536");
    }
    auto left = memory != nullptr ? memory->begin_message() : 0;
    for (const auto& item : lengths->get_array()) {
        if (const auto* const told = item.if_object()) {
            attachments.push_back(open_place(fields, *told, memory, left));
            continue;
        }
        boost::system::error_code ec;
        const auto length = item.to_number<std::uint64_t>(ec);
        if (ec || length > payload.size()) {
            fields.refuse("attachments", "does not match the frame's payload");
        }
        attachments.push_back(to_attachment(frame, payload.first(length)));
        payload = payload.subspan(length);
    }
    if (!payload.empty()) {
        fields.refuse("attachments", "does not match the frame's payload");
    }
    return attachments;
}

void append_attachment_sizes(std::string& out, const placed_attachments& attachments) {
    const auto& [all, places] = attachments;
    out += R"(,"attachments":[)";
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (has_place(places, i)) {
            append_place(out, places[i], all[i].size());
        } else {
            append_json_number(out, all[i].size());
        }
        out += ',';
    }
    out.back() = ']';
}

std::size_t total_size(const std::vector<blob>& attachments) noexcept {
    std::size_t sum = 0;
    for (const auto& attachment : attachments) {
        sum += attachment.size();
    }
    return sum;
}

std::size_t size_in_frame(const placed_attachments& attachments) noexcept {
    std::size_t sum = 0;
    for_each_in_frame(attachments, [&](const blob& each) { sum += each.size(); });
    return sum;
}

} // namespace skep
