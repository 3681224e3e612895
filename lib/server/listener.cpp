// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/listener.hpp"

#include "process/host_connection.hpp"
#include "process/standard_error.hpp"
#include "wire/answer_messages.hpp"
#include "wire/protocol_violation.hpp"

#include <array>
#include <utility>

namespace skep {

namespace {

constexpr int exit_protocol_error = 76;

} // namespace

listener::listener(int input_fd, int watched_fd, shared_output& output, const call_counters& counters,
                   call_services& services, message_handler on_messages)
    : input_(input_fd, watched_fd),
      output_(output),
      counters_(counters),
      services_(services),
      on_messages_(std::move(on_messages)),
      frames_(limits_of_input()),
      thread_([this] { listen(); }) {}

listener::~listener() {
    input_.interrupt();
    thread_.join();
}

void listener::listen() {
    try {
        while (const auto count = input_.read(frames_.prepare())) {
            if (*count == 0) {
                leave_as_host_is_gone();
            }
            handle(*count);
        }
    } catch (const protocol_violation& violation) {
        leave_as_host_breaks_protocol(violation.what());
    }
}

void listener::handle(std::size_t count) {
    frames_.commit(count);
    std::vector<host_message> rest;
    while (const auto frame = frames_.next()) {
        auto message = messages_.decode(*frame);
        if (const auto* const ping = std::get_if<ping_message>(&message)) {
            pong(*ping);
            continue;
        }
        if (const auto* const recall = std::get_if<recall_message>(&message)) {
            give_back(*recall);
            continue;
        }
        if (const auto* const cancel = std::get_if<cancel_message>(&message)) {
            services_.cancelled.add(cancel->id);
        } else if (const auto* const welcome = std::get_if<welcome_message>(&message)) {
            frames_.set_limits(limits_of_input(welcome->limits));
        }
        rest.push_back(std::move(message));
    }
    if (!rest.empty()) {
        on_messages_(std::move(rest));
    }
}

void listener::pong(const ping_message& ping) {
    std::string frame;
    append_pong(frame, {ping.sequence, counters_.in_flight, counters_.completed});
    send(frame);
}

/// Says nothing of a call that has begun: its answer comes.
void listener::give_back(const recall_message& recall) {
    if (services_.recalled.recall(recall.id)) {
        std::string frame;
        append_recalled(frame, recall.id);
        send(frame);
    }
}

void listener::send(const std::string& frame) {
    const std::array<std::string_view, 1> whole{frame};
    if (!output_.write(whole)) {
        leave_as_host_is_gone();
    }
}

frame_limits limits_of_input(const worker_limits& limits) {
    return {limits.frame_bytes, limits.json_bytes};
}

void leave_as_host_breaks_protocol(std::string_view violation) {
    write_to_standard_error("skep: the host broke the protocol: " + std::string(violation) + "\n");
    leave(exit_protocol_error);
}

} // namespace skep
