// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker_calls.hpp"

#include "policy/batching.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/worker.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <new>

namespace skep {

namespace {

// A dozen small calls. A larger write would save little, and keep the worker waiting.
constexpr std::size_t write_bytes = 1500;

// Beyond this many concurrent calls, output lines are not attributed, to limit the cost.
constexpr std::size_t most_listed = 64;

// Beyond this many calls at the end of a worker, the rest is counted.
constexpr std::size_t most_named = 16;

constexpr std::size_t correlation_size = 9;

/// Returns a prefix that very likely differs between workers.
std::string make_correlation(double chance) {
    std::array<char, correlation_size + 1> text{};
    std::snprintf(text.data(), text.size(), "%08x-", static_cast<unsigned>(chance * 0x1p32));
    return text.data();
}

} // namespace

worker_calls::worker_calls(worker_core& core)
    : core_(core),
      correlation_(make_correlation(core.context.random())),
      tools_(core),
      memory_(core.config.shared),
      received_(core.config.shared) {}

/// An engine has as many places as it has slots: a lower capacity would leave it idle without a word.
std::size_t worker_calls::open(hello_message& hello) {
    gives_back_ = hello.recall && core_.link->has_control();
    offered_ = hello.slots > 0 ? hello.slots : std::min(core_.config.capacity, hello.capacity);
    set_capacity(is_on_trial_ ? 1 : offered_);
    batches_ = std::move(hello.batches);
    for (auto& [command, limits] : batches_) {
        limits = limits_of(core_.config, command, limits);
    }
    tools_.open();
    if (hello.shared > 0 && core_.regions) {
        received_.begin(*core_.regions);
        core_.link->data().share(received_);
        memory_.open(std::move(core_.regions));
    }
    core_.regions.reset(); // the worker cannot read memory
    return capacity();
}

const batch_limits& worker_calls::batches_of(std::string_view command) const noexcept {
    static constexpr batch_limits none;
    const auto found = batches_.find(command);
    return found == batches_.end() ? none : found->second;
}

/// Calls beyond the capacity would count as waiting, and may have begun.
void worker_calls::change_capacity(std::size_t most) {
    set_capacity(std::max(most, load()));
    follow_load(core_.context.now());
    core_.announce_room();
}

void worker_calls::reserve(std::size_t places) noexcept {
    call_table::reserve(places);
    follow_load(core_.context.now());
}

void worker_calls::release(std::size_t places) noexcept {
    call_table::release(places);
    follow_load(core_.context.now());
}

void worker_calls::assign(call& next, time_point now) {
    auto* const one = &next;
    send({&one, 1}, now);
}

void worker_calls::assign_batch(std::span<call* const> batch, time_point now) {
    auto& outbox = core_.link->data().outbox();
    const auto begin = outbox.text().size();
    try {
        send(batch, now);
    } catch (...) {
        if (batch.front()->id == 0) { // a worker waits for all of a batch
            outbox.truncate(begin);
        }
        throw;
    }
}

/// Returns the names of the tools that the call may use.
std::vector<std::string> worker_calls::tools_of(const call& sent_call) const {
    auto names = core_.surroundings.tools.names();
    const auto* const extras = sent_call.extras();
    if (extras != nullptr && extras->tools) {
        for (const auto& each : *extras->tools) {
            names.push_back(each.first);
        }
    }
    return names;
}

void worker_calls::send(std::span<call* const> batch, time_point now) {
    auto& connection = *core_.link;
    auto& data = connection.data();
    const bool waits = is_full();
    std::vector<std::string> tools;
    lending::turn lent(memory_);
    make_room(batch.size()); // a sent frame must be in the table
    auto begin = data.appended();
    auto id = next_id();
    for (const auto* const next : batch) {
        call_dispatch facts;
        facts.batch = {next_id(), batch.size()};
        if (next->deadline != time_point::max()) {
            facts.left = next->deadline - now;
            const bool may_come_late = waits || core_.context.has_nodes;
            facts.sent_after =
                may_come_late ? std::optional<duration>(now - connection.welcomed()) : std::nullopt;
        }
        if (core_.context.has_nodes) {
            tools = tools_of(*next);
            facts.tools_for_node = &tools;
        }
        if (!next->req.attachments().empty() && memory_.is_open()) {
            const auto most = room_for_places(next->body, core_.config.limits);
            facts.places = lent.lend(next->req.attachments(), most);
        }
        begin = data.appended();
        if (received_.results().has_released() && next == batch.back()) { // after which nothing fails
            append_releasing(id, *next, facts);
        } else {
            append_call(data.outbox(), id++, next->body, next->req, facts);
        }
    }
    lent.keep();
    for (auto* const next : batch) {
        next->id = next_id();
        next->batch_size = static_cast<std::uint32_t>(batch.size());
        next->is_recalled = next->is_seen = false;
        next->begun = waits ? time_point::max() : now;
        add(*next, begin, next != batch.front()); // a batch begins when its last frame has come
    }
    auto& first = *batch.front();
    follow_load(now, &first);
    last_assigned_ = first.is_private ? last_assigned_ : now;
    if (load() == 1 || data.outbox().size() >= write_bytes) {
        data.flush(); // the worker is idle, or can begin during further work here: every microsecond counts
    } else {
        connection.flush_soon(core_.self.shared_from_this());
    }
}

/// Appends the call, with the released places of results.
void worker_calls::append_releasing(std::uint64_t id, const call& sent_call, call_dispatch& facts) {
    const auto most = room_for_released(sent_call.body, sent_call.req, core_.config.limits);
    facts.released = received_.results().released(most);
    append_call(core_.link->data().outbox(), id, sent_call.body, sent_call.req, facts);
    received_.results().keep_released();
}

void worker_calls::assign_private(call& next) {
    next.is_private = true;
    next.state = call_state::running;
    next.attempts = 1;
    next.submitted = next.dispatched = core_.context.now();
    assign(next, next.submitted);
}

void worker_calls::abandon_private(call& abandoned_call) noexcept {
    abandoned_call.state = call_state::abandoned;
    tools_.cancel(abandoned_call);
}

void worker_calls::cancel(const call& abandoned_call) {
    tools_.cancel(abandoned_call);
    append_cancel(core_.link->control().outbox().text(), abandoned_call.id);
    core_.link->control().flush();
}

void worker_calls::grant(const call& running_call, stream_credit more) {
    const auto released = received_.results().released(room_for_released(core_.config.limits));
    append_credit(core_.link->control().outbox().text(), running_call.id, more, released);
    received_.results().keep_released();
    core_.link->control().flush();
}

/// Returns the number of calls that may be pipelined. With the setting `automatic`, only a worker that gives
/// calls back gets calls ahead. While a call is recalled, the running calls are unknown.
std::size_t worker_calls::most_ahead() const noexcept {
    if (core_.config.pipeline_depth) {
        return *core_.config.pipeline_depth;
    }
    const auto most = gives_back_ && !is_any_recalled() ? skep::most_ahead(slowest()) : 0;
    return most == 0 || is_late(core_.context.now()) ? 0 : most;
}

bool worker_calls::recall_if_late(time_point now) {
    const bool has_pipelined = load() > capacity();
    const bool is_due = has_pipelined && is_late(now);
    if (is_due) {
        slow_down();
        recall();
    }
    return has_pipelined && !is_due;
}

/// A session's call stays in the order of its session, and a lease's call in its place. An abandoned call is
/// cancelled already.
void worker_calls::recall() {
    if (!gives_back_ || core_.config.pipeline_depth) {
        return;
    }
    auto& control = core_.link->control();
    for_each_pipelined([&](call& each) {
        const bool is_movable =
            each.state == call_state::running && !each.is_private && !each.has_session() && !each.is_leased();
        if (is_movable && !each.is_recalled) {
            append_recall(control.outbox().text(), each.id);
            call_table::recall(each);
        }
    });
    control.flush();
}

std::string worker_calls::correlation_id_of(const call& sent_call) const {
    if (sent_call.extras() != nullptr && !sent_call.req.correlation_id().empty()) {
        return sent_call.req.correlation_id();
    }
    std::array<char, correlation_size + 20> text;
    auto* const digits = std::copy(correlation_.begin(), correlation_.end(), text.begin());
    const auto end = std::to_chars(digits, text.end(), sent_call.id).ptr;
    return {text.begin(), end};
}

std::vector<std::string> worker_calls::correlation_ids() const {
    std::vector<std::string> ids;
    const auto most = std::min(begun(), most_listed); // the rest is pipelined
    for_each(most, [&](const call& each) { ids.push_back(correlation_id_of(each)); });
    return ids;
}

std::string worker_calls::session_of(std::string_view correlation_id) const {
    std::string session;
    const auto most = std::min(begun(), most_listed);
    for_each(most, [&](const call& each) {
        if (each.has_session() && correlation_id_of(each) == correlation_id) {
            session = each.req.session();
        }
    });
    return session;
}

reply worker_calls::reply_to(const call& answered_call, result_message& answer, time_point now) const {
    reply result{.value = std::move(answer.value),
                 .attachments = std::move(answer.attachments),
                 .worker = core_.id,
                 .correlation_id = correlation_id_of(answered_call),
                 .queue_time = answered_call.dispatched - answered_call.submitted,
                 .run_time = now - answered_call.dispatched,
                 .attempts = answered_call.attempts};
    if (core_.context.has_nodes) {
        describe_node_in(result, answer.from_node.get());
    }
    return result;
}

/// The time that the links take counts as time of the run.
void worker_calls::describe_node_in(reply& new_reply, const node_answer* facts) const {
    new_reply.node = core_.node;
    if (facts == nullptr) {
        return;
    }
    new_reply.worker = facts->worker.value_or(core_.id);
    new_reply.attempts += facts->attempts - 1;
    const auto wait = std::min(facts->wait, new_reply.run_time);
    new_reply.queue_time += wait;
    new_reply.run_time -= wait;
}

error_info worker_calls::failure_of(const call& answered_call, error_message& answer) const {
    error_info info;
    info.node = core_.node;
    info.worker = core_.id;
    if (core_.context.has_nodes && answer.from_node) {
        info.worker = answer.from_node->worker;
        info.attempts = answer.from_node->attempts;
        info.wait_time = answer.from_node->wait;
    }
    info.correlation_id = correlation_id_of(answered_call);
    info.remote_type = std::move(answer.type);
    info.remote_message = std::move(answer.message);
    info.remote_traceback = std::move(answer.traceback);
    info.remote_code = std::move(answer.code);
    info.remote_data = std::move(answer.data);
    return info;
}

/// The states in events follow one another: older transitions are announced first.
void worker_calls::announce_flip(time_point now, const call* subject) noexcept {
    core_.announce_transitions();
    if (core_.life.readiness().is_full()) {
        core_.context.publish<events::capacity_reached>([&] {
            return events::capacity_reached{core_.id, load(), reserved(), capacity()};
        });
    }
    core_.context.publish<events::worker_transition>([&] {
        auto told = event_of(*core_.life.machine().flips(now, core_.context.wall_now()), core_.id);
        if (subject != nullptr) {
            told.metadata["command"] = subject->req.command();
            told.metadata["correlation_id"] = correlation_id_of(*subject);
            if (subject->has_session()) {
                told.metadata["session"] = subject->req.session();
            }
        }
        return told;
    });
}

call_ptr worker_calls::take_answered(std::uint64_t id, time_point now) {
    auto answered = take(id);
    if (!answered) {
        throw protocol_violation("an answer to call " + std::to_string(id) + ", which it does not have");
    }
    begin_next(now);
    follow_load(now, answered.get());
    tools_.drop(*answered);
    return answered;
}

call_ptr worker_calls::take_recalled(std::uint64_t id, time_point now) {
    const auto* const recalled = find(id);
    if (recalled == nullptr || !recalled->is_recalled) {
        throw protocol_violation("it gives back call " + std::to_string(id) + ", which was not recalled");
    }
    if (recalled->is_seen) {
        throw protocol_violation("it gives back call " + std::to_string(id) + ", which it has begun");
    }
    return take_answered(id, now);
}

void worker_calls::begin_tool(const call_ptr& caller, tool_call_message& message) {
    if (received_.results().has_released()) { // the call may go on for long
        grant(*caller, stream_credit{});
    }
    tools_.start(caller, message, correlation_id_of(*caller)); // may answer at once
}

/// Ends all calls without an answer. Only for a dead worker with all answers read can the host tell the calls
/// that never began; see call_table.
void worker_calls::lose() {
    tools_.close();
    const bool is_heard_out = core_.link && core_.life.process().has_ended && core_.link->has_heard_out();
    const auto may_have_begun = is_heard_out ? begun() : size();
    if (core_.link) {
        core_.link->data().stop_sending(); // calls returned as unsent must not be sent later
    }
    record_lost(may_have_begun);
    const bool is_by_place = is_one_place(may_have_begun) && is_end_by_call();
    loss_ = {may_have_begun, is_by_place && may_have_begun == 1, is_by_place && may_have_begun > 1};
    core_.announce(calls_lost{});
}

/// The end counts more than the names of the calls: these may lack memory.
void worker_calls::record_lost(std::size_t count) noexcept {
    if (count > 0) { // else the calls were lost before
        try {
            lost_calls_ = name_first(count);
        } catch (const std::bad_alloc&) {}
    }
}

unanswered_calls worker_calls::unanswered() const {
    return loss_ ? lost_calls_ : name_first(begun());
}

unanswered_calls worker_calls::name_first(std::size_t count) const {
    unanswered_calls calls;
    calls.count = count;
    for_each(std::min(count, most_named), [&](const call& each) {
        calls.named.push_back({each.req.command(), correlation_id_of(each)});
    });
    return calls;
}

/// Returns true if the worker ended in a way that a single call can cause.
bool worker_calls::is_end_by_call() const noexcept {
    const bool lied = core_.life.leaves_for(departure_cause::protocol_error);
    const bool grew = core_.life.leaves_for(departure_cause::memory_limit) &&
                      core_.self.recycling().has_grown_by_oldest_call();
    return lied || grew || is_crash(core_.life.process().verdict.kind);
}

std::optional<lost_call_notice> worker_calls::take_lost() {
    while (!empty()) {
        auto last = take_last();
        if (last.sent->is_private) {
            last.sent->sink->put_loss();
        } else {
            const bool may_have_begun =
                size() < loss_->may_have_begun && core_.link->data().sent() > last.begin;
            return lost_call_notice{std::move(last.sent), may_have_begun, loss_->is_one_to_blame,
                                    loss_->is_batch_suspect && may_have_begun};
        }
    }
    return std::nullopt;
}

} // namespace skep
