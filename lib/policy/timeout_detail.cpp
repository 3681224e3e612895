// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/timeout_detail.hpp"

#include "core/duration_text.hpp"

namespace skep {

namespace {

constexpr const char* advice_after_loss = "; raise the request's timeout if another attempt is to fit in";

std::string detail_of_waiting(const late_call& facts) {
    const std::string sooner = ", or lower queue.timeout to fail sooner";
    if (!facts.shortage.empty()) {
        return facts.shortage;
    }
    switch (facts.where) {
    case late_call::position::queued_for_session:
        return "the worker of its session was busy; make fewer calls of the session at a time" + sooner;
    case late_call::position::queued_for_home: return std::string(home_is_missing) + sooner;
    case late_call::position::queued_in_lease:
        return "the lease's other calls held its places; make fewer calls of the lease at a time" + sooner;
    case late_call::position::pipelined:
        return "the worker that it was sent ahead to was busy; raise workers, or lower pipeline_depth";
    default: return "all workers were busy; raise workers" + sooner;
    }
}

std::string detail_of_running(const late_call& facts) {
    const auto run_time = in_milliseconds(facts.run_time);
    if (facts.was_lost) {
        return "its last attempt ran for " + run_time + ", after a worker was lost with it" +
               advice_after_loss;
    }
    return facts.wait_time <= facts.run_time
               ? ""
               : "it waited for a worker, and ran for " + run_time +
                     " only; raise workers, or the request's timeout if the work needs it";
}

} // namespace

std::string timeout_detail(const late_call& facts) {
    if (facts.where == late_call::position::running) {
        return detail_of_running(facts);
    }
    if (facts.was_lost) {
        return "it waited to be sent again, after a worker was lost with it" +
               (facts.shortage.empty() ? "" : ": " + facts.shortage) + advice_after_loss;
    }
    return "it never ran: " + detail_of_waiting(facts);
}

} // namespace skep
