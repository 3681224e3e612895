// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/attachments.hpp"

#include "wire/json_writer.hpp"
#include "wire/worker_messages.hpp"

#include <boost/json/array.hpp>

#include <cstdint>

namespace skep {

namespace {

/// Returns a part of the frame's payload. Shares the frame's memory, unless the part is much smaller than the
/// payload.
blob to_attachment(const frame_view& frame, std::span<const std::byte> part) {
    const bool shares = frame.memory && part.size() >= frame.payload.size() / 8;
    return shares ? blob(frame.memory, part) : blob::copy_of(part);
}

} // namespace

std::vector<blob> to_attachments(const message_members& fields, const frame_view& frame) {
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
    for (const auto& item : lengths->get_array()) {
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

void append_attachment_sizes(std::string& out, const std::vector<blob>& attachments) {
    out += R"(,"attachments":[)";
    for (const auto& attachment : attachments) {
        append_json_number(out, attachment.size());
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

} // namespace skep
