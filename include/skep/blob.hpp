// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

class sealed_memory;

/// Immutable raw bytes that travel beside a call's JSON, unencoded. Copies share the bytes. The bytes belong
/// to the blob or to another owner, and stay valid until the last blob that refers to them is destroyed.
///
/// The bytes of a shared_buffer, and bytes that came in such memory, are passed on to workers and back
/// without a copy: see is_shared().
///
/// A blob is a contiguous range, and converts to std::span<const std::byte>. The span is valid as long as a
/// blob refers to its bytes.
///
/// Cost: moving and copying a blob neither allocates nor copies bytes. For allocations, see each constructor;
/// an empty blob takes none.
/// Thread safety: as for std::shared_ptr. Several threads may use blobs that share bytes. A single blob may
/// be changed (assigned, moved from) only while no other thread uses it. The thread that destroys the last
/// blob releases the owner.
class blob {
public:
    /// Types of a contiguous range of immutable bytes.
    using value_type = std::byte;
    using const_iterator = const std::byte*;
    using iterator = const_iterator;

    /// Constructs an empty blob.
    blob() noexcept = default;

    /// Takes ownership of `bytes`.
    /// Cost: one small allocation, for any number of bytes.
    SKEP_API explicit blob(std::vector<std::byte> bytes);

    /// Refers to `bytes`, kept alive by `owner`: a mapped file, for example, or a part of another blob. An
    /// empty owner is for bytes that live as long as the program. The bytes must not change from now on.
    /// Cost: no allocation.
    blob(std::shared_ptr<const void> owner, std::span<const std::byte> bytes) noexcept
        : bytes_(std::move(owner), bytes.data()), size_(bytes.size()) {}

    /// Returns a blob with a copy of `bytes`.
    /// Cost: one allocation.
    SKEP_API static blob copy_of(std::span<const std::byte> bytes);

    blob(const blob&) noexcept = default;
    blob& operator=(const blob&) noexcept = default;

    /// Leaves `other` empty.
    blob(blob&& other) noexcept
        : bytes_(std::move(other.bytes_)),
          size_(std::exchange(other.size_, 0)),
          memory_(std::exchange(other.memory_, nullptr)) {}
    blob& operator=(blob&& other) noexcept {
        bytes_ = std::move(other.bytes_);
        size_ = std::exchange(other.size_, 0);
        memory_ = std::exchange(other.memory_, nullptr);
        return *this;
    }

    ~blob() = default;

    /// Returns the first byte, as for any contiguous range. May be null for an empty blob.
    const std::byte* data() const noexcept { return bytes_.get(); }
    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    const std::byte* begin() const noexcept { return data(); }
    const std::byte* end() const noexcept { return data() + size_; }

    /// Returns a byte. Precondition: `index` is less than size().
    const std::byte& operator[](std::size_t index) const noexcept { return std::span(data(), size_)[index]; }

    /// Returns the bytes as characters, in any encoding. Valid as long as a blob refers to the bytes.
    std::string_view text() const noexcept { return {reinterpret_cast<const char*>(data()), size_}; }

    /// Returns true if the bytes lie in sealed memory: in memory that no process can change any more. Such
    /// bytes are attached without a copy to calls, results, chunks and tool calls, if the other side shares
    /// memory and there are shared_options::least_result of them or more. Each such memory takes a
    /// descriptor, until its last blob is destroyed.
    bool is_shared() const noexcept { return memory_ != nullptr; }

    /// Returns a blob of `count` bytes from `begin` on, which shares the bytes with this blob.
    /// Preconditions: `begin` is at most size(), and `count` at most size() - `begin`.
    blob part(std::size_t begin, std::size_t count) const noexcept {
        return {bytes_, std::span(data(), size_).subspan(begin, count), memory_};
    }

    /// Returns true if both blobs have equal bytes. Linear; constant for blobs that share their bytes.
    friend bool operator==(const blob& left, const blob& right) noexcept {
        return left.size_ == right.size_ &&
               (left.data() == right.data() || std::equal(left.begin(), left.end(), right.begin()));
    }

private:
    friend class sealed_memory; // shows its bytes

    blob(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
         const sealed_memory* memory) noexcept
        : bytes_(std::move(owner), bytes.data()), size_(bytes.size()), memory_(memory) {}

    std::shared_ptr<const std::byte> bytes_; ///< the first byte; shares ownership of all bytes
    std::size_t size_ = 0;
    const sealed_memory* memory_ = nullptr; ///< of the bytes, belongs to their owner; null: other bytes
};

} // namespace skep
