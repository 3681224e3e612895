// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/worker.hpp"

#include "core/clock.hpp"
#include "core/exception_text.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cmath>

namespace skep {

namespace {

// A dozen small calls. More in one write would save little, and leave the worker waiting for it.
constexpr std::size_t batch_bytes = 1500;

} // namespace

worker::worker(const pool_context& context, const pool_config& config, worker_id id, runtime& starter,
               worker_events& events, const pool_log& log)
    : context_(context),
      config_(config),
      id_(std::move(id)),
      runtime_(starter),
      events_(events),
      log_(log),
      machine_(clock::now(), context_.wall_now()),
      token_(context.make_token()),
      tasks_(context.executor, [this](std::exception_ptr error) { fail(errc::worker_lost, text_of(error)); }),
      wake_(context.executor),
      beat_now_(context.executor),
      launch_over_(context.executor),
      look_now_(context.executor),
      probe_over_(context.executor) {}

bool worker::is_ahead(const call& which) const noexcept {
    return load() > capacity_ && which.id >= (calls_.begin() + static_cast<std::ptrdiff_t>(capacity_))->first;
}

void worker::assign(call& next, time_point now) {
    calls_.reserve(calls_.size() + 1); // what may fail comes before the frame is in the outbox
    const auto begin = data_->appended();
    call_times times;
    if (next.deadline != time_point::max()) {
        times.left = next.deadline - now;
        times.sent_after = load() >= capacity_ ? std::optional<duration>(now - welcomed_) : std::nullopt;
    }
    append_call(data_->outbox(), next_id_, next.body, next.req, times);
    next.id = next_id_++;
    next.at = this;
    calls_.emplace(next.id, flight{call_ptr(&next), begin});
    last_assigned_ = next.is_probe ? last_assigned_ : now;
    if (calls_.size() == 1 || data_->outbox().size() >= batch_bytes) {
        data_->flush(); // it has nothing to do, or can begin while we go on: every microsecond counts
    } else {
        schedule_flush();
    }
}

/// A worker with something to do can wait for the end of this turn, so that frames share a write.
void worker::schedule_flush() {
    if (flush_scheduled_) {
        return;
    }
    asio::post(context_.executor, [self = shared_from_this()] {
        self->flush_scheduled_ = false;
        self->data_->flush();
    });
    flush_scheduled_ = true;
}

void worker::cancel(const call& which) {
    append_cancel(control_->outbox(), which.id);
    control_->flush();
}

void worker::retire(retirement why) {
    if (is_leaving()) {
        return; // for the reason that came first
    }
    if (is_unplanned(why)) {
        machine_.set_health(worker_health::unhealthy, context_.wall_now());
    }
    retired_ = std::move(why);
    leave_service();
}

void worker::stop(stop_rung first) {
    stopping_ = stopping_ || !is_over();
    if (!stop_from_ || first > *stop_from_) {
        stop_from_ = first;
        leave_service();
        wake_.open();
        beat_now_.open();
        look_now_.open();
        probe_over_.open();
        launch_over_.open();
    }
}

bool worker::is_drained() const noexcept {
    const auto begun = static_cast<std::ptrdiff_t>(std::min(load(), capacity_));
    return std::all_of(calls_.begin(), calls_.begin() + begun,
                       [](const auto& entry) { return entry.second.which->state == call_state::abandoned; });
}

std::uint64_t worker::output_lines_dropped() const noexcept {
    return process_ ? process_->output_lines_dropped() : 0;
}

error_info worker::describe() const {
    error_info info;
    info.pool = id_.pool;
    info.worker = id_;
    info.pid = pid_;
    info.status = status_;
    info.exit_kind = verdict_.kind;
    info.exit_evidence = verdict_.evidence;
    info.stacks = stacks_;
    if (failure_) {
        info.detail = failure_->detail;
    } else if (retired_) {
        info.detail = retired_->reason;
    }
    if (process_) {
        info.output_tail = process_->output_tail();
    }
    return info;
}

worker_status worker::status(time_point now) {
    show_load();
    worker_status result;
    result.id = id_;
    result.pid = pid_;
    result.state = machine_.state();
    result.health = machine_.health();
    result.retiring = left_service_;
    result.load = load();
    result.capacity = capacity_;
    result.completed = completed_;
    result.errors = errors_;
    result.uptime = uptime(now);
    result.resident_bytes = process_ && !process_ended_ ? process_->resident_bytes() : 0;
    if (!machine_.history().empty()) {
        result.last_transition = machine_.history().back();
    }
    if (recycle_due() != time_point::max()) {
        result.recycle_in = std::max(duration::zero(), duration(recycle_due() - now));
    }
    return result;
}

worker_exit worker::exit() const {
    return {id_, pid_, machine_.state(), status_, rungs_};
}

void worker::fail(errc code, std::string detail) {
    if (is_over()) {
        return;
    }
    failure_ = worker_failure{code, std::move(detail)};
    machine_.set_health(worker_health::unhealthy, context_.wall_now());
    leave_service();
    wake_.open();
    beat_now_.open();
    look_now_.open();
    probe_over_.open();
}

void worker::leave_service() {
    if (!left_service_) {
        left_service_ = true;
        in_service_ = false;
        events_.on_out_of_service(*this);
    }
}

void worker::move_to(worker_state state, std::string reason) {
    show_load();
    const auto ec = machine_.move_to(state, std::move(reason), clock::now(), context_.wall_now());
    if (ec) {
        log_(log_level::error, to_string(id_) + ": " + ec.message());
    }
}

/// Busy means load == capacity. Seen only when somebody looks: a note for each call would cost time and push
/// everything else out of the history.
void worker::show_load() {
    const bool full = capacity_ > 0 && load() >= capacity_;
    const auto state = machine_.state();
    if ((state == worker_state::ready && full) || (state == worker_state::busy && !full)) {
        machine_.move_to(full ? worker_state::busy : worker_state::ready, full ? "at capacity" : "has room",
                         clock::now(), context_.wall_now());
    }
}

void worker::on_message(hello_message& hello) {
    if (said_hello_) {
        throw protocol_violation("a second hello");
    }
    if (hello.protocol != protocol_version) {
        throw protocol_violation("it speaks protocol version " + std::to_string(hello.protocol) +
                                 ", this host " + std::to_string(protocol_version) +
                                 "; update the older side");
    }
    if (hello.token != token_) {
        throw protocol_violation("its token is not the one it was started with");
    }
    said_hello_ = true;
    probe_command_ = config_.health_check.command.empty() ? hello.health_check : config_.health_check.command;
    own_health_check_ =
        hello.own_health_check || !config_.health_check.command.empty() || config_.health_check.probe;
    stack_signal_ = hello.pid == pid_ ? hello.stack_signal : 0; // a wrapper would die of it
    capacity_ = std::min<std::size_t>(config_.capacity, hello.capacity);
    welcomed_ = clock::now();
    append_welcome(control_->outbox(), id_, config_.heartbeat, config_.limits, previous_exit_);
    control_->flush();
}

void worker::on_message(ready_message&) {
    if (!said_hello_ || was_ready()) {
        throw protocol_violation("an unexpected ready");
    }
    if (is_over()) {
        return;
    }
    ready_since_ = clock::now();
    in_service_ = true;
    machine_.set_health(worker_health::healthy, context_.wall_now());
    move_to(worker_state::ready, "handshake complete");
    recycle_.emplace(config_.recycle, *ready_since_, context_.random(), context_.random());
    if (config_.health_check.enabled && has_probe()) {
        health_.emplace(config_.health_check, *ready_since_ - probe_phase());
        tasks_.spawn(shared_from_this(), watch_health());
    }
    if (config_.heartbeat.enabled) {
        heartbeat_.emplace(config_.heartbeat, clock::now());
        tasks_.spawn(shared_from_this(), beat());
    }
    log_(log_level::info, to_string(id_) + " ready, pid " + std::to_string(pid_));
    wake_.open();
    events_.on_ready(*this);
}

/// Workers that came up together must not all be at their probes together: they are spread over half an interval.
duration worker::probe_phase() const {
    constexpr double golden_ratio = 0.6180339887;
    const double share = std::fmod(golden_ratio * id_.slot, 1.0) / 2;
    return std::chrono::duration_cast<duration>(config_.health_check.interval * share);
}

void worker::on_message(result_message& result) {
    const auto which = take_call(result.id);
    if (which->is_probe) {
        settle_probe({});
        return;
    }
    hand_on(which, [&] {
        count_answer();
        if (health_) {
            health_->answered(clock::now());
        }
        events_.on_result(*this, *which, result);
    });
    after_answer();
}

void worker::on_message(error_message& error) {
    const auto which = take_call(error.id);
    if (which->is_probe) {
        settle_probe(error.type + ": " + error.message);
        return;
    }
    hand_on(which, [&] {
        count_answer();
        note_error(error);
        events_.on_remote_error(*this, *which, error);
    });
    after_answer();
}

void worker::after_answer() {
    show_suspension();
    if (probe_wanted_ && is_probeable()) {
        look_now_.open();
    }
}

/// The call is no longer in the table: if its answer cannot be handed on, for lack of memory, it is lost here.
template <class Function>
void worker::hand_on(const call_ptr& which, Function&& answer) {
    try {
        answer();
    } catch (...) {
        events_.on_call_lost(*this, which, true);
        throw;
    }
}

void worker::on_message(pong_message& pong) {
    if (!heartbeat_ || !heartbeat_->answered(pong.sequence)) {
        throw protocol_violation("an unexpected pong");
    }
}

/// Calls given up by their callers stay in the table until they are answered, so an id that is not there was
/// never given out, or has been answered before.
call_ptr worker::take_call(std::uint64_t id) {
    const auto found = calls_.find(id);
    if (found == calls_.end()) {
        throw protocol_violation("an answer to call " + std::to_string(id) + ", which it does not have");
    }
    auto which = std::move(found->second.which);
    calls_.erase(found);
    return which;
}

void worker::count_answer() {
    ++completed_;
    if (!used_up_ && recycle_->is_used_up(completed_)) {
        used_up_ = true;
        events_.on_used_up(*this);
    }
    if (load() >= capacity_) {
        auto& begun = *(calls_.begin() + static_cast<std::ptrdiff_t>(capacity_ - 1))->second.which;
        if (begun.state == call_state::abandoned && !begun.is_probe &&
            begun.heap_place == deadline_node::outside) {
            events_.on_begun_in_vain(*this, begun);
        }
    }
}

} // namespace skep
