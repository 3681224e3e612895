// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How calls end: one, or all of them.

#include "pool/call_events.hpp"
#include "pool/call_tracing.hpp"
#include "pool/dispatcher.hpp"

#include <new>

namespace skep {

void dispatcher::fail_unsent(call& unsent, const char* problem) {
    error_info info;
    try {
        info.detail = problem;
    } catch (const std::bad_alloc&) { // which it was most likely
    }
    fail(unsent, errc::invalid_request, std::move(info));
}

std::size_t dispatcher::fail_queue(errc code, const error_info& info) {
    leases_.refuse_checkouts(code, info); // calls are left
    const auto count = queued();
    while (!queue_.empty()) {
        fail(static_cast<call&>(queue_.oldest()), code, info);
    }
    while (!delayed_.empty()) {
        fail(delayed_.front(), code, info);
    }
    leases_.refuse_calls(code, info);
    return count;
}

void dispatcher::refuse_checkouts(errc code) {
    leases_.refuse_checkouts(code);
    for (std::uint32_t slot = 0; slot < placement_.slots(); ++slot) {
        serve_slot(slot);
    }
    serve_all();
}

std::size_t dispatcher::abort_all(errc code) {
    const auto count = running_.size() + fail_queue(code, {});
    abort_running(code);
    return count;
}

void dispatcher::abort_running(errc code, const error_info& info) {
    while (!running_.empty()) {
        abandon(running_.front(), code, info);
    }
}

void dispatcher::forget_callers() noexcept {
    const auto forget = [](claim& each) { each.forget(); };
    leases_.forget_callers();
    queue_.for_each(forget);
    delayed_.for_each(forget);
    running_.for_each(forget);
}

asio::awaitable<void> dispatcher::drain(time_point limit) {
    bool in_time = true;
    while (in_time && queued() + running_.size() > 0) {
        drained_.close();
        in_time = co_await drained_.wait_until(limit);
    }
}

/// Answers the caller now; the worker has cancel_grace to notice.
void dispatcher::abandon(call& running, errc code, error_info info) {
    const call_ptr keep(&running);
    if (running.state == call_state::stranded) {
        fail(running, code, std::move(info));
        return;
    }
    auto& at = *running.at;
    info.worker = at.id();
    const bool uses_session = std::exchange(running.uses_session, false);
    fail(running, code, std::move(info));
    running.uses_session = uses_session; // until the worker is done with it
    running.state = call_state::abandoned;
    at.cancel(running);
    if (!at.is_pipelined(running)) { // else the worker will skip it, and nothing is wrong with the worker
        grant_grace(running);
    }
}

void dispatcher::fail(call& failed, errc code, error_info info) {
    const call_ptr keep(&failed);
    const auto now = context_.now();
    try {
        info.pool = config_.name;
        info.command = failed.req.command();
        info.attempts = failed.attempts;
        if (info.correlation_id.empty()) {
            info.correlation_id = correlation_id_of(failed);
        }
        info.queue_depth = queue_.size();
        describe_load(info, now);
        info.wait_time = (failed.attempts > 0 ? failed.dispatched : now) - failed.submitted;
    } catch (const std::bad_alloc&) { // it tells less
    }
    claim_failure failure(code, std::move(info));
    count_failure(code);
    tell_failed(failed, code);
    note_end(failed, now, code);
    take_out(failed, now);
    failed.sink->put_failure(std::move(failure));
}

/// What keeps those who wait from being served.
void dispatcher::describe_load(error_info& info, time_point now) {
    info.running_calls = running_.size();
    if (!running_.empty()) {
        const auto& oldest = running_.front();
        info.oldest_command = oldest.req.command();
        info.oldest_run_time = now - oldest.dispatched;
    }
}

std::size_t dispatcher::waiting_with(const call& of) const noexcept {
    const auto* const lease = lease_of(of);
    return lease != nullptr ? lease->waiting.size() : queue_.size();
}

void dispatcher::tell_failed(const call& failed, errc code) const {
    if (failed.state == call_state::queued) {
        tell_left_queue(context_, config_.name, failed, code);
    }
    if (code == errc::pool_saturated) {
        tell_saturated(context_, config_, waiting_with(failed));
    }
}

void dispatcher::note_end(const call& over, time_point now, const std::optional<errc>& code) noexcept {
    const auto times = time_spent_at(over, now);
    figures_.record(over.req.command(), times, code);
    tell_finished(context_, config_.name, over, times, code);
    tell_spans(context_, config_.name, over, times, code);
}

void dispatcher::count_failure(errc code) noexcept {
    ++counters_.failed;
    counters_.remote_errors += code == errc::remote_error ? 1 : 0;
    counters_.rejected += code == errc::pool_saturated ? 1 : 0;
    counters_.queue_timeouts += code == errc::queue_timeout || code == errc::no_worker ? 1 : 0;
    counters_.timeouts += code == errc::timeout ? 1 : 0;
    counters_.cancelled += code == errc::cancelled ? 1 : 0;
    counters_.poisonous += code == errc::poisonous_request ? 1 : 0;
}

/// The call is over: takes it out of wherever it is.
void dispatcher::take_out(call& over, time_point now) {
    const call_ptr keep(&over);
    switch (over.state) {
    case call_state::queued:
        if (auto* const lease = lease_of(over)) {
            leases_.remove(over, *lease);
        } else {
            queue_.remove(over);
            over.slot.reset();
        }
        break;
    case call_state::delayed: delayed_.remove(over); break;
    case call_state::running:
    case call_state::stranded: running_.end(over, now); break;
    default: break;
    }
    over.state = call_state::done;
    end_session_use(over, now);
    deadlines_.remove(over);
    show_drained();
}

void dispatcher::show_drained() {
    if (queued() + running_.size() == 0 && !drained_.is_open()) {
        drained_.open();
    }
}

} // namespace skep
