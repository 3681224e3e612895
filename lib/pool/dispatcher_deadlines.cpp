// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a dispatcher does when the time of a call has come.

#include "core/clock.hpp"
#include "core/duration_text.hpp"
#include "pool/dispatcher.hpp"

#include <algorithm>

namespace skep {

/// When a call that a worker has is to be looked at again.
time_point dispatcher::next_look(const call& running) {
    if (running.stream == nullptr) {
        return running.deadline;
    }
    return std::min(running.deadline, after_limit(running.stream->heard, running.stream->idle_timeout));
}

void dispatcher::on_due(claim& due) {
    auto& late = static_cast<call&>(due);
    const auto state = late.state;
    events_.settle();
    if (late.state != state || late.heap_place != deadline_node::outside) {
        return; // it is further on by now
    }
    switch (late.state) {
    case call_state::queued: fail_waiting(late); break;
    case call_state::delayed:
        late.deadline > context_.now() ? resume_delayed(late) : fail(late, errc::timeout);
        break;
    case call_state::running: late.deadline > context_.now() ? look_after_quiet(late) : time_out(late); break;
    case call_state::stranded: fail(late, errc::worker_lost); break;
    case call_state::abandoned: look_after_overdue(late); break;
    default: break;
    }
}

void dispatcher::time_out(call& running, error_info info) {
    auto& at = *running.at;
    if (!at.is_pipelined(running)) {
        events_.on_timeout(at, running);
    }
    abandon(running, errc::timeout, std::move(info));
}

/// No chunk has come for a while: it may be the consumer's turn, or the worker has been heard since.
void dispatcher::look_after_quiet(call& stream) {
    const auto now = context_.now();
    if (stream.stream->window.is_exhausted() || stream.at->is_asking(stream)) {
        stream.stream->heard = now;
    }
    if (next_look(stream) > now) {
        deadlines_.set(stream, next_look(stream));
        return;
    }
    error_info info;
    info.detail = "no chunk came for " + in_milliseconds(stream.stream->idle_timeout) +
                  ", its idle_timeout, though the worker might have sent one";
    time_out(stream, std::move(info));
}

void dispatcher::look_after_overdue(call& abandoned) {
    if (abandoned.overdue.has_passed(context_.now())) {
        events_.on_overdue(*abandoned.at);
    } else {
        deadlines_.set(abandoned, abandoned.overdue.due());
    }
}

/// Its time was over before a worker took it.
void dispatcher::fail_waiting(call& waiting) {
    error_info info;
    info.detail = events_.shortage();
    if (!placement_.is_any_up()) {
        leave_queue(waiting, errc::no_worker, std::move(info));
    } else if (waiting.deadline <= context_.now()) {
        leave_queue(waiting, errc::timeout, std::move(info));
    } else {
        if (info.detail.empty()) {
            info.detail =
                waiting.is_leased() ? "the lease's other calls held its places; raise queue.timeout or the "
                                      "request's queue_timeout"
                : waiting.slot
                    ? "the worker of its session was busy; raise queue.timeout or the request's queue_timeout"
                    : "all were busy; raise workers, queue.timeout or the request's queue_timeout";
        }
        leave_queue(waiting, errc::queue_timeout, std::move(info));
    }
}

void dispatcher::resume_delayed(call& delayed) {
    const auto keep = delayed_.remove(delayed);
    enqueue(delayed, true, context_.now());
    serve_all();
}

/// From now on the worker has that long to end the call.
void dispatcher::grant_grace(call& abandoned) {
    abandoned.overdue = {context_.now() + config_.cancel_grace, config_.cancel_grace};
    deadlines_.set(abandoned, abandoned.overdue.due());
}

} // namespace skep
