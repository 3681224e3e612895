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

/// Returns false if no call is pipelined.
bool recall_watch::recall_late_calls() {
    const auto now = context_.now();
    bool is_any_pipelined = false;
    for (std::uint32_t slot = 0; slot < places_.slots(); ++slot) {
        auto* const each = places_.in_slot(slot);
        const bool has_pipelined = each != nullptr && each->calls().recall_if_late(now);
        is_any_pipelined = is_any_pipelined || has_pipelined;
    }
    return is_any_pipelined;
}

} // namespace skep
