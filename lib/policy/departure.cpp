// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "policy/departure.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace skep {

namespace {

struct departure_traits {
    departure_kind kind;
    stop_stage urgency; ///< at first
    transition_reason code;
};

const departure_traits& traits_of(departure_cause cause) noexcept {
    using enum departure_kind;
    using enum stop_stage;
    using reason = transition_reason;
    static constexpr std::array<departure_traits, departure_cause_count> table{{
        {plan, none, reason::scale_down},           // surplus
        {plan, none, reason::recycle},              // recycling
        {plan, ask, reason::shutdown},              // shutdown
        {fault, none, reason::health_check_failed}, // failed_probes
        {fault, none, reason::timeout},             // overdue_call
        {fault, none, reason::error},               // failed_reset
        {fault, terminate, reason::memory_limit},   // memory_limit
        {loss, terminate, reason::error},           // failed_start
        {loss, terminate, reason::error},           // protocol_error
        {loss, terminate, reason::timeout},         // lost_heartbeat
        {loss, terminate, reason::error},           // lost_channel
        {loss, terminate, reason::exit},            // process_exit
        {loss, terminate, reason::error},           // host_memory
        {fault, none, reason::error},               // error_streak
        {plan, none, reason::recycle},              // fails_alone
    }};
    return table.at(static_cast<std::size_t>(cause));
}

} // namespace

departure_kind kind_of(departure_cause cause) noexcept {
    return traits_of(cause).kind;
}

departure::departure(departure_cause first_cause, std::string text, errc error) noexcept
    : cause(first_cause),
      planned(kind_of(first_cause) == departure_kind::plan),
      urgency(traits_of(first_cause).urgency),
      code(error),
      detail(std::move(text)) {}

transition_reason code_of(const departure& reason) noexcept {
    return reason.code == errc::startup_timeout ? transition_reason::timeout : traits_of(reason.cause).code;
}

/// The end of the process explains a broken channel. A lack of host memory for a stop sequence ends the
/// worker, unless the first cause has ended the worker and the worker's calls already.
bool outranks(const departure& later, const departure& known_departure) noexcept {
    if (known_departure.cause == departure_cause::lost_channel) {
        return later.cause == departure_cause::process_exit;
    }
    if (later.cause == departure_cause::host_memory) {
        return traits_of(known_departure.cause).urgency != stop_stage::terminate;
    }
    return known_departure.urgency == stop_stage::none &&
           traits_of(later.cause).urgency == stop_stage::terminate;
}

bool raise(std::optional<departure>& current_departure, departure later) noexcept {
    if (!current_departure) {
        current_departure = std::move(later);
        return true;
    }
    later.planned = current_departure->planned;
    later.urgency = std::max(current_departure->urgency, later.urgency);
    if (!outranks(later, *current_departure)) {
        current_departure->urgency = later.urgency;
        return false;
    }
    current_departure = std::move(later);
    return true;
}

} // namespace skep
