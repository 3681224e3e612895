// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/frame.hpp"

#include "wire/protocol_violation.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>
#include <new>

namespace skep {

namespace endian = boost::endian;

namespace {

constexpr std::size_t receive_size = 64u << 10;
constexpr std::size_t large_payload = 64u << 10; // large enough not to be copied

std::size_t load_length(const char* bytes) noexcept {
    return endian::load_big_u32(reinterpret_cast<const unsigned char*>(bytes));
}

void store_length(char* target, std::size_t length) noexcept {
    endian::store_big_u32(reinterpret_cast<unsigned char*>(target), static_cast<std::uint32_t>(length));
}

/// Enlarges the block, possibly by moving.
char* allocate(char* block, std::size_t size) {
    auto* const memory = static_cast<char*>(std::realloc(block, size));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return memory;
}

} // namespace

std::size_t begin_frame(std::string& out) {
    const auto begin = out.size();
    out.append(frame_header_size, '\0');
    return begin;
}

void end_frame(std::string& out, std::size_t begin, std::size_t json_end, std::size_t following_bytes) {
    store_length(out.data() + begin, out.size() - begin - 4 + following_bytes);
    store_length(out.data() + begin + 4, json_end - begin - frame_header_size);
}

frame_decoder::frame_decoder(const frame_limits& limits) : limits_(limits) {}

std::span<char> frame_decoder::prepare() {
    handed_over_.reset();
    if (begin_ == end_) {
        begin_ = end_ = 0;
        if (capacity_ > 16 * receive_size) {
            buffer_.reset(); // one huge frame must not pin its memory forever
            capacity_ = 0;
        }
    }
    if (capacity_ - end_ < receive_size / 4) {
        make_room(std::max(receive_size, std::min(wanted(), 2 * available() + receive_size)));
    }
    return {buffer_.get() + end_, capacity_ - end_};
}

void frame_decoder::commit(std::size_t count) noexcept {
    end_ += count;
}

std::optional<frame_view> frame_decoder::next() {
    if (available() < 4) {
        return std::nullopt;
    }
    const char* const start = buffer_.get() + begin_;
    const auto frame_length = load_length(start);
    if (frame_length > limits_.frame_bytes) {
        throw protocol_violation("a frame of " + std::to_string(frame_length) +
                                 " bytes exceeds the limit of " + std::to_string(limits_.frame_bytes));
    }
    if (frame_length < 4) {
        throw protocol_violation("a frame of " + std::to_string(frame_length) +
                                 " bytes has no room for its header");
    }
    if (available() < frame_header_size) {
        return std::nullopt;
    }
    const auto json_length = load_length(start + 4);
    if (json_length > limits_.json_bytes || json_length > frame_length - 4) {
        throw protocol_violation("a JSON part of " + std::to_string(json_length) +
                                 " bytes exceeds its frame or the limit");
    }
    if (available() < 4 + frame_length) {
        return std::nullopt;
    }
    begin_ += 4 + frame_length;
    const auto* payload = reinterpret_cast<const std::byte*>(start + frame_header_size + json_length);
    frame_view frame{{start + frame_header_size, json_length}, {payload, frame_length - 4 - json_length}};
    if (frame.payload.size() >= std::max(large_payload, capacity_ / 2)) {
        frame.memory = release();
    }
    return frame;
}

/// Hands the buffer over with a frame that fills most of it, and continues in a new buffer.
std::shared_ptr<const void> frame_decoder::release() {
    const auto rest = available();
    decltype(buffer_) next(allocate(nullptr, std::max(receive_size, rest)));
    std::memcpy(next.get(), buffer_.get() + begin_, rest);
    handed_over_ = std::move(buffer_);
    buffer_ = std::move(next);
    capacity_ = std::max(receive_size, rest);
    begin_ = 0;
    end_ = rest;
    return handed_over_;
}

/// Returns the full size of the frame at the front, or the size of a header if the length is unknown yet.
std::size_t frame_decoder::wanted() const noexcept {
    return available() < 4 ? frame_header_size : 4 + load_length(buffer_.get() + begin_);
}

/// Makes room for `count` bytes from the front of the unread data, after moving the data to the start of the
/// buffer.
void frame_decoder::make_room(std::size_t count) {
    if (begin_ > 0) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, available());
        end_ = available();
        begin_ = 0;
    }
    const auto size = std::max(count, end_ + receive_size / 4);
    if (size > capacity_) {
        auto* const larger = allocate(buffer_.get(), size);
        buffer_.release();
        buffer_.reset(larger);
        capacity_ = size;
    }
}

} // namespace skep
