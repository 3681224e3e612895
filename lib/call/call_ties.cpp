// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "call/call_ties.hpp"

#include "async/calling_executor.hpp"

#include <algorithm>
#include <memory>

namespace skep {

namespace {

/// Limits the deadline of a tool's call to the deadline of its outer call. Shares correlation id and trace.
void inherit(request& inner, const tool_tie& tie) {
    const auto outer_deadline = tie.outer->deadline;
    inner.deadline(std::min(inner.deadline().value_or(time_point::max()), outer_deadline));
    if (inner.correlation_id().empty()) {
        inner.correlation_id(tie.correlation_id);
    }
    if (!inner.metadata().contains(traceparent_key)) {
        for (const auto& [key, value] : tie.trace) {
            inner.metadata(key, value);
        }
    }
}

} // namespace

bool is_watched(const call& subject) noexcept {
    const auto* const extras = subject.extras();
    return extras != nullptr && extras->on_progress;
}

void tie(call& new_call, const boost::asio::any_io_executor& caller) {
    auto within = calling_executor::tie_of(caller);
    const bool has_progress = is_watched(new_call);
    if (!within && !has_progress) {
        return;
    }
    if (!new_call.ties) {
        new_call.ties = std::make_unique<call_ties>();
    }
    if (within) {
        inherit(new_call.req, *within);
        new_call.is_pipelinable = false;
        new_call.ties->parent_tie = std::move(within);
    }
    if (has_progress) {
        new_call.ties->progress = std::make_shared<progress_relay>(caller, *new_call.extras()->on_progress);
    }
}

} // namespace skep
