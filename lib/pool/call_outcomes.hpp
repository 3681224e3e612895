// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/error_streaks.hpp"
#include "pool/output_relay.hpp"
#include "pool/pool_parts.hpp"

#include <cstddef>
#include <string>

namespace skep {

/// Handles the answers and deadlines of running calls: judges the worker by the outcome, and passes the
/// outcome on to the dispatcher. On the pool's strand.
class call_outcomes final : public answer_handler {
public:
    call_outcomes(pool_parts& parts, std::size_t error_streak)
        : parts_(parts), output_(parts), streaks_(error_streak) {}

    output_relay& output() noexcept { return output_; }

    /// A new worker is up.
    void on_up(const worker& new_worker) { streaks_.started(new_worker.id().slot); }

    /// Acts on deadlines until cancelled. Pending events are applied first.
    asio::awaitable<void> watch_deadlines();

    /// Sends batches that have waited for more calls, until cancelled.
    asio::awaitable<void> watch_batches();

private:
    void on_result(worker& sender, call& answered_call, result_message& answer, time_point now) override;
    void on_remote_error(worker& sender, call& answered_call, error_message& answer) override;
    void on_log(const worker& sender, const log_message& record) noexcept override {
        output_.on_logged(sender, record);
    }
    void on_chunk(call& receiver, chunk_message& piece) override {
        parts_.calls.answers().on_chunk(receiver, piece);
    }
    void on_recalled(worker& sender, call& recalled_call, time_point now) override {
        parts_.calls.answers().on_recalled(sender, recalled_call, now);
        parts_.scaling.on_waiting();
    }
    void on_begun_in_vain(call& abandoned_call) override {
        parts_.calls.open_calls().grant_grace(abandoned_call);
    }
    bool may_be_probed(const worker& one) const noexcept override {
        return parts_.workers.may_be_probed(one);
    }

    void record_failed_call(worker& call_worker, const call& failed_call, const std::string& outcome);
    std::string shortage() const;

    pool_parts& parts_;
    output_relay output_;
    error_streaks streaks_;
};

} // namespace skep
