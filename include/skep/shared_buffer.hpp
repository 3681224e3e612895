// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace skep {

/// Memory for one large attachment that reaches another process without a copy. Fill the memory, and attach
/// the buffer: to a call or, in a worker, to a result, a chunk or a tool call. A pool with shared_options
/// passes the memory itself on to its worker, if the worker can share memory and the attachment has
/// shared_options::least_result bytes or more; otherwise the bytes are copied, like any bytes.
///
///     skep::shared_buffer image(size);
///     read_into(image.span());
///     auto call = skep::request("crop").attach(std::move(image));
///
/// The attachment becomes a blob. The blob may be attached again, also to calls of other pools.
///
/// Cost: the kernel provides and clears new pages, and needs longer for them than for a copy, up to some tens
/// of MiB. So a buffer gains most for bytes that several workers get, or that come back as they are.
/// Thread safety: distinct objects: safe. One object: one thread at a time.
class shared_buffer {
public:
    /// Constructs an empty buffer, which takes no memory.
    shared_buffer() noexcept = default;

    /// Makes memory of `bytes` bytes, all zero; 0 = no memory. The pages are provided at once, so that no
    /// later access lacks memory.
    /// Throws std::bad_alloc without memory or without a free descriptor.
    /// Complexity: linear in `bytes`.
    SKEP_API explicit shared_buffer(std::size_t bytes);

    /// Leave `other` empty.
    shared_buffer(shared_buffer&& other) noexcept
        : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, {})) {}
    shared_buffer& operator=(shared_buffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        bytes_ = std::exchange(other.bytes_, {});
        return *this;
    }

    ~shared_buffer() = default;

    /// Returns the memory to be filled. Valid until the buffer is converted, assigned or destroyed: no access
    /// through this span may be in progress then, or follow.
    std::span<std::byte> span() noexcept { return bytes_; }
    std::size_t size() const noexcept { return bytes_.size(); }

    /// Seals the memory, so that no process can change it any more, and returns its bytes. Leaves the buffer
    /// empty. If another user keeps the kernel from sealing the memory, such as a GPU with the pages pinned,
    /// the blob has the same bytes, and is_shared() is false.
    /// Complexity: linear in size(), about 0.1 ms for each MiB. With pinned pages, the kernel waits for them,
    /// about 0.2 s.
    operator blob() && noexcept { return seal(); }

private:
    SKEP_API blob seal() noexcept;

    std::shared_ptr<sealed_memory> memory_;
    std::span<std::byte> bytes_;
};

} // namespace skep
