// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/rate_limit.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace skep {

/// Limits how many links a second each client opens. A client is known by the prefix of its inboxes, which a
/// stranger can choose at will: beyond `most_clients` at a time, the unknown clients share one limit.
class open_limit {
public:
    static constexpr std::size_t most_clients = 1000; ///< that have opened links in the last second

    explicit open_limit(std::size_t per_second) noexcept
        : per_second_(per_second), others_(per_second, time_point{}) {}

    /// Returns true if the client whose inbox is `subject` may open another link. The prefix is `subject`
    /// without its last part.
    bool admit(std::string_view subject, time_point now);

    std::size_t clients() const noexcept { return clients_.size(); }

private:
    /// The limit of a client, with the time of its last request.
    struct entry {
        rate_limit limit;
        time_point last;
    };

    void purge(time_point now);

    std::size_t per_second_;
    std::map<std::string, entry, std::less<>> clients_; ///< by prefix; ordered, as strangers choose prefixes
    rate_limit others_;
    time_point next_purge_{};
};

} // namespace skep
