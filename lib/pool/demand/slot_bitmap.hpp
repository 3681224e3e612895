// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace skep {

/// A set of slot numbers. Finds the next member in one machine word per 64 slots skipped, and skips empty
/// words 64 at a time.
class slot_bitmap {
public:
    void set(std::uint32_t slot) {
        const auto word = slot / 64;
        if (word >= words_.size()) {
            summary_.resize(word / 64 + 1); // first: the size of words_ stands for both sizes
            words_.resize(word + 1);
        }
        words_[word] |= bit(slot);
        summary_[word / 64] |= bit(word);
    }

    void clear(std::uint32_t slot) noexcept {
        const auto word = slot / 64;
        if (word < words_.size()) {
            words_[word] &= ~bit(slot);
            if (words_[word] == 0) {
                summary_[word / 64] &= ~bit(word);
            }
        }
    }

    /// Returns the first member not below `slot`.
    std::optional<std::uint32_t> first_from(std::uint32_t slot) const noexcept {
        const auto word = slot / 64;
        if (word >= words_.size()) {
            return std::nullopt;
        }
        if (const auto here = words_[word] & from(slot); here != 0) {
            return word * 64 + lowest(here);
        }
        const auto next_word = first_word_from(word + 1);
        return next_word < words_.size() ? std::optional(next_word * 64 + lowest(words_[next_word]))
                                         : std::nullopt;
    }

private:
    static std::uint64_t bit(std::uint32_t index) noexcept { return std::uint64_t(1) << (index % 64); }
    static std::uint64_t from(std::uint32_t index) noexcept { return ~std::uint64_t(0) << (index % 64); }
    static std::uint32_t lowest(std::uint64_t bits) noexcept {
        return static_cast<std::uint32_t>(std::countr_zero(bits));
    }

    std::uint32_t first_word_from(std::uint32_t word) const noexcept {
        auto mask = from(word);
        for (std::uint32_t i = word / 64; i < summary_.size(); ++i) {
            if (const auto here = summary_[i] & mask; here != 0) {
                return i * 64 + lowest(here);
            }
            mask = ~std::uint64_t(0);
        }
        return static_cast<std::uint32_t>(words_.size());
    }

    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> summary_; ///< bit n: word n is not empty
};

} // namespace skep
