// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skep {

/// A digest of 128 bits with a secret key: SipHash-2-4 (Aumasson and Bernstein), long output. Without the
/// key, two inputs with the same digest can only be guessed, with a probability of about 2^-128 for each
/// pair. So digests fully represent their inputs, of any size.
class keyed_digest {
public:
    using key = std::array<std::uint64_t, 2>;
    using value = std::array<std::uint64_t, 2>;

    /// Returns a key for a text that must be unguessable.
    static key key_from(std::string_view secret) noexcept;

    explicit keyed_digest(const key& secret) noexcept;

    void add(std::string_view bytes) noexcept;

    /// Adds a text with its size in front, so that adjacent texts have unambiguous boundaries.
    void add_field(std::string_view text) noexcept;

    /// Returns the digest of the added bytes. The object cannot be used afterwards.
    value finish() noexcept;

private:
    static constexpr std::size_t word_bytes = 8;

    void add(std::uint64_t word) noexcept;
    void mix() noexcept;
    std::uint64_t squeeze() noexcept;

    std::array<std::uint64_t, 4> state_;
    std::uint64_t rest_ = 0;  ///< bytes of the incomplete word, the first one lowest
    std::uint64_t count_ = 0; ///< bytes added
};

} // namespace skep
