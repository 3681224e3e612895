// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/number_text.hpp"
#include "core/text.hpp"
#include <skep/worker_id.hpp>

namespace skep {

std::string to_string(const worker_id& id) {
    return id.pool + '/' + std::to_string(id.slot) + '#' + std::to_string(id.generation);
}

std::optional<worker_id> to_worker_id(std::string_view text) {
    const auto slash = text.find('/');
    const auto hash = text.rfind('#');
    if (slash == text.npos || hash == text.npos || hash < slash || !is_name(text.substr(0, slash))) {
        return std::nullopt;
    }
    worker_id id;
    id.pool = text.substr(0, slash);
    const bool is_good = read_number(text.substr(slash + 1, hash - slash - 1), id.slot) &&
                         read_number(text.substr(hash + 1), id.generation);
    return is_good ? std::optional(std::move(id)) : std::nullopt;
}

} // namespace skep
