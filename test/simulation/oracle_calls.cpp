// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// How calls end: with what they were owed, and not without a reason.

#include "core/text.hpp"
#include "policy/recovery.hpp"
#include "policy/remote_error.hpp"
#include "simulation/oracle.hpp"

#include <algorithm>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

std::string name_of(errc code) {
    return make_error_code(code).message();
}

} // namespace

void oracle::on_begun_call(call_record& call) {
    const spared_by_faults here;
    call.begun = true;
    call.submitted = world_.now();
    call.born_at_step = world_.steps();
    open_.insert(call.number);
    world_.trace(call.token + " is made" + (call.session.empty() ? "" : ", of " + call.session));
}

void oracle::on_failed(call_record& call, const std::exception_ptr& problem) {
    const spared_by_faults here;
    try {
        std::rethrow_exception(problem);
    } catch (const error& failure) {
        on_error(call, failure);
    } catch (const boost::system::system_error&) {
        on_aborted(call);
    } catch (const std::exception& other) {
        complete(call);
        if (!out_of_memory()) {
            wrong(about(call) + " ended with a foreign exception: " + other.what());
        }
    }
}

std::optional<error> oracle::on_operation_ended(const std::string& name, const std::exception_ptr& problem) {
    const spared_by_faults here;
    try {
        if (problem) {
            std::rethrow_exception(problem);
        }
        world_.trace(name + " is done");
    } catch (const error& failure) {
        world_.trace(name + " ends with: " + failure.what());
        return failure;
    } catch (const std::exception& other) {
        world_.trace(name + " ends with: " + other.what());
    }
    return std::nullopt;
}

void oracle::on_shutdown_failed(const std::exception_ptr& problem) {
    const spared_by_faults here;
    if (!out_of_memory()) {
        wrong("shutdown failed: " + text_of(problem));
    }
}

duration oracle::longest_shutdown() const {
    const auto& stop = config_.stop;
    return stop.drain_timeout + stop.shutdown_grace + stop.term_grace + stop.reap_timeout +
           stop.stack_dump_timeout + 750ms +
           (config_.initialization.delegate ? config_.initialization.after_end_timeout : 0ms);
}

void oracle::on_report(const shutdown_report& report) {
    const spared_by_faults here;
    if (report.took > longest_shutdown() && !late() && !out_of_memory()) {
        wrong("shutdown says that it took " + std::to_string(report.took / 1ms) + " ms");
    }
    report_ = report;
}

/// At rest, when every caller has its answer.
void oracle::check_report() {
    if (!report_) {
        return;
    }
    std::uint64_t aborted = 0;
    for (const auto& each : calls_) {
        const bool has_failed = each.completed && !each.succeeded;
        const bool was_left = each.is_stream && each.code == errc::cancelled; // in that moment, perhaps
        const bool lacked_memory = each.code == errc() && !each.aborted;      // for the exception
        const bool shut = has_failed && (each.code == errc::shutting_down ||
                                         each.code == errc::out_of_memory || was_left || lacked_memory);
        aborted += shut && (each.submitted <= *shutdown_asked_ || each.outer != nullptr) ? 1 : 0;
    }
    if (report_->calls_aborted > aborted + resets_begun()) {
        wrong("the report tells of " + std::to_string(report_->calls_aborted) + " calls aborted, but it is " +
              std::to_string(aborted));
    }
    std::uint64_t drained = 0;
    for (const auto& each : calls_) {
        const bool was_open = each.begun && each.submitted <= *shutdown_asked_ &&
                              (!each.completed || *each.completed >= *shutdown_asked_);
        const bool was_aborted = each.completed && !each.succeeded && each.code == errc::shutting_down;
        drained += was_open && !was_aborted ? 1 : 0;
    }
    if (report_->calls_drained > drained + resets_begun()) {
        wrong("the report tells of " + std::to_string(report_->calls_drained) + " calls drained, but it is " +
              std::to_string(drained));
    }
    const auto report = *std::exchange(report_, std::nullopt);
    for (const auto& each : report.workers) {
        check_exit(each);
    }
}

void oracle::check_exit(const worker_exit& told) {
    const auto* const real = find(told.id);
    if (real == nullptr) {
        wrong("the pool tells of " + to_string(told.id) + ", which never was");
        return;
    }
    const auto took = [&](stop_stage stage) {
        return std::any_of(told.stages.begin(), told.stages.end(),
                           [stage](const auto& each) { return each.stage == stage; });
    };
    const bool is_gone_unforced = real->exited && real->status == told.status;
    const bool may_be_unknown = out_of_memory() && !told.status.known();
    if (real->exited && real->reaps > 0 && !is_gone_unforced && !may_be_unknown) {
        wrong("the pool says that " + real->name() + " ended with " + to_string(told.status));
    }
    if (!out_of_memory() &&
        ((took(stop_stage::terminate) && !real->terminated) || (took(stop_stage::kill) && !real->killed) ||
         (took(stop_stage::ask) && !real->asked && !real->has_had_backlog() && !real->did_wrong))) {
        wrong("the pool says that " + real->name() + " needed '" + std::string(to_string(told.stage())) +
              "', which it has not seen");
    }
    if (!out_of_memory() && !real->start_failed && told.stages.empty() && !real->did_wrong) {
        wrong("the pool says that " + real->name() + " ended by itself");
    }
}

void oracle::complete(call_record& call) {
    if (++call.completions > 1) {
        wrong(about(call) + " was completed twice");
    }
    call.completed = world_.now();
    if (!world_.is_in_time(std::max(call.deadline(), call.submitted), world_.now()) && !out_of_memory()) {
        wrong(about(call) + " was completed after its deadline");
    }
}

/// Chunks come in order, each once, all from the worker that has the call.
void oracle::on_chunk(call_record& call, const chunk& piece) {
    const spared_by_faults here;
    const auto& value = piece.value.as_object();
    const bool is_next = value.at("n").to_number<std::size_t>() == call.received;
    const bool is_its = value.at("token").as_string() == call.token && !call.visits.empty() &&
                        value.at("worker").as_string() == call.visits.back().at->name();
    if (!is_next || !is_its) {
        wrong(about(call) + " got a chunk of another, or not the next one");
    }
    for (const auto& each : piece.attachments) {
        const auto letter = static_cast<std::byte>('a' + each.size() % 26);
        if (each != blob(std::vector<std::byte>(each.size(), letter))) {
            wrong(about(call) + " got another attachment of a chunk than its worker sent");
        }
    }
    ++call.received;
}

/// Its caller has had enough of a stream.
void oracle::on_left(call_record& call) {
    const spared_by_faults here;
    world_.trace(call.token + " is left");
    call.cancelled = call.cancelled.value_or(world_.now());
    call.cancelled_how = boost::asio::cancellation_type::terminal;
    call.code = errc::cancelled;
    complete(call);
}

void oracle::on_credit(const sim_worker& of, stream_credit left) {
    if (left.chunks > static_cast<std::int64_t>(config_.stream.window) ||
        left.bytes > static_cast<std::int64_t>(config_.stream.window_bytes)) {
        wrong(of.name() + " was granted more than the window of a stream");
    }
}

void oracle::on_reply(call_record& call, const reply& answer) {
    const spared_by_faults here;
    if (call.is_stream && call.received != call.chunks) {
        wrong(about(call) + " has got " + std::to_string(call.received) + " of " +
              std::to_string(call.chunks) + " chunks");
    }
    world_.trace(call.token + " has its reply");
    call.succeeded = true;
    complete(call);
    const auto* const by = find(answer.worker);
    call.replied = by;
    const auto* const value = answer.value.if_object();
    if (by == nullptr || value == nullptr || value->at("token").as_string() != call.token ||
        value->at("worker").as_string() != by->name() || answer.correlation_id != call.correlation) {
        wrong(about(call) + " got the reply of another");
        return;
    }
    const auto& stay = call.visits[visit_at(*by, call)];
    if (stay.at != by || !stay.delivered || !stay.error.empty()) {
        wrong(about(call) + " got a reply that its worker has not sent");
    }
    if (&stay != &call.visits.back()) {
        wrong(about(call) + " got a reply of a worker that had lost it");
    }
    bool is_whole = answer.attachments.size() == call.blobs.size();
    for (std::size_t i = 0; is_whole && i < call.blobs.size(); ++i) {
        const auto letter = static_cast<std::byte>('a' + call.blobs[i] % 26);
        is_whole = answer.attachments[i] == blob(std::vector<std::byte>(call.blobs[i], letter));
    }
    if (!is_whole) {
        wrong(about(call) + " got other attachments than its worker sent");
    }
    const auto begun = std::count_if(call.visits.begin(), call.visits.end(),
                                     [](const auto& each) { return each.begun.has_value(); });
    const bool was_in_batch = std::any_of(call.visits.begin(), call.visits.end(),
                                          [](const auto& each) { return each.batch_size > 1; });
    const int most = config_.retry.attempts + (was_in_batch ? 1 : 0); // a crashed batch is one more
    if (answer.attempts < begun || answer.attempts > most) {
        wrong(about(call) + " was begun by " + std::to_string(begun) + " workers, and tells of " +
              std::to_string(answer.attempts));
    }
    if (!call.idempotent && answer.attempts != 1) { // only what nobody has begun is sent again
        wrong(about(call) + " tells of " + std::to_string(answer.attempts) + " attempts");
    }
    const auto took = *call.completed - call.submitted;
    if (answer.queue_time < 0s || answer.run_time < 0s || answer.queue_time + answer.run_time != took) {
        wrong(about(call) + " took " + std::to_string(took / 1us) + " us, not as long as it tells");
    }
}

void oracle::on_aborted(call_record& call) {
    if (call.was_opened) { // between two chunks
        on_left(call);
        return;
    }
    call.aborted = true;
    complete(call);
}

void oracle::on_error(call_record& call, const error& failure) {
    const auto code = failure.kind();
    world_.trace(call.token + " ends with: " + name_of(code));
    call.code = code;
    call.was_denied = failure.info().detail.find("not retried, as too many calls were") != std::string::npos;
    complete(call);
    check_code(call, failure);
    // Promise 2. What arrives in the very moment in which the call is given up for another reason may come
    // too late.
    const bool is_owed = !call.visits.empty() && call.visits.back().owed;
    if (is_owed && !was_answered_with(call, code) && *call.visits.back().delivered < *call.completed &&
        !out_of_memory()) {
        wrong(about(call) + " ended with '" + name_of(code) + "', though its answer had arrived");
    }
}

bool oracle::was_answered_with(const call_record& call, errc code) const {
    return std::any_of(call.visits.begin(), call.visits.end(), [&](const visit& each) {
        return each.delivered && !each.error.empty() && code_of_error(call, each) == code;
    });
}

/// What its caller is told when the worker has answered with an error.
errc oracle::code_of_error(const call_record& call, const visit& stay) {
    const bool is_late = *stay.delivered >= call.deadline();
    return is_late ? code_of_late_error(stay.error, stay.error_code) : code_of_remote_error(stay.error);
}

/// Whether so many workers have failed while they were at that input that it may count as poison.
bool oracle::has_crashed_workers(const call_record& call) const {
    const auto was_at_it = [&](const auto& entry) {
        const auto& stay = entry.first->visits[entry.second];
        const bool was_heard = stay.delivered && !stay.at->lie_seen; // nobody listens to a liar any more
        const bool is_same = entry.first->command == call.command && entry.first->input == call.input &&
                             entry.first->session == call.session && entry.first->lease == call.lease;
        return is_same && !was_heard;
    };
    const auto crashed = std::count_if(workers_.begin(), workers_.end(), [&](const auto& each) {
        return each->did_wrong && (each->has_had_backlog() || // it may have had half of its frame
                                   std::any_of(each->calls().begin(), each->calls().end(), was_at_it));
    });
    return config_.crash_barrier.poison_crashes > 0 && crashed >= config_.crash_barrier.poison_crashes;
}

/// What may be the matter, and whether it was.
void oracle::check_code(const call_record& call, const error& failure) {
    const auto code = failure.kind();
    const auto unless = [&](bool possible) {
        if (!possible && !out_of_memory()) {
            wrong(about(call) + " ended with '" + failure.what() + "', which cannot be");
        }
    };
    switch (code) {
    case errc::remote_error:
    case errc::unknown_command:
    case errc::invalid_arguments: unless(was_answered_with(call, code)); break;
    case errc::pool_saturated:
        unless(call.lease != nullptr ? may_be_beyond_limit(call)
                                     : failure.info().queue_depth >= config_.queue.limit);
        break;
    case errc::queue_timeout:
    case errc::no_worker:
    case errc::timeout: check_time(call, failure); break;
    case errc::cancelled:
        if (call.lease != nullptr && call.lease->is_given_back) {
            break;
        }
        if (call.outer != nullptr) {
            ended_for_tools_.push_back(&call);
        } else {
            unless(call.cancelled.has_value() && !is_past_cancelling(call));
        }
        break;
    case errc::tool_cycle:
        unless(call.lease != nullptr ? is_nested_in_lease(call)
                                     : call.outer != nullptr && !has_idle_worker(call));
        break;
    case errc::worker_lost:
        check_lost(call);
        check_cause(call, failure);
        break;
    case errc::session_quota_exceeded:
        unless(call.is_strict() && sessions_besides(call.session, call.submitted) >= config_.affinity.limit);
        break;
    case errc::worker_busy: unless(call.is_strict() && call.mode == affinity_mode::strict_fail_fast); break;
    case errc::session_worker_unavailable: check_lost_to_session(call); break;
    case errc::invalid_request:
    case errc::frame_too_large: {
        const bool is_too_late = call.lease != nullptr && call.lease->is_given_back;
        unless((!call.sendable || is_too_late) && call.visits.empty());
        break;
    }
    case errc::not_started: unless(!running_ && !start_failed_); break;
    case errc::start_failed:
        unless(may_have_failed_to_start());
        check_start_failure(about(call), failure);
        break;
    case errc::shutting_down:
        if (call.outer != nullptr) {
            ended_for_tools_.push_back(&call);
        }
        unless(shutting_down_ && !is_to_be_drained(call));
        break;
    case errc::unavailable: unless(may_be_unavailable()); break;
    case errc::poisonous_request: unless(has_crashed_workers(call)); break;
    default: unless(false); break;
    }
    if (!call.sendable && code != errc::invalid_request && code != errc::frame_too_large) {
        unless(code == errc::not_started || code == errc::start_failed || code == errc::shutting_down);
    }
}

/// A worker has it, and the caller is content to wait for that.
bool oracle::is_past_cancelling(const call_record& call) {
    return !call.is_stream && call.cancelled_how == boost::asio::cancellation_type::total &&
           !call.visits.empty() && call.visits.back().sent < *call.cancelled &&
           !call.visits.back().at->is_lost();
}

/// A worker is at it that nothing is wrong with: shutdown() waits for it.
bool oracle::is_to_be_drained(const call_record& call) const {
    const auto limit = shutdown_asked_.value_or(world_.now()) + config_.stop.drain_timeout;
    return running_ && !destroyed_ && world_.now() < limit && call.submitted < *shutdown_asked_ &&
           !call.visits.empty() && !call.visits.back().at->is_lost();
}

/// Not before its time, and for a reason.
void oracle::check_time(const call_record& call, const error& failure) {
    const auto code = failure.kind();
    const bool deadline_passed = world_.now() >= call.deadline();
    const bool queue_time_passed = world_.now() >= after_limit(call.submitted, call.queue_timeout);
    const bool by_worker = code == errc::timeout && was_answered_with(call, code);
    const bool in_time = code == errc::timeout     ? deadline_passed || by_worker
                         : code == errc::no_worker ? deadline_passed || queue_time_passed
                                                   : queue_time_passed && !deadline_passed;
    // Both may have passed at once, or while the host stood still.
    if (!in_time && !(late() && deadline_passed) && !out_of_memory()) {
        wrong(about(call) + " ended with '" + name_of(code) + "' at the wrong time");
    }
}

void oracle::check_lost(const call_record& call) {
    if (call.lease != nullptr) {
        check_lost_with_lease(call);
        return;
    }
    const auto* const last_at = call.visits.empty() ? call.returned_by : call.visits.back().at;
    const bool is_lost = last_at != nullptr && last_at->is_lost();
    const bool may_be_unseen = std::any_of(workers_.begin(), workers_.end(), [](const auto& each) {
        return each->has_had_backlog() && each->is_lost(); // its frame was not sent whole
    });
    if (!is_lost && !may_be_unseen && !out_of_memory()) {
        wrong(about(call) + " was lost, though no worker that had it was");
    }
    const bool may_have_chunks =
        call.is_stream && !call.visits.empty() && call.visits.back().chunks_delivered > 0;
    const bool would_be_retried = call.idempotent && !call.is_strict() && !may_have_chunks &&
                                  config_.retry.budget == 0 && !shutting_down_ && running_ &&
                                  call.visits.size() < static_cast<std::size_t>(config_.retry.attempts);
    if (is_lost && !may_be_unseen && !out_of_memory() && would_be_retried) {
        wrong(about(call) + " was not sent again after " + std::to_string(call.visits.size()) + " of " +
              std::to_string(config_.retry.attempts) + " attempts");
    }
    if (is_lost && !may_be_unseen && !out_of_memory() && !call.visits.empty() && was_ahead(call)) {
        wrong(about(call) + " was lost with a worker that cannot have begun it");
    }
}

/// Of a worker that drains for its soft limit and is ended for its hard one, the hard one is told.
void oracle::check_cause(const call_record& call, const error& failure) {
    if (failure.info().worker && !out_of_memory()) {
        causes_of_loss_.emplace_back(*failure.info().worker, failure.info().detail);
    }
    const auto* const at = call.visits.empty() ? nullptr : call.visits.back().at;
    const bool was_ended_for_memory = at != nullptr && at->terminated && !at->asked && !destroyed_ &&
                                      config_.recycle.hard_memory > 0 &&
                                      at->resident() >= config_.recycle.hard_memory;
    if (was_ended_for_memory && failure.info().detail.find("its soft limit") != std::string::npos) {
        wrong(about(call) + " was told of the soft limit of " + at->name() + ", which the hard one ended");
    }
}

/// It was sent before: no stream that has begun is, it takes its time, and ends when it seems to be the call
/// that workers crash on.
void oracle::check_retry(const call_record& call) {
    if (call.visits.empty() || !call.visits.back().begun || out_of_memory()) {
        return;
    }
    if (call.received > 0) {
        wrong(about(call) + " was sent again though its caller has a chunk of it");
    }
    const auto& retry = config_.retry;
    const auto least = std::chrono::duration<double>(retry.backoff.back()) *
                       (retry.backoff.size() == 1 ? 1 - retry.jitter : 0);
    const bool is_suspect = call.visits.back().batch_size > 1; // which is to show at once what it does alone
    if (!is_suspect && world_.now() - call.visits.back().sent + 1us < least) {
        wrong(about(call) + " was sent again at once");
    }
    const bool one_at_a_time = std::max(config_.capacity, config_.threads_per_worker) == 1 &&
                               config_.pipeline_depth == 0; // else others may be to blame
    const auto crashed = std::count_if(call.visits.begin(), call.visits.end(), [](const visit& each) {
        return each.batch_size == 1 && was_surely_crash(each);
    });
    const auto most = config_.crash_barrier.poison_crashes;
    if (one_at_a_time && most > 0 && crashed >= most) {
        wrong(about(call) + " was sent again though " + std::to_string(crashed) +
              " workers have crashed on it");
    }
}

/// Whether its last worker died with as many earlier ones as it can be at.
bool oracle::was_ahead(const call_record& call) const {
    const auto& at = *call.visits.back().at;
    const bool given_up_alive = at.reaps == 0 || at.closed || (at.did_wrong && !at.exited_by_itself);
    const bool lied = at.lie_seen || at.plan().what == flaw::lies; // its last words may not have been read
    if (given_up_alive || lied || late()) {
        return false; // the pool cannot know
    }
    std::set<std::uint64_t> before; // places
    for (const auto& [other, index] : at.calls()) {
        const auto& stay = other->visits[index];
        if (!stay.delivered && !at.recalled.contains(stay.id) && stay.place < call.visits.back().place) {
            before.insert(stay.place);
        }
    }
    return before.size() >= at.capacity();
}

} // namespace skep::simulation
