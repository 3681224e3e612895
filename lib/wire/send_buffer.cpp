// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/send_buffer.hpp"

#include <utility>

namespace skep {

namespace {

constexpr std::size_t large_blob = 64u << 10; // a copy takes longer than a separate write
constexpr std::size_t capacity_to_keep = 1u << 20;

} // namespace

void send_buffer::append(const blob& bytes) {
    if (bytes.size() < large_blob) {
        text_ += bytes.text();
        return;
    }
    blobs_.push_back({text_.size(), bytes});
    blob_bytes_ += bytes.size();
}

std::span<const char> send_buffer::front() const noexcept {
    if (is_at_blob()) {
        return std::span<const char>(blobs_[next_].bytes.text()).subspan(blob_sent_);
    }
    const auto end = next_ < blobs_.size() ? blobs_[next_].position : text_.size();
    return {text_.data() + text_sent_, end - text_sent_};
}

std::vector<std::string_view> send_buffer::pieces() const {
    std::vector<std::string_view> all;
    const std::string_view text(text_);
    auto at = text_sent_;
    auto sent = blob_sent_;
    for (auto i = next_; i < blobs_.size(); ++i) {
        all.push_back(text.substr(at, blobs_[i].position - at));
        all.push_back(blobs_[i].bytes.text().substr(std::exchange(sent, 0)));
        at = blobs_[i].position;
    }
    all.push_back(text.substr(at));
    return all;
}

void send_buffer::pop(std::size_t count) noexcept {
    if (is_at_blob()) {
        blob_bytes_ -= count;
        blob_sent_ += count;
        if (blob_sent_ == blobs_[next_].bytes.size()) {
            blobs_[next_++].bytes = {}; // may be the last owner of these bytes
            blob_sent_ = 0;
        }
    } else {
        text_sent_ += count;
    }
    if (empty()) {
        clear();
    }
}

void send_buffer::truncate(std::size_t size) noexcept {
    while (!blobs_.empty() && blobs_.back().position > size) {
        blob_bytes_ -= blobs_.back().bytes.size();
        blobs_.pop_back();
    }
    text_.resize(size);
}

void send_buffer::clear() noexcept {
    text_.clear();
    if (text_.capacity() > capacity_to_keep) {
        text_.shrink_to_fit(); // one huge message must not pin its memory forever
    }
    blobs_.clear();
    text_sent_ = next_ = blob_sent_ = blob_bytes_ = 0;
}

} // namespace skep
