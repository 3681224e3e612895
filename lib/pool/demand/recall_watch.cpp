// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/recall_watch.hpp"

namespace skep {

asio::awaitable<void> recall_watch::run() {
    for (;;) {
        co_await work_.wait();
        const auto next_look = context_.now() + pipelining::patience;
        co_await pause_.wait_until(next_look);
        if (!recall_late_calls()) {
            work_.close();
        }
    }
}

/// Returns false if no call may have to be recalled later.
bool recall_watch::recall_late_calls() {
    const auto now = context_.now();
    bool may_be_more = false;
    for (std::uint32_t slot = 0; slot < places_.slots(); ++slot) {
        auto* const each = places_.in_slot(slot);
        const bool has_more = each != nullptr && each->calls().recall_if_late(now);
        may_be_more = may_be_more || has_more;
    }
    return may_be_more;
}

} // namespace skep
