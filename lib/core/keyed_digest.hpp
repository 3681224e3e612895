// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skep {

/// A digest of 128 bits under a secret key: SipHash-2-4 (Aumasson and Bernstein), long output. Whoever does not know the
/// key cannot choose two inputs of one digest with a better chance than by guessing: about 2^-128 for each pair. So the
/// digests stand for their inputs in full, whatever the inputs' size.
class keyed_digest {
public:
    using key = std::array<std::uint64_t, 2>;
    using value = std::array<std::uint64_t, 2>;

    /// A key from a text that nobody can guess.
    static key key_from(std::string_view secret) noexcept;

    explicit keyed_digest(const key& secret) noexcept;

    void add(std::string_view bytes) noexcept;

    /// Adds a text with its size in front, so that texts which follow each other cannot be parted otherwise.
    void add_field(std::string_view text) noexcept;

    /// The digest of what was added. Ends the use of this object.
    value finish() noexcept;

private:
    static constexpr std::size_t word_bytes = 8;

    void add(std::uint64_t word) noexcept;
    void mix() noexcept;
    std::uint64_t squeeze() noexcept;

    std::array<std::uint64_t, 4> state_;
    std::uint64_t rest_ = 0;  ///< bytes that fill no word yet, the first one lowest
    std::uint64_t count_ = 0; ///< bytes added
};

} // namespace skep
