// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/home_choice.hpp"

namespace skep {

namespace {

constexpr keyed_digest::key key_of_all_clients{0, 0};

keyed_digest::value weight_of(std::string_view node, std::string_view session) noexcept {
    keyed_digest digest(key_of_all_clients);
    digest.add_field(node);
    digest.add_field(session);
    return digest.finish();
}

} // namespace

void rendezvous::offer(std::string_view node) {
    const auto weight = weight_of(node, session_);
    if (!highest_ || weight > *highest_) {
        highest_ = weight;
        winner_ = node;
    }
}

} // namespace skep
