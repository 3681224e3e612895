// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/blob.hpp>

namespace skep {

blob::blob(std::vector<std::byte> bytes) {
    if (!bytes.empty()) {
        auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        const std::span<const std::byte> shown(*owner);
        *this = blob(std::move(owner), shown);
    }
}

blob blob::copy_of(std::span<const std::byte> bytes) {
    if (bytes.empty()) {
        return {};
    }
    auto copy = std::make_shared_for_overwrite<std::byte[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), copy.get());
    const std::span<const std::byte> shown(copy.get(), bytes.size());
    return {std::move(copy), shown};
}

} // namespace skep
