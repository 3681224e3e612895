// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/open_limit.hpp"

#include <algorithm>
#include <chrono>

namespace skep {

namespace {

constexpr duration memory = std::chrono::seconds(1); ///< then a client's bucket is full again

} // namespace

bool open_limit::admit(std::string_view subject, time_point now) {
    purge(now);
    const auto prefix = subject.substr(0, std::min(subject.rfind('.'), subject.size()));
    auto found = clients_.find(prefix);
    if (found == clients_.end()) {
        if (clients_.size() >= most_clients) {
            return others_.admit(now);
        }
        found = clients_.emplace(prefix, entry{rate_limit(per_second_, now), now}).first;
    }
    found->second.last = now;
    return found->second.limit.admit(now);
}

void open_limit::purge(time_point now) {
    if (now >= next_purge_) {
        std::erase_if(clients_, [&](const auto& each) { return now - each.second.last >= memory; });
        next_purge_ = now + memory;
    }
}

} // namespace skep
