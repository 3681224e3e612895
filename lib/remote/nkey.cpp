// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nkey.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <vector>

namespace skep {

namespace {

using bytes = std::vector<unsigned char>;

constexpr std::string_view base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr unsigned char user_prefix = 20 << 3; // "U"
constexpr unsigned char seed_prefix = 18 << 3; // "S", and the prefix of the kind in the next five bits
constexpr std::size_t key_size = 32;
constexpr std::size_t seed_size = 2 + key_size + 2; // with prefixes and checksum

std::string to_base32(const bytes& data) {
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const auto byte : data) {
        bits = bits << 8 | byte;
        for (count += 8; count >= 5; count -= 5) {
            text += base32[bits >> (count - 5) & 31];
        }
    }
    if (count > 0) {
        text += base32[bits << (5 - count) & 31];
    }
    return text;
}

std::optional<bytes> from_base32(std::string_view text) {
    bytes data;
    std::uint32_t bits = 0;
    int count = 0;
    for (const auto letter : text) {
        const auto value = base32.find(letter);
        if (value == base32.npos) {
            return std::nullopt;
        }
        bits = bits << 5 | static_cast<std::uint32_t>(value);
        count += 5;
        if (count >= 8) {
            count -= 8;
            data.push_back(static_cast<unsigned char>(bits >> count));
        }
    }
    const bool has_rest = count >= 5 || (bits & ((1u << count) - 1)) != 0;
    return has_rest ? std::nullopt : std::optional(data);
}

/// CRC-16/XMODEM.
std::uint16_t checksum(const bytes& data, std::size_t size) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
        sum ^= static_cast<std::uint32_t>(data[i]) << 8;
        for (int bit = 0; bit < 8; ++bit) {
            sum = (sum & 0x8000) != 0 ? sum << 1 ^ 0x1021 : sum << 1;
        }
    }
    return static_cast<std::uint16_t>(sum);
}

bool is_user_seed(const bytes& data) {
    constexpr auto sum_place = seed_size - 2;
    return data.size() == seed_size && data[0] == (seed_prefix | user_prefix >> 5) &&
           data[1] == static_cast<unsigned char>(user_prefix << 3) &&
           checksum(data, sum_place) == (data[sum_place] | data[sum_place + 1] << 8);
}

std::optional<bytes> public_half(const bytes& seed) {
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key(
        ::EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data() + 2, key_size),
        &::EVP_PKEY_free);
    bytes half(key_size);
    auto size = half.size();
    if (!key || ::EVP_PKEY_get_raw_public_key(key.get(), half.data(), &size) != 1) {
        return std::nullopt;
    }
    return half;
}

} // namespace

std::optional<std::string> public_nkey(std::string_view seed) {
    auto data = from_base32(seed);
    const auto half = data && is_user_seed(*data) ? public_half(*data) : std::nullopt;
    if (data) {
        ::OPENSSL_cleanse(data->data(), data->size());
    }
    if (!half) {
        return std::nullopt;
    }
    bytes key(1, user_prefix);
    key.insert(key.end(), half->begin(), half->end());
    const auto sum = checksum(key, key.size());
    key.push_back(static_cast<unsigned char>(sum));
    key.push_back(static_cast<unsigned char>(sum >> 8));
    return to_base32(key);
}

std::optional<std::string> read_public_nkey(const std::string& path) {
    std::ifstream file(path);
    std::string word;
    std::optional<std::string> key;
    while (!key && file >> word) {
        key = public_nkey(word);
    }
    ::OPENSSL_cleanse(word.data(), word.size());
    return key;
}

} // namespace skep
