// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/region_arena.hpp"
#include "runtime/memory_line.hpp"
#include <skep/blob.hpp>
#include <skep/shared_options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace skep {

/// The memory of large attachments of calls to one worker: passes sealed memory on, and copies other
/// attachments into memory that the host lends; and counts. Never waits: an attachment without room goes over
/// the socket. Used on the pool's strand.
class lending {
public:
    explicit lending(const shared_options& options) noexcept;

    /// Begins to lend. Precondition: the worker can read the memory.
    void open(std::unique_ptr<memory_line> line) noexcept { line_ = std::move(line); }
    bool is_open() const noexcept { return line_ != nullptr; }

    /// Ends the memory. Precondition: the worker gets no further calls.
    void close() noexcept;

    /// The places of the attachments of one send. Takes all of them back on destruction, unless the send was
    /// successful.
    class turn {
    public:
        explicit turn(lending& owner) noexcept : owner_(owner) {}
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        ~turn() {
            if (has_begun_) {
                owner_.take_back();
            }
        }

        /// Passes or copies the large attachments of a call, at most `most` of them. Returns their places,
        /// each at its index, or an empty span if all attachments go over the socket. Valid until the next
        /// call.
        std::span<const region_place> lend(const std::vector<blob>& attachments, std::size_t most) {
            if (!std::exchange(has_begun_, true)) {
                owner_.unsent_.clear();
            }
            return owner_.lend(attachments, most);
        }

        /// The calls have been sent.
        void keep() noexcept { has_begun_ = false; }

    private:
        lending& owner_;
        bool has_begun_ = false; ///< and nothing is kept
    };

    /// The worker no longer reads the place. Returns false if the place is not lent.
    bool release(const region_place& place) noexcept { return arena_.release(place); }

    /// Returns the number of bytes of memory lent to the worker.
    std::uint64_t bytes() const noexcept { return line_ ? line_->opened_bytes() : 0; }

    /// Returns the number of bytes that the worker may have mapped for the attachments that it is at. Sealed
    /// memory that the worker keeps counts up to the limit, so that a leak shows.
    std::uint64_t mapped_bytes() const noexcept { return bytes() + std::min(passed_bytes_, most_passed()); }

    /// Figures: the attachments lent, the attachments passed on without a copy, and the attachments that
    /// lacked room.
    std::uint64_t lent() const noexcept { return lent_; }
    std::uint64_t passed() const noexcept { return passed_; }
    std::uint64_t fallbacks() const noexcept { return fallbacks_; }

private:
    std::span<const region_place> lend(const std::vector<blob>& attachments, std::size_t most);
    region_place place_one(const blob& bytes, bool may_pass);
    region_place pass(const blob& bytes);
    region_place lend_one(std::span<const std::byte> bytes);
    std::optional<region_place> reserve(std::size_t bytes);
    void take_back() noexcept;
    std::uint64_t most_passed() const noexcept { return line_ ? options_.bytes : 0; }

    const shared_options& options_;
    region_arena arena_;
    std::unique_ptr<memory_line> line_; ///< null: nothing is lent
    std::vector<region_place> places_;  ///< of the present call
    std::vector<region_place> unsent_;  ///< of the last turn
    std::uint64_t sealed_ = 0;          ///< number of the last sealed memory
    std::uint64_t passed_bytes_ = 0;
    std::uint64_t lent_ = 0;
    std::uint64_t passed_ = 0;
    std::uint64_t fallbacks_ = 0;
};

} // namespace skep
