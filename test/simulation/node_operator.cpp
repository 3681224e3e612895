// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/node_operator.hpp"

#include "remote/subjects.hpp"

#include <chrono>
#include <string_view>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view inbox_of_operator = "_INBOX.operator.";
constexpr duration between_requests = 1s;

} // namespace

node_operator::node_operator(world& around, sim_bus& server) : world_(around), wire_(server.connect(*this)) {
    wire_.subscribe(std::string(inbox_of_operator) + "*");
}

void node_operator::drain(const std::string& node, duration span) {
    begin(node, node_action::drain);
    world_.after(span, [this, node] { begin(node, node_action::undrain); });
}

void node_operator::restart(const std::string& node) {
    begin(node, node_action::restart);
}

/// A new wish takes the place of one without an answer.
void node_operator::begin(const std::string& node, node_action action) {
    wishes_[node] = {++numbers_, action};
    ask(node, numbers_);
}

void node_operator::ask(const std::string& node, std::size_t number) {
    const auto found = wishes_.find(node);
    if (is_over_ || found == wishes_.end() || found->second.number != number) {
        return;
    }
    world_.trace("the operator asks " + node + " for: " + std::string(to_string(found->second.action)));
    wire_.publish(admin_subject("default", node), std::string(inbox_of_operator) + std::to_string(number), {},
                  encode_node_request(found->second.action));
    world_.after(between_requests, [this, node, number] { ask(node, number); });
}

void node_operator::on_message(const bus_message& message) {
    const auto answer = decode_action_outcome(message.body);
    if (!answer) {
        return;
    }
    const auto number = message.subject.substr(inbox_of_operator.size());
    std::erase_if(wishes_, [&](const auto& each) { return std::to_string(each.second.number) == number; });
}

} // namespace skep::simulation
