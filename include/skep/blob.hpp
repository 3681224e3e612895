// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

/// Raw bytes that travel beside a call's JSON, unencoded. They never change, and copies share them: wherever they lie,
/// in memory of the blob's own or in that of somebody else, they stay until the last blob that shows them is gone.
///
/// A blob is a contiguous range, and converts to std::span<const std::byte>, which is valid as long as a blob that
/// shows these bytes.
///
/// Cost: moving and copying a blob allocates nothing and copies no byte. How many allocations making one takes, each
/// constructor says; for no bytes it is none.
/// Thread safety: that of a std::shared_ptr: blobs that share bytes may be used by several threads, one blob that is
/// changed (assigned, moved from) by one alone. What keeps the bytes is released by whichever thread has the last blob.
class blob {
public:
    /// What a contiguous range of bytes that never change has.
    using value_type = std::byte;
    using const_iterator = const std::byte*;
    using iterator = const_iterator;

    /// No bytes.
    blob() noexcept = default;

    /// Takes `bytes` over. Costs one small allocation, whatever their number.
    explicit blob(std::vector<std::byte> bytes) {
        if (!bytes.empty()) {
            auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
            const std::span<const std::byte> shown(*owner);
            *this = blob(std::move(owner), shown);
        }
    }

    /// Shows `bytes`, which `owner` keeps alive: a mapped file, a part of another blob. They must not change from now
    /// on. An empty owner is for bytes that live as long as the program. Allocates nothing.
    blob(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) noexcept
        : bytes_(std::move(owner), bytes.data()), size_(bytes.size()) {}

    /// A copy of `bytes`, in one allocation.
    static blob copy_of(std::span<const std::byte> bytes) {
        if (bytes.empty()) {
            return {};
        }
        auto copy = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
        std::copy(bytes.begin(), bytes.end(), copy.get());
        const std::span<const std::byte> shown(copy.get(), bytes.size());
        return {std::move(copy), shown};
    }

    blob(const blob&) noexcept = default;
    blob& operator=(const blob&) noexcept = default;

    /// What is moved from is left without bytes.
    blob(blob&& other) noexcept : bytes_(std::move(other.bytes_)), size_(std::exchange(other.size_, 0)) {}
    blob& operator=(blob&& other) noexcept {
        bytes_ = std::move(other.bytes_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    ~blob() = default;

    /// The bytes, as any contiguous range shows them; of none, data() may be null.
    const std::byte* data() const noexcept { return bytes_.get(); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const std::byte* begin() const noexcept { return data(); }
    const std::byte* end() const noexcept { return data() + size_; }

    /// `index` must be less than size().
    const std::byte& operator[](std::size_t index) const noexcept { return std::span(data(), size_)[index]; }

    /// The same bytes as characters, of no encoding in particular; valid as the span is.
    std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data()), size_}; }

    /// Whether the bytes are the same, wherever they lie. Linear, but for blobs that share them.
    friend bool operator==(const blob& left, const blob& right) noexcept {
        return left.size_ == right.size_ &&
               (left.data() == right.data() || std::equal(left.begin(), left.end(), right.begin()));
    }

private:
    std::shared_ptr<const std::byte> bytes_; ///< the first of them; shares what owns them all
    std::size_t size_ = 0;
};

} // namespace skep
