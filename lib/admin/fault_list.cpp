// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/fault_list.hpp"

#include <skep/errc.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::size_t longest_key = 1024;

/// Returns the distinct commands, sorted.
std::string commands_of(const unanswered_calls& calls) {
    std::set<std::string_view> commands;
    for (const auto& each : calls.named) {
        commands.insert(each.command);
    }
    std::string text;
    for (const auto command : commands) {
        text += (text.empty() ? "" : ", ") + std::string(command);
    }
    return text;
}

/// Describes the fault in an event; a type without an overload reports none.
struct fault_finder {
    using result = std::optional<fault>;

    template <class Event>
    result operator()(const Event&) const {
        return std::nullopt;
    }

    result operator()(const events::worker_terminated& end) const {
        if (end.planned) {
            return std::nullopt;
        }
        const auto cause = end.reason + (end.status.empty() ? "" : ", " + end.status);
        return of(end, end.worker.pool, commands_of(end.unanswered), cause);
    }

    result operator()(const events::worker_health_check& check) const {
        return check.passed ? std::nullopt : of(check, check.worker.pool, {}, check.complaint);
    }

    result operator()(const events::heartbeat_missed& miss) const {
        return of(miss, miss.worker.pool, {}, "pings were not answered");
    }

    result operator()(const events::pool_init_completed& start) const {
        return start.problem.empty() ? std::nullopt : of(start, start.pool, {}, start.problem);
    }

    result operator()(const events::pool_saturated& rejection) const {
        return of(rejection, rejection.pool, {}, "the queue is full");
    }

    result operator()(const events::pool_unavailable& state) const {
        return of(state, state.pool, {}, state.reason);
    }

    result operator()(const events::template_ended& end) const {
        return end.is_planned ? std::nullopt : of(end, end.pool, {}, end.reason);
    }

    result operator()(const events::template_refused& refusal) const {
        return of(refusal, refusal.pool, {}, refusal.objections);
    }

    result operator()(const events::breaker_changed& change) const {
        return change.to == "open" ? of(change, change.pool, {}, "starts of workers are held back")
                                   : std::nullopt;
    }

    result operator()(const events::request_failed& call) const {
        if (call.outcome == to_string(errc::cancelled)) {
            return std::nullopt;
        }
        const auto cause = call.outcome + (call.exception_type.empty() ? "" : ", " + call.exception_type);
        return of(call, call.pool, call.command, cause);
    }

    result operator()(const events::node_ejected& end) const {
        return of(end, end.pool, {}, "links to node " + end.node + " were lost");
    }

    /// Of a client of this node. The link to a node is a worker, and worker_terminated tells its end.
    result operator()(const events::link_lost& end) const {
        return end.worker.generation != 0 ? std::nullopt
                                          : of(end, end.pool, {}, end.client + ": " + end.reason);
    }

    result operator()(const events::bus_down& loss) const {
        return of(loss, loss.pool, {}, loss.problem.empty() ? "the connection was lost" : loss.problem);
    }

    result operator()(const events::session_quota_warning& warning) const {
        return of(warning, {}, {}, "many sessions");
    }

    result operator()(const events::lease_leaked& leak) const {
        return of(leak, leak.worker.pool, {}, leak.file + ':' + std::to_string(leak.line));
    }

private:
    template <class Event>
    static result of(const Event&, const std::string& pool, const std::string& command,
                     const std::string& cause) {
        return fault{std::string(Event::name), pool, command.substr(0, longest_key),
                     cause.substr(0, longest_key)};
    }
};

} // namespace

std::optional<fault> fault_in(const event& subject) {
    return std::visit(fault_finder(), static_cast<const detail::any_event&>(subject));
}

void fault_list::add(fault kind, json::object occurrence) {
    auto& facts = record_of(std::move(kind));
    if (facts.last.empty()) {
        facts.id = occurrence.at("serial").to_number<std::uint64_t>();
        facts.first_at_ms = occurrence.at("at_ms").to_number<std::int64_t>();
    } else {
        facts.last.back().erase("output_tail");
    }
    facts.last.push_back(std::move(occurrence));
    if (facts.last.size() > most_occurrences) {
        facts.last.pop_front();
    }
    ++facts.count;
    facts.changed_at = ++occurrences_;
}

json::array fault_list::take_changed() {
    auto changed = changed_since(taken_);
    taken_ = occurrences_;
    return changed;
}

fault_list::record& fault_list::record_of(fault kind) {
    const auto [found, is_new] = records_.try_emplace(std::move(kind));
    auto& facts = found->second;
    if (is_new) {
        facts.changed_at = ++occurrences_; // the newest: not the one to be dropped
        drop_oldest();
    }
    return facts;
}

void fault_list::drop_oldest() {
    if (records_.size() > limit_) {
        records_.erase(std::min_element(records_.begin(), records_.end(), [](const auto& a, const auto& b) {
            return a.second.changed_at < b.second.changed_at;
        }));
    }
}

json::array fault_list::changed_since(std::uint64_t occurrence) const {
    std::vector<records::const_pointer> changed;
    for (const auto& each : records_) {
        if (each.second.changed_at > occurrence) {
            changed.push_back(&each);
        }
    }
    std::sort(changed.begin(), changed.end(),
              [](const auto* a, const auto* b) { return a->second.changed_at < b->second.changed_at; });
    json::array result;
    for (const auto* each : changed) {
        result.push_back(shown(each->first, each->second));
    }
    return result;
}

json::object fault_list::shown(const fault& kind, const record& facts) {
    return {{"id", facts.id},
            {"event", kind.event},
            {"pool", kind.pool},
            {"command", kind.command},
            {"cause", kind.cause},
            {"count", facts.count},
            {"first_at_ms", facts.first_at_ms},
            {"last_at_ms", facts.last.empty() ? json::value() : facts.last.back().at("at_ms")},
            {"last", json::array(facts.last.begin(), facts.last.end())}};
}

} // namespace skep
