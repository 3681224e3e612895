// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/pool_status.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace skep {

namespace {

constexpr std::string_view colours = "    classDef healthy fill:#2e7d32,color:#ffffff\n"
                                     "    classDef unhealthy fill:#c62828,color:#ffffff\n"
                                     "    classDef unknown fill:#757575,color:#ffffff\n";

worker_state state_at(std::size_t index) {
    return static_cast<worker_state>(index);
}

template <class Function>
void for_each_state(Function function) {
    for (std::size_t i = 0; i < worker_state_count; ++i) {
        function(state_at(i));
    }
}

std::string node(const worker_status& worker, std::size_t number) {
    auto name = std::string("w");
    name += std::to_string(number); // as one expression, GCC 12 gives a false warning
    auto text = "    " + name;
    text += "[\"" + to_string(worker.id);
    text += "<br/>" + std::string(to_string(worker.state));
    text += worker.retiring ? ", leaving" : "";
    text += "<br/>" + std::to_string(worker.load) + " of " + std::to_string(worker.capacity) + " calls\"]\n";
    text += "    pool --> " + name + "\n";
    return text + "    class " + name + " " + std::string(to_string(worker.health)) + "\n";
}

} // namespace

std::string states_to_mermaid(const pool_status& status) {
    std::string text = "stateDiagram-v2\n";
    for_each_state([&](worker_state state) {
        const auto count = std::count_if(status.workers.begin(), status.workers.end(),
                                         [=](const auto& each) { return each.state == state; });
        const std::string name(to_string(state));
        text += "    state \"" + name + " (" + std::to_string(count) + ")\" as " + name + "\n";
    });
    text += "    [*] --> created\n";
    for_each_state([&](worker_state old_state) {
        for_each_state([&](worker_state new_state) {
            if (is_legal(old_state, new_state)) {
                text += "    " + std::string(to_string(old_state)) + " --> " +
                        std::string(to_string(new_state)) + "\n";
            }
        });
        text += is_terminal(old_state) ? "    " + std::string(to_string(old_state)) + " --> [*]\n" : "";
    });
    return text;
}

std::string to_mermaid(const pool_status& status) {
    std::string text = "flowchart LR\n    pool[\"" + status.name + "<br/>" +
                       std::string(to_string(status.phase)) + ", " + std::to_string(status.live) + " of " +
                       std::to_string(status.desired) + " workers<br/>" + std::to_string(status.in_flight) +
                       " calls, " + std::to_string(status.queued) + " waiting\"]\n";
    for (std::size_t i = 0; i < status.workers.size(); ++i) {
        text += node(status.workers[i], i);
    }
    return text += colours;
}

} // namespace skep
