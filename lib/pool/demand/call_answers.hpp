// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/pipelining.hpp"
#include "pool/demand/lost_call_policy.hpp"
#include "pool/demand/open_calls.hpp"

namespace skep {

/// Handles the outcome of calls at workers: drops stale answers, forwards chunks, and sends a call again or
/// fails it when its worker is lost. On the pool's strand.
class call_answers {
public:
    call_answers(const pool_context& context, waiting_room& room, session_router& sessions, open_calls& open,
                 lost_call_policy& losses, pipelining& pace)
        : context_(context), room_(room), sessions_(sessions), open_(open), losses_(losses), pace_(pace) {}

    void on_result(worker& sender, call& answered_call, result_message& answer, time_point now);
    void on_remote_error(worker& sender, call& answered_call, error_message& answer);
    void on_chunk(call& receiver, chunk_message& piece);

    /// The call is sent to the next worker with room, before all other calls.
    void on_recalled(worker& sender, call& recalled_call, time_point now);

    /// The consumer of a stream has taken `taken_credit`: the worker may send more.
    void take_chunks(call& streaming_call, stream_credit taken_credit);

    /// `end`: the description of the worker's end, made once for all of its lost calls.
    void on_call_lost(worker& leaver, const error_info& end, const lost_call_notice& notice);

private:
    void on_failure_of_node(worker& sender, call& answered_call, error_message& answer);
    void send_elsewhere(call& refused_call);
    void on_late_answer(worker& sender, call& answered_call);
    void retry_or_fail(worker& leaver, errc code, const error_info& end, const lost_call_notice& notice);

    const pool_context& context_;
    waiting_room& room_;
    session_router& sessions_;
    open_calls& open_;
    lost_call_policy& losses_;
    pipelining& pace_;
};

} // namespace skep
