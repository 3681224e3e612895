// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/answer_intake.hpp"

#include "policy/remote_error.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/worker.hpp"

#include <string>
#include <utility>

namespace skep {

void answer_intake::handle(result_message& result) {
    const auto now = core_.context.now();
    const auto answered = calls_.take_answered(result.id, now);
    if (answered->is_private) {
        answered->sink->put_answer(calls_.reply_to(*answered, result, now));
        end_private();
        return;
    }
    count_answer();
    watch_rest_of_batch(*answered);
    core_.self.health().answered(now);
    answers_.on_result(core_.self, *answered, result, now);
    drain_.follow_answer();
}

void answer_intake::handle(chunk_message& piece) {
    auto* const receiver = calls_.find(piece.id);
    if (receiver == nullptr || receiver->stream == nullptr) {
        throw protocol_violation("a chunk of call " + std::to_string(piece.id) +
                                 ", which is no stream that it has");
    }
    if (!receiver->stream->window.receive(static_cast<std::int64_t>(piece.bytes))) {
        throw protocol_violation("a chunk of call " + std::to_string(piece.id) + " without credit for it");
    }
    receiver->is_seen = true;
    answers_.on_chunk(*receiver, piece);
}

void answer_intake::handle(error_message& error) {
    const auto now = core_.context.now();
    const auto answered = calls_.take_answered(error.id, now);
    if (answered->is_private) {
        const auto code = code_of_remote_error(error.type);
        answered->sink->put_failure({code, calls_.failure_of(*answered, error)});
        end_private();
        return;
    }
    count_answer();
    watch_rest_of_batch(*answered);
    ++calls_.errors_;
    core_.self.health().failed_call(*answered, error, now);
    answers_.on_remote_error(core_.self, *answered, error);
    drain_.follow_answer();
}

void answer_intake::handle(progress_message& message) {
    auto* const subject = calls_.find(message.id);
    if (subject == nullptr) {
        throw protocol_violation("progress of call " + std::to_string(message.id) +
                                 ", which it does not have");
    }
    subject->is_seen = true;
    if (subject->ties && subject->ties->progress && subject->state == call_state::running) {
        subject->ties->progress->put(std::move(message.report));
    }
}

void answer_intake::handle(tool_call_message& message) {
    const call_ptr caller(calls_.find(message.id));
    if (!caller) {
        throw protocol_violation("a tool call during call " + std::to_string(message.id) +
                                 ", which it does not have");
    }
    caller->is_seen = true;
    core_.context.publish<events::tool_called>([&] {
        return events::tool_called{core_.id, message.name, caller->req.command(),
                                   calls_.correlation_id_of(*caller)};
    });
    calls_.begin_tool(caller, message);
}

void answer_intake::handle(recalled_message& message) {
    const auto now = core_.context.now();
    const auto recalled = calls_.take_recalled(message.id, now);
    watch_rest_of_batch(*recalled);
    answers_.on_recalled(core_.self, *recalled, now);
    drain_.follow_answer();
}

void answer_intake::end_private() {
    watch_begun_in_vain();
    drain_.show_suspended();
    core_.announce_room();
}

void answer_intake::count_answer() {
    if (core_.self.recycling().is_used_up_by(++calls_.completed_)) {
        core_.announce(used_up{});
    }
    watch_begun_in_vain();
}

/// The rest of a batch may have no callers any more.
void answer_intake::watch_rest_of_batch(const call& answered_call) {
    if (answered_call.batch_size > 1 && calls_.is_place_deserted(answered_call)) {
        calls_.for_each_in_place(answered_call, [this](call& each) { watch(each); });
    }
}

/// An answer, also of a private call, may let the worker begin a pipelined call that its caller has
/// abandoned.
void answer_intake::watch_begun_in_vain() {
    if (calls_.is_any_recalled() || (calls_.is_full() && calls_.is_place_deserted(calls_.last_begun()))) {
        calls_.for_each_just_begun([this](call& each) { watch(each); });
    }
}

/// The worker may be at the call.
void answer_intake::watch(call& begun_call) {
    const bool is_in_vain = begun_call.state == call_state::abandoned && !begun_call.is_private &&
                            begun_call.heap_place == deadline_node::outside;
    if (is_in_vain && calls_.is_place_deserted(begun_call)) {
        answers_.on_begun_in_vain(begun_call);
    }
}

} // namespace skep
