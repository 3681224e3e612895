// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/region_arena.hpp"
#include "process/shared_memory.hpp"
#include "runtime/frame_output.hpp"
#include "server/shared_line.hpp"
#include "wire/call_messages.hpp"
#include <skep/blob.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace skep {

/// The shared memory for large attachments of a worker's messages. Passes sealed memory on, and copies other
/// attachments into regions, which it requests from the host as needed. Never waits: an attachment without
/// room goes over the socket. A forked child shares nothing, because its parent uses the memory. Used on the
/// strand.
class answer_memory {
public:
    /// `line`: brings the regions, and takes sealed memory. `control`: takes the requests. Both must outlive
    /// this object.
    answer_memory(const shared_limits& limits, shared_line& line, frame_output& control) noexcept;

    /// Shares the large attachments of the next message. Returns their places, each at its index, or nothing
    /// if all attachments go over the socket.
    std::vector<region_place> put(const std::vector<blob>& attachments);

    /// Takes places back whose message is not sent.
    void take_back(std::span<const region_place> places) noexcept;

    /// The host no longer reads the places. Throws protocol_violation if one of them is not in use.
    void release(std::span<const region_place> places);

private:
    region_place put_one(const blob& bytes, bool may_pass);
    region_place copy_one(std::span<const std::byte> bytes);
    std::optional<region_place> reserve(std::size_t bytes);
    void receive();
    void add(region_for_results&& region);
    void request(std::size_t bytes);

    const shared_limits limits_;
    shared_line& line_;
    frame_output& control_;
    region_arena arena_;
    std::map<std::uint64_t, written_memory> regions_; ///< by number
    bool is_requested_ = false;
    time_point next_request_{}; ///< the earliest, after a refusal
};

} // namespace skep
