// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What workers ask of the host: each is done once, answered once, and over when nobody waits for it.

#include "simulation/oracle.hpp"

#include <algorithm>
#include <span>

namespace skep::simulation {

namespace json = boost::json;

std::string oracle::about(const tool_record& asked) const {
    return "tool call " + std::to_string(asked.number) + " of " + asked.by->name() + " at " +
           asked.call->token;
}

void oracle::on_progress(call_record& call, const progress& report) {
    const spared_by_faults here;
    const auto newest = static_cast<std::size_t>(report.fraction * most_reports + 0.5);
    if (!call.is_open()) {
        wrong(about(call) + " has ended, but its caller was told of its progress");
    }
    const bool is_first_try = call.visits.size() == 1;
    if (newest == 0 || call.visits.empty() || (is_first_try && newest <= call.progress_seen) ||
        (is_first_try && newest > call.visits.back().progress_made)) {
        wrong(about(call) + ": its caller was told of progress that is none");
    }
    call.progress_seen = newest;
}

tool_record& oracle::new_tool(sim_worker& by, call_record& at, std::size_t visit_index) {
    const spared_by_faults here;
    auto& fresh = tools_.emplace_back();
    fresh.key = tools_.size() - 1;
    fresh.by = &by;
    fresh.call = &at;
    fresh.visit_index = visit_index;
    fresh.deed = world_.chance.pick(
        {tool_deed::answers, tool_deed::fails, tool_deed::pauses, tool_deed::calls, tool_deed::calls,
         tool_deed::calls, world_.chance.chance(0.5) ? tool_deed::is_unknown : tool_deed::is_stubborn});
    open_tools_.push_back(&fresh);
    return fresh;
}

tool_record* oracle::on_tool_begun(const tool_call& asked) {
    const spared_by_faults here;
    const auto key = asked.args.at("key").to_number<std::size_t>();
    if (key >= tools_.size()) {
        wrong("a tool is called for nobody");
        return nullptr;
    }
    auto& which = tools_[key];
    world_.trace(about(which) + " begins");
    if (which.begun || !which.delivered) {
        wrong(about(which) + (which.begun ? " has begun twice" : " has begun before it was heard of"));
    }
    const auto& call = *which.call;
    if (asked.name != "help" || asked.worker != which.by->id() || asked.command != call.command ||
        asked.correlation_id != call.correlation || asked.deadline != call.deadline()) {
        wrong(about(which) + " was told of another call");
    }
    which.begun = true;
    return &which;
}

void oracle::on_tool_ended(tool_record& which, bool failed) {
    const spared_by_faults here;
    world_.trace(about(which) + (failed ? " fails" : " has its result"));
    which.ended = world_.now();
    which.failed = failed;
}

const tool_record* oracle::on_tool_answered(sim_worker& to, const json::object& message) {
    const auto number = message.at("tool_call").to_number<std::uint64_t>();
    const auto found = std::find_if(open_tools_.begin(), open_tools_.end(), [&](const auto* each) {
        return each->by == &to && each->number == number && !each->answered;
    });
    if (found == open_tools_.end()) {
        wrong(to.name() + " was sent an answer to tool call " + std::to_string(number) +
              ", which it does not wait for");
        return nullptr;
    }
    auto& which = **found;
    which.answered = true;
    if (!which.delivered) {
        wrong(about(which) + " was answered before the pool had read it");
        return nullptr;
    }
    const bool is_result = message.at("type").as_string() == "tool_result";
    world_.trace(about(which) + (is_result ? " is answered" : " is answered with an error"));
    if (is_result) {
        if (!which.ended || which.failed || message.at("value").at("key") != which.key) {
            wrong(about(which) + " got the result of another");
        }
        return &which;
    }
    const auto& failure = message.at("error").as_object();
    const auto& type = failure.at("type").as_string();
    const bool is_real = type == "skep.Cancelled"     ? true // see check_tool()
                         : type == "skep.UnknownTool" ? which.deed == tool_deed::is_unknown
                         : type == "skep.NoMemory"    ? false
                                                      : which.ended && which.failed;
    const bool is_coded = !failure.contains("code") || failure.at("code").as_string() == "full";
    if ((!is_real || !is_coded) && !out_of_memory()) {
        wrong(about(which) + " got the error of another: " + std::string(type));
    }
    return &which;
}

void oracle::check_tools() {
    std::erase_if(open_tools_, [](const auto* each) {
        const bool is_settled = each->answered || !each->by->is_held_by_pool();
        return is_settled && (!each->begun || each->ended);
    });
    for (const auto* each : open_tools_) {
        check_tool(*each);
    }
    check_ended_for_tools();
}

/// It is done and answered as long as its call waits for it, and cancelled with that.
void oracle::check_tool(const tool_record& which) {
    const auto& call = *which.call;
    const auto& stay = call.visits[which.visit_index];
    const auto& by = *which.by;
    const bool has_answer = stay.delivered && !by.did_wrong; // of a liar the pool may not listen to it
    const bool is_wanted = call.is_open() && !has_answer && by.is_held_by_pool();
    if (which.begun && !which.ended && which.deed != tool_deed::is_stubborn && !is_wanted &&
        !out_of_memory()) {
        wrong(about(which) + " goes on though nobody waits for it");
    }
    const bool may_be_unheard = by.is_lost() || by.has_had_backlog() || stay.delivered || out_of_memory();
    if (!which.delivered || which.answered || may_be_unheard) {
        return;
    }
    if (!which.begun) {
        wrong(about(which) + " was heard, but neither done nor refused");
    } else if (which.ended) {
        wrong(about(which) + " is done, but its worker is not told");
    } else if (!call.is_open()) {
        wrong(by.name() + " was not told that nobody waits for what its tool call does");
    }
}

void oracle::check_tools_are_over() {
    for (const auto& each : tools_) {
        if (each.begun && !each.ended) {
            wrong(about(each) + " has never ended");
        }
    }
}

/// A call that a tool has made is cancelled with the tool, and not before, and drained with the call that the
/// tool serves.
void oracle::check_ended_for_tools() {
    for (const auto* each : std::exchange(ended_for_tools_, {})) {
        const auto& outer = *each->outer;
        const bool is_lost = std::any_of(outer.visits.begin(), outer.visits.end(),
                                         [](const auto& stay) { return stay.at->is_lost(); });
        if (!outer.is_open() || is_lost || late() || out_of_memory()) {
            continue;
        }
        if (each->code == errc::cancelled && !shutting_down_) {
            wrong(about(*each) + " was cancelled, though " + about(outer) + " waits for it");
        }
        if (each->code == errc::shutting_down && is_to_be_drained(outer) && !may_have_nobody_left()) {
            wrong(about(*each) + " was refused, though " + about(outer) + " waits for it");
        }
    }
}

/// Those that cannot go on before a call has been sent that waits in the queue: one that is to be sent again
/// may be delayed.
std::set<const call_record*> oracle::calls_that_wait_for_others() const {
    std::set<const call_record*> result;
    for (const auto number : open_) {
        const auto& each = calls_[number - 1];
        const std::span backoff(config_.retry.backoff);
        const auto pauses = backoff.first(std::min(each.visits.size(), backoff.size()));
        const bool is_sent_again_at_once =
            std::all_of(pauses.begin(), pauses.end(), [](duration pause) { return pause == duration(0); });
        const bool waits =
            each.is_open() &&
            (each.visits.empty() || (is_sent_again_at_once && !each.visits.back().at->is_held_by_pool()));
        for (const auto* outer = each.outer; waits && outer != nullptr; outer = outer->outer) {
            result.insert(outer);
        }
    }
    return result;
}

/// Where all places are held by calls that wait for a place, the last of them is refused.
void oracle::check_circle(const pool_status& status) {
    const bool may_get_more = status.starting + status.retiring > 0 || limits_.min < limits_.max ||
                              status.breaker != circuit_state::closed || status.live < status.desired;
    if (may_get_more || is_any_leased() || pool_suspension_asked_ || !suspended_.empty() ||
        status.phase != pool_phase::running || status.suspended || out_of_memory() || late()) {
        return;
    }
    const auto waiting = calls_that_wait_for_others();
    std::size_t held = 0;
    std::size_t places = 0;
    for (const auto& each : status.workers) {
        const auto* const real = find(each.id);
        if (real == nullptr || may_await_probe(*real) || real->did_wrong || !is_running(each.state) ||
            each.state == worker_state::degraded || real->has_had_backlog()) {
            return; // who knows what it has
        }
        const auto is_held = [&](const auto& entry) {
            const auto& stay = entry.first->visits[entry.second];
            return waiting.contains(entry.first) && stay.begun && !stay.delivered && entry.first->is_open();
        };
        places += real->capacity();
        std::set<std::uint64_t> held_there;
        for (const auto& entry : real->calls()) {
            if (is_held(entry)) {
                held_there.insert(entry.first->visits[entry.second].place);
            }
        }
        held += held_there.size();
    }
    if (places > 0 && held == places) {
        wrong("all places are held by calls that wait for one");
    }
}

/// Whether what waits in a pool that shuts down may be without a worker that would ever take it.
bool oracle::may_have_nobody_left() const {
    const auto may_have_left = [this](const auto& each) {
        return each->did_wrong || may_have_been_overdue(*each) || was_sick(*each);
    };
    const bool scales = limits_.min < limits_.max || resized_;
    const bool recycles = restarts_ || config_.recycle.age > duration(0) || config_.recycle.calls > 0 ||
                          config_.recycle.soft_memory > 0 || config_.recycle.hard_memory > 0;
    return pool_suspension_asked_ || !suspended_.empty() || scales || recycles ||
           config_.health_check.error_streak > 0 ||
           std::any_of(workers_.begin(), workers_.end(), may_have_left);
}

/// One that is well and has had nothing to do since the call was made.
bool oracle::has_idle_worker(const call_record& refused) const {
    const bool may_be_withheld = is_any_leased() || pool_suspension_asked_ || !suspended_.empty() ||
                                 may_stop_workers() || late() || shutting_down_;
    return !may_be_withheld && std::any_of(workers_.begin(), workers_.end(), [&](const auto& each) {
        return each->ready_seen && *each->ready_seen < refused.submitted && each->is_alive() &&
               !each->did_wrong && !each->is_lost() && !each->plan().has_probe && each->load() == 0 &&
               std::none_of(each->calls().begin(), each->calls().end(), [&](const auto& entry) {
                   const auto& stay = entry.first->visits[entry.second];
                   const bool may_be_overdue = stay.delivered &&
                                               stay.told_to_stop && // its worker is replaced, then
                                               *stay.delivered - *stay.told_to_stop >= config_.cancel_grace;
                   return !stay.delivered || *stay.delivered >= refused.submitted || may_be_overdue;
               });
    });
}

} // namespace skep::simulation
