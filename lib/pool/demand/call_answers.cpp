// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/call_answers.hpp"

#include "core/failure_json.hpp"
#include "policy/remote_error.hpp"
#include "pool/demand/call_events.hpp"

#include <chrono>
#include <utility>

namespace skep {

namespace {

constexpr int most_resends = 2; ///< of one call, after refusals by nodes
constexpr duration after_refusal = std::chrono::milliseconds(20);

constexpr std::string_view memory_is_limited = "; raise recycle.hard_memory if the call needs that much";
constexpr std::string_view memory_is_used_up =
    "; run fewer workers or give them more memory if the call needs that much";
constexpr std::string_view is_bound = "; it is bound to that worker";
constexpr std::string_view is_not_idempotent = "; mark the request idempotent if it may be sent again";

/// Returns advice for the caller of a call that was lost with its worker and may have begun there. A call
/// that took too much memory would take too much from the next worker, too: it is not to be sent again.
std::string_view why_not_again(const call& lost_call, const worker& leaver, bool may_go_elsewhere,
                               bool budget_is_spent) {
    return budget_is_spent ? "; not retried, as too many calls were of late"
           : leaver.life().leaves_for(departure_cause::memory_limit)           ? memory_is_limited
           : leaver.life().process().verdict.kind == exit_class::out_of_memory ? memory_is_used_up
           : !may_go_elsewhere                                                 ? is_bound
           : !lost_call.req.idempotent()                                       ? is_not_idempotent
           : lost_call.stream != nullptr && lost_call.stream->has_begun
               ? "; it is not sent again, as a chunk had arrived"
               : "; it is not sent again, as all of retry.attempts are used up";
}

/// Appends advice to the text of a lost call. The pool of a node has given its own already: advice about its
/// worker stays, but to such a pool no call is idempotent.
void add_advice(std::string& detail, std::string_view advice) {
    if (detail.ends_with(is_not_idempotent)) {
        detail.resize(detail.size() - is_not_idempotent.size());
    }
    const bool is_about_worker = detail.ends_with(memory_is_limited) || detail.ends_with(memory_is_used_up) ||
                                 detail.ends_with(is_bound);
    detail += is_about_worker ? "" : advice;
}

} // namespace

void call_answers::on_result(worker& sender, call& answered_call, result_message& answer, time_point now) {
    if (answered_call.state != call_state::running) {
        on_late_answer(sender, answered_call);
        return;
    }
    const call_ptr keep(&answered_call);
    auto given = sender.calls().reply_to(answered_call, answer, now);
    losses_.succeeded();
    if (answered_call.stream == nullptr && answered_call.batch_size == 1 && !answered_call.is_recalled &&
        answered_call.begun <= now) {
        pace_.record(answered_call.req.command(), now - answered_call.begun);
    }
    open_.succeed(answered_call, now);
    room_.batches().answered(answered_call, sender, now);
    room_.serve(sender); // first: keeps the worker's idle time short
    if (waiting_room::close(answered_call)) {
        answered_call.sink->put_answer(std::move(given));
    }
}

void call_answers::on_recalled(worker& sender, call& recalled_call, time_point now) {
    const call_ptr keep(&recalled_call);
    if (recalled_call.state != call_state::running) {
        open_.end_abandoned(recalled_call);
        room_.serve(sender);
        return;
    }
    context_.publish<events::request_recalled>([&] {
        return events::request_recalled{sender.id(), recalled_call.req.command(),
                                        sender.calls().correlation_id_of(recalled_call), sender.node()};
    });
    open_.recall(recalled_call, now);
    room_.serve(sender);
    room_.serve_all();
}

void call_answers::on_chunk(call& receiver, chunk_message& piece) {
    if (receiver.state != call_state::running) {
        return; // the caller no longer waits
    }
    receiver.stream->has_begun = true;
    receiver.stream->heard = context_.now();
    context_.publish<events::stream_chunk>([&] {
        return events::stream_chunk{receiver.assigned_worker->id(), receiver.req.command(),
                                    correlation_id_of(receiver), piece.bytes};
    });
    receiver.sink->put_chunk({std::move(piece.value), std::move(piece.attachments)}, piece.bytes);
}

void call_answers::take_chunks(call& streaming_call, stream_credit taken_credit) {
    auto& window = streaming_call.stream->window;
    const bool was_exhausted = window.is_exhausted();
    window.consume(taken_credit);
    if (streaming_call.state != call_state::running) {
        return;
    }
    if (const auto more = window.grant()) {
        streaming_call.stream->heard = was_exhausted ? context_.now() : streaming_call.stream->heard;
        streaming_call.assigned_worker->calls().grant(streaming_call, *more);
    }
}

void call_answers::on_remote_error(worker& sender, call& answered_call, error_message& answer) {
    if (answered_call.state != call_state::running) {
        on_late_answer(sender, answered_call);
        return;
    }
    if (context_.has_nodes && answer.type == type_of_failure) {
        on_failure_of_node(sender, answered_call, answer);
        return;
    }
    const bool is_late = answered_call.deadline <= context_.now();
    const auto code =
        is_late ? code_of_late_error(answer.type, answer.code) : code_of_remote_error(answer.type);
    auto info = sender.calls().failure_of(answered_call, answer);
    open_.fail(answered_call, code, std::move(info));
    room_.batches().answered(answered_call, sender, context_.now());
    room_.serve(sender);
}

/// The node's own pool has failed the call. A newer node may know more failures.
void call_answers::on_failure_of_node(worker& sender, call& answered_call, error_message& answer) {
    const call_ptr keep(&answered_call);
    const auto known_code = errc_of(answer.code);
    const auto code = known_code.value_or(errc::remote_error);
    auto info =
        known_code ? failure_from_json(answer.data) : sender.calls().failure_of(answered_call, answer);
    info.node = sender.node();
    info.correlation_id = sender.calls().correlation_id_of(answered_call);
    if (code == errc::pool_saturated) {
        open_.count_busy_answer();
    }
    if (is_refusal(code) && answered_call.refusals < most_resends) {
        send_elsewhere(answered_call);
    } else if (code == errc::worker_lost || code == errc::node_lost) {
        retry_or_fail(sender, code, info, {keep, true, false, false});
    } else {
        open_.fail(answered_call, code, std::move(info));
    }
    room_.serve(sender);
}

/// The node has not begun the call.
void call_answers::send_elsewhere(call& refused_call) {
    ++refused_call.refusals;
    open_.take_back(refused_call, context_.now());
    --refused_call.attempts;
    open_.delay(refused_call, after_refusal);
}

/// Drops the answer to an abandoned call. The worker has room again.
void call_answers::on_late_answer(worker& sender, call& answered_call) {
    open_.count_late_answer();
    open_.end_abandoned(answered_call);
    room_.serve(sender);
}

void call_answers::on_call_lost(worker& leaver, const error_info& end, const lost_call_notice& notice) {
    auto& lost = *notice.lost;
    if (lost.state != call_state::running) {
        open_.end_abandoned(lost);
        // A worker that is ended for an abandoned call may crash because of that ending.
        const bool was_overdue = leaver.life().leaves_for(departure_cause::overdue_call);
        if (notice.may_have_begun && notice.is_to_blame && !was_overdue) {
            losses_.blame(lost, context_.now());
        }
        return;
    }
    retry_or_fail(leaver, context_.lost_code(), end, notice);
}

/// `code`: of the loss, `end` its description.
void call_answers::retry_or_fail(worker& leaver, errc code, const error_info& end,
                                 const lost_call_notice& notice) {
    auto& lost = *notice.lost;
    const auto now = context_.now();
    auto info = end;
    const error cause(code, info);
    const bool is_lost_in_session = lost.has_session() && sessions_.is_lost(lost);
    const bool may_go_elsewhere = !lost.is_leased() && !is_lost_in_session;
    const auto verdict = losses_.judge(notice, may_go_elsewhere, cause, now);
    if (verdict.fate == call_fate::fail || verdict.fate == call_fate::refuse) {
        if (verdict.budget_is_spent) {
            open_.count_denied_retry();
        }
        const bool refused = verdict.fate == call_fate::refuse;
        if (notice.is_suspect) {
            info.detail += "; it was in a batch of " + std::to_string(lost.batch_size) + " calls";
        }
        if (!refused) {
            add_advice(info.detail, why_not_again(lost, leaver, may_go_elsewhere, verdict.budget_is_spent));
        }
        open_.fail(lost, refused ? errc::poisonous_request : code, std::move(info));
        return;
    }
    if (lost.is_leased()) {
        open_.fail(lost, code, std::move(info));
        return;
    }
    if (is_lost_in_session) {
        const bool may_have_begun = notice.may_have_begun || lost.attempts > 1; // at an earlier worker
        info.detail += may_have_begun ? "" : std::string(info.detail.empty() ? "" : ": ") + worker_is_gone;
        open_.fail(lost, may_have_begun ? code : errc::session_worker_unavailable, std::move(info));
        return;
    }
    context_.publish<events::request_retried>([&] {
        return events::request_retried{leaver.id(),
                                       lost.req.command(),
                                       leaver.calls().correlation_id_of(lost),
                                       verdict.fate == call_fate::retry ? verdict.wait : duration::zero(),
                                       lost.attempts,
                                       leaver.node()};
    });
    open_.take_back(lost, now);
    if (verdict.fate == call_fate::resend) {
        --lost.attempts;
    }
    if (verdict.fate == call_fate::retry && verdict.wait > duration::zero()) {
        open_.delay(lost, verdict.wait);
    } else {
        open_.enqueue(lost, true, now);
    }
}

} // namespace skep
