// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/node_news.hpp"

namespace skep::simulation {

void node_news::hear(const event& what) {
    std::visit([this](const auto& fact) { on(fact); }, static_cast<const detail::any_event&>(what));
}

void node_news::expect(bool holds, const std::string& what) {
    if (!holds && !world_.has_lacked_memory()) {
        world_.violated(client_ + ": " + what);
    }
}

void node_news::on(const events::request_finished& call) {
    ++calls_[{call.node, call.outcome}];
}

void node_news::on(const events::node_joined& node) {
    expect(present_.insert(node.node).second, node.node + " joins twice");
}

void node_news::on(const events::node_left& node) {
    expect(present_.erase(node.node) == 1, node.node + " leaves, and was not there");
}

void node_news::on(const events::node_ejected& node) {
    ejected_.insert(node.node);
    expect(++ejections_[node.node] == node.ejections, node.node + " counts its ejections wrongly");
}

void node_news::on(const events::node_readmitted& node) {
    expect(ejected_.erase(node.node) == 1, node.node + " is readmitted, and was not ejected");
}

void node_news::on(const events::link_opened& link) {
    expect(present_.contains(link.node), link.node + " has a link, and is not there");
    expect(links_.insert(link.worker).second, to_string(link.worker) + " is opened twice");
}

void node_news::on(const events::link_resumed& link) {
    expect(links_.contains(link.worker), to_string(link.worker) + " is resumed, and is not open");
    ++resumes_;
}

void node_news::end(const worker_id& worker) {
    expect(links_.erase(worker) == 1, to_string(worker) + " ends, and is not open");
}

void node_news::on(const events::bus_up&) {
    expect(!std::exchange(is_connected_, true), "the bus is up twice");
    ++connections_;
}

void node_news::on(const events::bus_down&) {
    expect(std::exchange(is_connected_, false), "the bus is down twice");
}

void node_news::check(const pool_metrics& figures) {
    check_calls(figures);
    expect(figures.status.remote.has_value(), "no nodes are shown");
    if (figures.status.remote) {
        check_nodes(*figures.status.remote);
    }
}

void node_news::check_calls(const pool_metrics& figures) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> shown;
    for (const auto& [node, calls] : figures.nodes) {
        if (calls.succeeded > 0) {
            shown[{node, "ok"}] = calls.succeeded;
        }
        for (const auto& [code, count] : calls.failed) {
            shown[{node, std::string(to_string(code))}] = count;
        }
    }
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    for (const auto& [key, count] : calls_) {
        const auto& [node, outcome] = key;
        (outcome == "ok" ? succeeded : failed) += count;
        expect(node.empty() || shown[key] == count, "of calls at " + node + " that end as " + outcome +
                                                        " the events know " + std::to_string(count) +
                                                        ", the figures " + std::to_string(shown[key]));
        shown.erase(key);
    }
    expect(shown.empty(), "the figures have calls that no event told");
    const auto& counters = figures.status.counters;
    expect(succeeded == counters.succeeded && failed == counters.failed,
           "the events know of other calls than the counters");
}

void node_news::check_nodes(const remote_status& remote) {
    expect(remote.is_connected == is_connected_, "events and status disagree about the connection");
    expect(remote.reconnects == connections_, "events and status disagree about the reconnects");
    expect(remote.links.resumes == resumes_, "events and status disagree about the resumed links");
    std::set<worker_id> shown;
    for (const auto& each : remote.nodes) {
        if (each.worker) {
            shown.insert(*each.worker);
            expect(present_.contains(each.name), each.name + " has a link, and has left");
        }
        expect(each.state == node_state::silent || each.state == node_state::draining ||
                   present_.contains(each.name),
               each.name + " is " + std::string(to_string(each.state)) + ", and has left");
        expect(ejections_[each.name] == each.ejections, "events and status disagree about ejections");
    }
    expect(shown == links_, "events and status disagree about the open links");
}

} // namespace skep::simulation
