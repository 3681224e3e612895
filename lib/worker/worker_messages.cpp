// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a worker does with the messages it gets.

#include "policy/remote_error.hpp"
#include "wire/host_messages.hpp"
#include "wire/protocol_violation.hpp"
#include "worker/answers.hpp"
#include "worker/worker.hpp"

#include <algorithm>
#include <type_traits>

namespace skep {

void worker::on_message(worker_message& message) {
    std::visit(
        [this](auto& content) {
            using type = std::decay_t<decltype(content)>;
            if constexpr (std::is_same_v<type, result_message>) {
                on_result(content);
            } else if constexpr (std::is_same_v<type, chunk_message>) {
                on_chunk(content);
            } else if constexpr (std::is_same_v<type, error_message>) {
                on_error(content);
            } else if constexpr (std::is_same_v<type, progress_message>) {
                on_progress(content);
            } else if constexpr (std::is_same_v<type, tool_call_message>) {
                on_tool_call(content);
            } else if constexpr (std::is_same_v<type, pong_message>) {
                on_pong(content);
            } else if constexpr (std::is_same_v<type, event_message>) {
                records_.take(content);
            } else if constexpr (std::is_same_v<type, log_message>) {
                on_log(content);
            } else if constexpr (std::is_same_v<type, hello_message>) {
                on_hello(content);
            } else {
                on_ready();
            }
        },
        message);
}

void worker::on_sign_of_life() {
    if (heartbeat_) {
        heartbeat_->heard();
    }
}

void worker::on_backlog_shrunk() {
    tools_.go_on(tools());
    if (takes_calls()) {
        tell_room();
    }
}

void worker::on_data_ended(std::string stray) {
    life_.data_ended(std::move(stray));
    wake_.open();
}

void worker::on_broken(failure what) {
    report(std::move(what));
}

void worker::on_hello(hello_message& hello) {
    if (hello.protocol != protocol_version) {
        throw protocol_violation("it speaks protocol version " + std::to_string(hello.protocol) +
                                 ", this host " + std::to_string(protocol_version) +
                                 "; update the older side");
    }
    const bool is_over_stdio = !link_->has_control(); // which nobody else can write to: it gets no token
    if (!is_over_stdio && hello.token != origin_.token) {
        throw protocol_violation("its token is not the one it was started with");
    }
    // What starts or forwards the worker would die of the signal. Over stdio the pid may be of another machine.
    const bool is_our_process = !is_over_stdio && hello.pid == life_.pid();
    life_.greeted(is_our_process ? hello.stack_signal : 0);
    is_measured_ = process_->measure(hello.pid);
    health_.introduce(hello);
    calls_.set_capacity(std::min<std::size_t>(around_.config.capacity, hello.capacity));
    append_welcome(link_->control().outbox().text(),
                   {id_, around_.config.heartbeat, around_.config.limits, calls_.capacity(), correlation_,
                    origin_.predecessor_ended_as});
    link_->control().flush();
    tools_.open(link_->control(), id_);
}

void worker::on_ready() {
    if (life_.is_over()) {
        return;
    }
    if (initialization_.is_wanted()) {
        service_.spawn(shared_from_this(), warm_up());
    } else {
        begin_service();
    }
}

void worker::begin_service() {
    const auto self = shared_from_this();
    const auto now = around_.context.now();
    life_.came_up(at());
    tell(came_up{}); // before anything that may fail
    follow_load(now);
    around_.context.tell<events::worker_ready>([&] {
        return events::worker_ready{id_, life_.pid(), now - origin_.asked_for};
    });
    const double for_age = around_.context.random();
    const double for_calls = around_.context.random();
    const auto resident =
        around_.config.recycle.hard_memory != 0 ? look_at_memory(now) : process_->resident_bytes();
    recycle_.emplace(around_.config.recycle, now, for_age, for_calls, resident);
    if (health_.begin(now)) {
        service_.spawn(self, health_.run());
    }
    if (around_.config.heartbeat.enabled) {
        heartbeat_.emplace(around_.config.heartbeat, now);
        service_.spawn(self, beat());
    }
    wake_.open();
}

void worker::on_result(result_message& result) {
    const auto now = around_.context.now();
    const auto answered = take_call(result.id, now);
    if (answered->is_private) {
        answered->sink->put_answer(reply_to(*answered, *this, result, now));
        end_private();
        return;
    }
    count_answer();
    watch_begun_in_vain();
    health_.answered(now);
    around_.answers.on_result(*this, *answered, result, now);
    after_answer();
}

void worker::on_chunk(chunk_message& piece) {
    auto* const receiver = calls_.find(piece.id);
    if (receiver == nullptr || receiver->stream == nullptr) {
        throw protocol_violation("a chunk of call " + std::to_string(piece.id) +
                                 ", which is no stream that it has");
    }
    if (!receiver->stream->window.receive(static_cast<std::int64_t>(piece.bytes))) {
        throw protocol_violation("a chunk of call " + std::to_string(piece.id) + " without credit for it");
    }
    around_.answers.on_chunk(*receiver, piece);
}

void worker::on_error(error_message& error) {
    const auto now = around_.context.now();
    const auto answered = take_call(error.id, now);
    if (answered->is_private) {
        const auto code = code_of_remote_error(error.type);
        answered->sink->put_failure({code, remote_failure(*this, *answered, error)});
        end_private();
        return;
    }
    count_answer();
    watch_begun_in_vain();
    ++tally_.errors;
    health_.failed_call(error, now);
    around_.answers.on_remote_error(*this, *answered, error);
    after_answer();
}

void worker::on_progress(progress_message& message) {
    auto* const subject = calls_.find(message.id);
    if (subject == nullptr) {
        throw protocol_violation("progress of call " + std::to_string(message.id) +
                                 ", which it does not have");
    }
    if (subject->ties && subject->ties->progress && subject->state == call_state::running) {
        subject->ties->progress->put(std::move(message.report));
    }
}

void worker::on_tool_call(tool_call_message& asked) {
    const call_ptr caller(calls_.find(asked.id));
    if (!caller) {
        throw protocol_violation("a tool call during call " + std::to_string(asked.id) +
                                 ", which it does not have");
    }
    around_.context.tell<events::tool_called>([&] {
        return events::tool_called{id_, asked.name, caller->req.command(), correlation_id_of(*caller)};
    });
    tools_.take(tools(), caller, asked, correlation_id_of(*caller));
}

void worker::on_pong(const pong_message& pong) {
    if (!heartbeat_ || !heartbeat_->answered(pong.sequence)) {
        throw protocol_violation("an unexpected pong");
    }
    around_.context.tell<events::pong_received>([&] {
        return events::pong_received{id_, around_.context.now() - heartbeat_->sent_at(pong.sequence)};
    });
    if (pong.sequence <= tally_.awaited_pong) {
        tell_room(); // who waits for it looks again
    }
}

void worker::on_log(const log_message& said) {
    if (records_.admit()) {
        const std::string_view separator = said.logger.empty() ? "" : ": ";
        for (const std::string_view part : {std::string_view(said.logger), separator,
                                            std::string_view(said.text), std::string_view("\n")}) {
            process_->add_to_tail(part); // where a Python program's own handler would have printed it
        }
        around_.answers.on_log(*this, said);
    }
}

/// Calls given up by their callers stay in the table until they are answered.
call_ptr worker::take_call(std::uint64_t id, time_point now) {
    auto answered = calls_.take(id);
    if (!answered) {
        throw protocol_violation("an answer to call " + std::to_string(id) + ", which it does not have");
    }
    follow_load(now, answered.get());
    tools_.drop(*answered);
    return answered;
}

void worker::end_private() {
    watch_begun_in_vain();
    show_drained();
    tell_room();
}

void worker::count_answer() {
    ++tally_.completed;
    if (recycle_->is_used_up(tally_.completed) && !recycle_->is_used_up(tally_.completed - 1)) {
        tell(used_up{});
    }
}

/// The place of an answered call, also of a private one, may go to one whose caller gave it up while it was behind.
void worker::watch_begun_in_vain() {
    auto* const begun = calls_.just_begun();
    const bool is_in_vain = begun != nullptr && begun->state == call_state::abandoned && !begun->is_private;
    if (is_in_vain && begun->heap_place == deadline_node::outside) {
        around_.answers.on_begun_in_vain(*begun);
    }
}

void worker::after_answer() {
    if (!life_.takes_calls()) {
        show_drained();
        end_if_drained();
        if ((life_.is(obstacle::doubted) || life_.is(obstacle::due)) && is_probeable()) {
            health_.look();
        }
    }
}

} // namespace skep
