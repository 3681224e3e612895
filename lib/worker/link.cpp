// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/link.hpp"

#include "async/checkpoint.hpp"
#include "wire/protocol_violation.hpp"
#include "wire/stray_output.hpp"

#include <boost/asio/post.hpp>

#include <new>
#include <string>
#include <utility>

namespace skep {

namespace {

// A frame with longer JSON is read in steps of about this estimated cost, in nanoseconds.
constexpr std::size_t longest_at_once = 8u << 10;
constexpr std::size_t cost_of_step = 100'000;

bool is_recalled(const worker_message& message) noexcept {
    return std::holds_alternative<recalled_message>(message);
}

bool is_release(const worker_message& message) noexcept {
    return std::holds_alternative<release_message>(message);
}

bool is_request_for_region(const worker_message& message) noexcept {
    return std::holds_alternative<region_message>(message);
}

bool is_record(const worker_message& message) noexcept {
    return std::holds_alternative<event_message>(message) || std::holds_alternative<log_message>(message);
}

talk kind_of(const worker_message& message) noexcept {
    if (is_answer(message) || is_recalled(message) || is_release(message)) {
        return talk::answer;
    }
    return std::holds_alternative<tool_call_message>(message) ? talk::tool_call : talk::unasked;
}

/// Thrown if memory is lacking for a message. The worker decides the size of a message.
struct message_exceeds_memory {};

template <class Act>
auto within_memory(Act act) {
    try {
        return act();
    } catch (const std::bad_alloc&) {
        throw message_exceeds_memory();
    }
}

} // namespace

link::inlet::inlet(const strand& executor, std::unique_ptr<byte_stream> connection,
                   const limit_options& limits)
    : source(executor, std::move(connection), limits), no_pause(executor) {}

link::link(const pool_context& context, std::unique_ptr<byte_stream> data,
           std::unique_ptr<byte_stream> control, const limit_options& limits, link_user& user)
    : context_(context), user_(user), data_(context.executor, std::move(data), limits) {
    if (control) {
        control_.emplace(context.executor, std::move(control), limits);
    }
}

void link::start(task_group& tasks, const std::shared_ptr<void>& owner) {
    tasks.spawn(owner, read(data_));
    tasks.spawn(owner, write(data_.source, "data"));
    if (control_) {
        tasks.spawn(owner, read(*control_));
        tasks.spawn(owner, write(control_->source, "control"));
    }
}

void link::flush_soon(const std::shared_ptr<void>& owner) {
    if (flush_scheduled_) {
        return;
    }
    asio::post(context_.executor, [this, owner = owner] {
        flush_scheduled_ = false;
        data_.source.flush();
    });
    flush_scheduled_ = true;
}

void link::stop_sending_calls() noexcept {
    if (control_) { // else calls and control messages share the channel, and no frame may be cut off
        data_.source.stop_sending();
    }
}

void link::close() noexcept {
    data_.source.close();
    if (control_) {
        control_->source.close();
    }
    end_pauses();
}

void link::end_pauses() noexcept {
    data_.no_pause.open();
    if (control_) {
        control_->no_pause.open();
    }
}

asio::awaitable<void> link::read(inlet& input) {
    const bool is_data = &input == &data_;
    bool more = true;
    while (more) {
        std::size_t count = 0;
        try {
            count = co_await input.source.receive(input.told.most_to_read());
            more = input.source.accept(count);
        } catch (const std::bad_alloc&) { // no memory for the arrived data
            more = false;
            report_size();
        }
        if (is_data) {
            heard_out_ = !more;
            user_.on_sign_of_life(); // before the messages: the ready message answers no ping
        }
        input.told.begin_turn(count);
        auto outcome = handle_messages(input);
        if (outcome == taken::up_to_large) {
            outcome = co_await handle_large(input);
        }
        more = more && outcome == taken::all;
        if (input.told.is_to_be_charged()) {
            co_await pause_if_flooded(input);
        }
    }
    if (is_data) {
        user_.on_data_ended(stray());
    }
    auto text = std::string("it closed its ") + (is_data ? "data" : "control") + " channel";
    user_.report({departure_cause::lost_channel, std::move(text), errc::worker_lost});
}

/// Pauses reading from a worker that sends too much, to leave time for others.
asio::awaitable<void> link::pause_if_flooded(inlet& input) {
    const auto now = context_.now();
    const auto go_on = input.told.charge(now);
    if (go_on > now) {
        input.is_paused = true;
        co_await input.no_pause.wait_until(go_on);
        input.is_paused = false;
    }
}

/// A channel that cannot be written to may still be readable.
asio::awaitable<void> link::write(channel& target, const char* name) {
    bool more = true;
    while (more) {
        more = co_await target.send_backlog();
        user_.on_backlog_shrunk();
    }
    const auto text = std::string("its ") + name + " channel cannot be written to";
    user_.report({departure_cause::lost_channel, text, errc::worker_lost});
}

/// Handles the arrived messages, up to a large message.
link::taken link::handle_messages(inlet& input) {
    return guarded([&] {
        while (const auto frame = input.source.next()) {
            if (frame->json.size() > longest_at_once) {
                input.source.begin(*frame);
                return taken::up_to_large;
            }
            auto message = within_memory([&] { return input.source.decode(*frame); });
            handle(input, std::move(message), *frame);
        }
        return taken::all;
    });
}

/// Handles the large message in steps, between which others have their turn, and then the messages behind.
asio::awaitable<link::taken> link::handle_large(inlet& input) {
    auto outcome = taken::up_to_large;
    while (outcome == taken::up_to_large) {
        auto step = [&] {
            const bool is_read = within_memory([&] { return input.source.read_on(cost_of_step); });
            return is_read ? taken::all : taken::up_to_large;
        };
        outcome = guarded(step);
        if (outcome == taken::all) {
            auto finish = [&] {
                auto message = within_memory([&] { return input.source.finish(); });
                handle(input, std::move(message), input.source.large());
                return taken::all;
            };
            outcome = guarded(finish);
            outcome = outcome == taken::all ? handle_messages(input) : outcome;
        }
        if (outcome == taken::up_to_large) {
            co_await end_turn();
            outcome = input.source.is_closed() ? taken::in_part : outcome;
        }
    }
    co_return outcome;
}

void link::handle(inlet& input, worker_message&& message, const frame_view& frame) {
    if (const auto* const objection = objection_to(message, &input != &data_)) {
        throw protocol_violation(objection);
    }
    go_on(message);
    const auto kind = kind_of(message);
    input.told.record(kind, kind == talk::answer ? 0 : input.source.cost_of(message, frame));
    user_.on_message(message);
}

void link::report_size() {
    user_.report({departure_cause::lost_channel, "there was no memory for what it sent", errc::worker_lost});
}

/// Returns the result of `act`, or `in_part` if the worker broke the protocol or memory was lacking: reading
/// then ends.
template <class Act>
link::taken link::guarded(Act act) {
    try {
        return act();
    } catch (const protocol_violation& violation) {
        const auto printed = stray();
        const auto* const why = printed.empty() ? violation.what() : printed.c_str();
        user_.report({departure_cause::protocol_error, why, errc::protocol_error});
        return taken::in_part;
    } catch (const message_exceeds_memory&) {
        report_size();
        return taken::in_part;
    }
}

/// Returns the text found in place of a frame over stdio, or an empty text. Such text explains more than the
/// broken rule.
std::string link::stray() const {
    const auto line = control_ ? std::string() : stray_output(data_.source.unread());
    return line.empty() ? line
                        : "something printed to its stdout, over which only frames may go: \"" + line + '"';
}

/// Returns the objection to this message on this channel at this time, or nullptr.
const char* link::objection_to(const worker_message& message, bool is_control) const noexcept {
    const bool is_early_record = is_record(message) && phase_ == phase::greeting;
    const bool is_for_control = std::holds_alternative<pong_message>(message) || is_recalled(message) ||
                                is_release(message) || is_request_for_region(message) || is_record(message);
    if (is_control) {
        return is_early_record ? "a record before its hello"
               : is_for_control
                   ? nullptr
                   : "only pong, recalled, release, region, event and log may come over the control channel";
    }
    if (is_for_control) {
        return has_control()
                   ? "pong, recalled, release, region, event and log may come over the control channel only"
               : is_early_record ? "a record before its hello"
                                 : nullptr;
    }
    if (std::holds_alternative<hello_message>(message)) {
        return phase_ == phase::greeting ? nullptr : "a second hello";
    }
    if (std::holds_alternative<ready_message>(message)) {
        return phase_ == phase::starting ? nullptr : "an unexpected ready";
    }
    return nullptr; // an answer: the calls decide
}

void link::go_on(const worker_message& message) noexcept {
    if (std::holds_alternative<hello_message>(message)) {
        phase_ = phase::starting;
        welcomed_ = context_.now();
    } else if (std::holds_alternative<ready_message>(message)) {
        phase_ = phase::serving;
    }
}

} // namespace skep
