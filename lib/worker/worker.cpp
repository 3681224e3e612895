// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker.hpp"

#include "core/text.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

namespace skep {

namespace {

// A dozen small calls. More in one write would save little, and leave the worker waiting for it.
constexpr std::size_t batch_bytes = 1500;

// With more calls at a time, a line of output tells nothing of any of them, and must not cost much.
constexpr std::size_t most_listed = 64;

// Of one worker, in its status.
constexpr std::size_t shown_calls = 8;
constexpr std::size_t shown_transitions = 8;

/// Tells the calls of one worker from those of others, in all likelihood.
std::string make_correlation(double chance) {
    std::array<char, 10> text{};
    std::snprintf(text.data(), text.size(), "%08x-", static_cast<unsigned>(chance * 0x1p32));
    return text.data();
}

} // namespace

worker::worker(const worker_surroundings& around, worker_id id, std::optional<worker_state_machine> begun)
    : around_(around),
      id_(std::move(id)),
      origin_{around.context.now(), around.context.make_token(), 0, std::nullopt},
      correlation_(make_correlation(around.context.random())),
      life_(around.config, around.context.present(), std::move(begun)),
      guests_(around.context.executor),
      initialization_(around.context, around.config, guests_, *this),
      health_(around.context, around.config, guests_, *this),
      tools_(around.context, around.config.limits, around.tools),
      records_(around.context, around.config.output, id_),
      told_{life_.machine().transitions() - 1}, // it is starting, which is news
      wake_(around.context.executor),
      tasks_(around.context.executor, [this](const std::exception_ptr& problem) { on_task_failed(problem); }),
      service_(around.context.executor,
               [this](const std::exception_ptr& problem) { on_task_failed(problem); }) {}

void worker::assign(call& next, time_point now) {
    auto& data = link_->data();
    const auto begin = data.appended();
    call_times times;
    if (next.deadline != time_point::max()) {
        times.left = next.deadline - now;
        times.sent_after = calls_.is_full() ? std::optional<duration>(now - link_->welcomed()) : std::nullopt;
    }
    append_call(data.outbox(), calls_.next_id(), next.body, next.req, times);
    next.id = calls_.next_id();
    next.at = this;
    calls_.add(next, begin);
    follow_load(now, &next);
    tally_.last_assigned = next.is_private ? tally_.last_assigned : now;
    if (calls_.load() == 1 || data.outbox().size() >= batch_bytes) {
        data.flush(); // it has nothing to do, or can begin while we go on: every microsecond counts
    } else {
        link_->flush_soon(shared_from_this());
    }
}

void worker::assign_private(call& next) {
    next.is_private = true;
    next.state = call_state::running;
    next.attempts = 1;
    next.submitted = next.dispatched = around_.context.now();
    assign(next, next.submitted);
}

std::string worker::correlation_id_of(const call& sent) const {
    const auto& given = sent.req.correlation_id();
    if (!given.empty()) {
        return given;
    }
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.begin(), digits.end(), sent.id).ptr;
    auto id = correlation_;
    id.append(digits.begin(), end);
    return id;
}

std::vector<std::string> worker::correlation_ids() const {
    std::vector<std::string> ids;
    const auto most = std::min(calls_.capacity(), most_listed); // the rest is pipelined
    calls_.for_each(most, [&](const call& each) { ids.push_back(correlation_id_of(each)); });
    return ids;
}

std::string worker::session_of(std::string_view correlation_id) const {
    std::string session;
    const auto most = std::min(calls_.capacity(), most_listed);
    calls_.for_each(most, [&](const call& each) {
        if (each.has_session() && correlation_id_of(each) == correlation_id) {
            session = each.req.session();
        }
    });
    return session;
}

void worker::cancel(const call& given_up) {
    tools_.cancel(given_up);
    append_cancel(link_->control().outbox().text(), given_up.id);
    link_->control().flush();
}

void worker::grant(const call& stream, stream_credit more) {
    append_credit(link_->control().outbox().text(), stream.id, more);
    link_->control().flush();
}

/// Only of a worker that is dead, and whose last answers are known, can be said what it has not begun; see call_table.
void worker::release_calls() {
    tools_.close();
    const bool is_heard_out = link_ && life_.has_ended() && link_->has_heard_out();
    const std::size_t may_have_begun = is_heard_out ? calls_.capacity() : calls_.load();
    if (link_) {
        link_->data().stop_sending(); // what is given back as not sent must not be sent after all
    }
    const bool was_alone = std::min(may_have_begun, calls_.load()) == 1;
    loss_ = {may_have_begun, was_alone && is_end_by_call()};
    tell(calls_lost{});
}

/// Whether it has ended as it ends when a call is too much for it.
bool worker::is_end_by_call() const noexcept {
    const bool lied = life_.leaves_for(departure_cause::protocol_error);
    const bool grew = life_.leaves_for(departure_cause::memory_limit) &&
                      growth_.is_of_oldest_call(around_.config.recycle.hard_memory);
    return lied || grew || is_crash(life_.verdict().kind);
}

std::optional<lost_call_notice> worker::take_lost_call() {
    while (!calls_.empty()) {
        auto last = calls_.take_last();
        if (last.sent->is_private) {
            last.sent->sink->put_loss();
        } else {
            const bool may_have_begun =
                calls_.load() < loss_->may_have_begun && link_->data().sent() > last.begin;
            return lost_call_notice{std::move(last.sent), may_have_begun, loss_->is_one_to_blame};
        }
    }
    return std::nullopt;
}

void worker::report(failure what) {
    const auto kind = what.kind;
    auto detail = what.detail;
    const auto action = life_.fail(std::move(what), at());
    tell_failure(kind, action, detail);
    if (action != recovery_action::none && action != recovery_action::abandon) {
        tell(went_wrong{kind, action, std::move(detail)});
        tell_room();
        health_.look();
    }
    follow_life();
    end_if_drained();
}

void worker::tell_failure(failure_kind kind, recovery_action action, const std::string& detail) const {
    if (action == recovery_action::none) { // it has failed before
        return;
    }
    const auto& context = around_.context;
    if (kind == failure_kind::protocol_error) {
        context.tell<events::protocol_error>([&] { return events::protocol_error{id_, detail}; });
    } else if (kind == failure_kind::heartbeat_lost) {
        context.tell<events::heartbeat_failed>([&] { return events::heartbeat_failed{id_}; });
    } else if (kind == failure_kind::probe_failed && action == recovery_action::replace) {
        context.tell<events::unhealthy_worker_terminated>([&] {
            return events::unhealthy_worker_terminated{id_, life_.pid(), detail};
        });
    }
}

void worker::retire(departure_cause why, std::string detail) {
    life_.retire(why, std::move(detail), at());
    follow_life();
    end_if_drained();
}

void worker::end_if_drained() {
    if (!life_.is_draining() || !calls_.is_drained() || !life_.was_up()) {
        return;
    }
    if (kind_of(life_.departure()->cause) != departure_kind::plan) {
        stop(stop_stage::terminate);
    } else if (calls_.is_deserted() || patience_for_first() == duration::zero()) {
        stop(stop_stage::ask);
    } else if (!lingers_) {
        service_.spawn(shared_from_this(), linger());
    }
}

/// How long it may take to end what is in front of calls that somebody waits for: calls given up, or a probe.
duration worker::patience_for_first() const noexcept {
    const auto& config = around_.config;
    return calls_.is_at_private() ? std::max(config.cancel_grace, config.health_check.timeout)
                                  : config.cancel_grace;
}

void worker::suspend() {
    if (life_.is_in_service() && !life_.is(obstacle::suspended)) {
        life_.suspend();
        tell_room();
        show_drained();
    }
}

void worker::resume() {
    if (life_.is(obstacle::suspended)) {
        life_.resume(health_.is_well(), at());
        health_.look();
        tell(was_resumed{});
        tell_room();
    }
}

/// Suspended means drained, but for a probe.
void worker::show_drained() {
    const bool is_drained = load() == (health_.is_probing() ? 1u : 0u);
    if (is_drained && life_.is(obstacle::suspended) && life_.drained(at())) {
        tell(was_suspended{});
    }
}

void worker::stop(stop_stage first) {
    life_.stop(first);
    follow_life();
}

void worker::kill() noexcept {
    if (link_) {
        link_->stop_sending_calls();
    }
    if (process_) {
        process_->kill();
    }
}

void worker::end_now() noexcept {
    if (process_) {
        process_->end_now();
    }
    if (link_) {
        link_->close();
    }
}

void worker::follow_life() {
    tell_transitions();
    if (life_.departure()) {
        if (!std::exchange(told_.has_left, true)) {
            tell(left_service{});
        }
        health_.look();
    }
    if (life_.is_over()) {
        service_.cancel();
        wake_.open();
    }
}

void worker::tell_transitions() noexcept {
    const auto& machine = life_.machine();
    const auto& history = machine.history();
    auto fresh = std::min<std::uint64_t>(machine.transitions() - told_.transitions, history.size());
    told_.transitions = machine.transitions();
    for (; fresh > 0; --fresh) {
        const auto& passed = history[history.size() - fresh];
        around_.context.tell<events::worker_transition>([&] { return told_of(passed, id_); });
    }
}

/// The states that an event tells of follow one another: what is older is told first.
void worker::tell_flip(time_point now, const call* subject) noexcept {
    tell_transitions();
    if (life_.is_full()) {
        around_.context.tell<events::capacity_reached>([&] {
            return events::capacity_reached{id_, load(), calls_.reserved(), capacity()};
        });
    }
    around_.context.tell<events::worker_transition>([&] {
        auto told = told_of(*life_.machine().flips(now, around_.context.wall_now()), id_);
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

events::worker_transition told_of(const transition& passed, const worker_id& who) {
    return {who, passed.from, passed.to, passed.reason, passed.time_in_state, passed.code, passed.metadata};
}

void describe_life(worker_status& status, const worker_state_machine& life, moment at) {
    status.state = life.state();
    status.health = life.health();
    status.started_at = life.started_at();
    status.updated_at = life.updated_at(at.now, at.wall);
    status.availability = life.availability();
    const auto& history = life.history();
    const auto latest = life.flips(at.now, at.wall);
    const auto shown = std::min(history.size(), shown_transitions - (latest ? 1u : 0u));
    status.transitions.assign(history.end() - static_cast<std::ptrdiff_t>(shown), history.end());
    if (latest) {
        status.transitions.push_back(*latest);
    }
    if (!status.transitions.empty()) {
        status.last_transition = status.transitions.back();
    }
}

void worker::tell(decltype(worker_event::fact) fact) {
    tell_transitions();
    around_.events.append({shared_from_this(), std::move(fact)});
}

bool worker::is_probeable() const noexcept {
    const bool may_be_beside_calls = life_.is(obstacle::doubted) || health_.is_own() || health_.is_asked();
    const bool has_place = may_be_beside_calls ? !calls_.is_full() : calls_.empty();
    return life_.is_in_service() && (health_.is_probing() || (!life_.is(obstacle::suspended) && has_place));
}

void worker::expect_probe(bool is_due) {
    if (life_.is(obstacle::due) != is_due) {
        life_.expect_probe(is_due);
        tell_room();
    }
}

void worker::restore() {
    const bool was_degraded = life_.is(obstacle::degraded);
    life_.restore(at());
    if (was_degraded) {
        tell(was_restored{});
    }
    tell_room();
}

void worker::dispel_doubt() {
    if (life_.is(obstacle::doubted)) {
        life_.dispel_doubt();
        tell_room(); // now it may get calls again, if it is well
    }
}

recycle_plan::verdict worker::judge_recycling(time_point now, bool with_memory) {
    if (!recycle_ || life_.is_over()) {
        return {};
    }
    const auto resident = with_memory ? look_at_memory(now) : 0;
    return recycle_->judge(now, tally_.completed, resident, tally_.last_assigned != time_point());
}

std::uint64_t worker::look_at_memory(time_point now) {
    const auto resident = process_->resident_bytes();
    const auto* const oldest = calls_.oldest();
    growth_.look(resident, now, oldest != nullptr ? std::optional(oldest->dispatched) : std::nullopt);
    return resident;
}

std::uint64_t worker::output_lines_dropped() const noexcept {
    return (process_ ? process_->output_lines_dropped() : 0) + records_.dropped();
}

error_info worker::describe() const {
    error_info info;
    info.pool = id_.pool;
    info.worker = id_;
    info.pid = life_.pid();
    info.status = life_.status();
    info.exit_kind = life_.verdict().kind;
    info.exit_evidence = life_.verdict().evidence;
    info.stacks = to_utf8(stacks_);
    info.detail = life_.departure() ? life_.departure()->detail : std::string();
    if (process_) {
        info.output_tail = to_utf8(process_->output_tail());
    }
    return info;
}

worker_status worker::status(time_point now) const {
    worker_status result;
    result.id = id_;
    result.pid = life_.pid();
    describe_life(result, life_.machine(), {now, around_.context.wall_now()});
    result.retiring = life_.departure().has_value();
    if (life_.is_over()) {
        result.availability = availability_view::dead;
    }
    result.load = load();
    result.leased = calls_.reserved();
    result.sessions = tally_.sessions;
    result.strict_sessions = tally_.bound_sessions;
    result.capacity = capacity();
    result.completed = tally_.completed;
    result.errors = tally_.errors;
    result.uptime = uptime(now);
    result.resident_bytes = process_ && !life_.has_ended() ? process_->resident_bytes() : 0;
    calls_.for_each(shown_calls, [&](const call& each) {
        if (!each.is_private) {
            result.calls.push_back(
                {each.req.command(), correlation_id_of(each), each.req.session(), now - each.dispatched});
        }
    });
    result.last_probe = health_.last();
    if (recycle_due() != time_point::max()) {
        result.recycle_in = std::max(duration::zero(), duration(recycle_due() - now));
    }
    return result;
}

worker_exit worker::exit() const {
    return {id_, life_.pid(), life_.state(), life_.status(), life_.stages()};
}

} // namespace skep
