// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/keyed_digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace skep {

namespace {

std::uint64_t whole_word(const char* bytes) noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// Combines up to eight bytes, the first one lowest.
std::uint64_t word_of(const char* bytes, std::size_t count) noexcept {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) {
        word |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return word;
}

} // namespace

keyed_digest::key keyed_digest::key_from(std::string_view secret) noexcept {
    keyed_digest digest({0, 0});
    digest.add(secret);
    return digest.finish();
}

keyed_digest::keyed_digest(const key& secret) noexcept
    : state_{secret[0] ^ 0x736f6d6570736575, secret[1] ^ 0x646f72616e646f6d ^ 0xee,
             secret[0] ^ 0x6c7967656e657261, secret[1] ^ 0x7465646279746573} {}

void keyed_digest::add(std::string_view bytes) noexcept {
    const auto held = static_cast<std::size_t>(count_ % word_bytes);
    count_ += bytes.size();
    if (held > 0) {
        const auto more = std::min(word_bytes - held, bytes.size());
        rest_ |= word_of(bytes.data(), more) << (8 * held);
        if (held + more < word_bytes) {
            return;
        }
        add(rest_);
        bytes.remove_prefix(more);
    }
    while (bytes.size() >= word_bytes) {
        add(whole_word(bytes.data()));
        bytes.remove_prefix(word_bytes);
    }
    rest_ = word_of(bytes.data(), bytes.size());
}

void keyed_digest::add_field(std::string_view text) noexcept {
    std::array<char, word_bytes> size{};
    for (std::size_t i = 0; i < word_bytes; ++i) {
        size[i] = static_cast<char>(std::uint64_t{text.size()} >> (8 * i));
    }
    add({size.data(), size.size()});
    add(text);
}

keyed_digest::value keyed_digest::finish() noexcept {
    add(rest_ | count_ << 56);
    state_[2] ^= 0xee;
    const auto first = squeeze();
    state_[1] ^= 0xdd;
    return {first, squeeze()};
}

void keyed_digest::add(std::uint64_t word) noexcept {
    state_[3] ^= word;
    mix();
    mix();
    state_[0] ^= word;
}

std::uint64_t keyed_digest::squeeze() noexcept {
    for (int round = 0; round < 4; ++round) {
        mix();
    }
    return state_[0] ^ state_[1] ^ state_[2] ^ state_[3];
}

void keyed_digest::mix() noexcept {
    auto& [a, b, c, d] = state_;
    a += b;
    b = std::rotl(b, 13) ^ a;
    a = std::rotl(a, 32);
    c += d;
    d = std::rotl(d, 16) ^ c;
    a += d;
    d = std::rotl(d, 21) ^ a;
    c += b;
    b = std::rotl(b, 17) ^ c;
    c = std::rotl(c, 32);
}

} // namespace skep
