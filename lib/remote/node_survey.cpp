// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_survey.hpp"

#include "async/latch.hpp"
#include "async/pause.hpp"
#include "process/token.hpp"
#include "remote/subjects.hpp"

#include <map>
#include <memory>
#include <utility>

namespace skep {

namespace {

/// The program on the bus that hears the nodes.
class node_listener final : private bus_user {
public:
    node_listener(const strand& executor, survey_plan plan, const bus_factory& connect)
        : executor_(executor),
          plan_(std::move(plan)),
          answers_(plan_.inbox + "." + make_token()),
          connected_(executor),
          bus_(connect(executor, *this)) {}

    asio::awaitable<node_survey> run() {
        bus_->subscribe(load_subject(plan_.domain));
        bus_->subscribe(answers_);
        if (bus_->is_up()) {
            ask();
        }
        auto connecting = connected_.wait_until(clock::now() + plan_.connect_limit);
        const bool is_connected = co_await std::move(connecting);
        if (is_connected) {
            auto listening = pause_until(executor_, clock::now() + plan_.listening);
            co_await std::move(listening);
        }
        auto closing = bus_->close();
        co_await std::move(closing);
        co_return result(is_connected);
    }

private:
    void ask() {
        asked_at_ = clock::now();
        bus_->publish(who_subject(plan_.domain), answers_, {}, {});
        connected_.open();
    }

    void on_message(const bus_message& message) override {
        auto beacon = decode_beacon(message.body);
        if (!beacon) {
            return;
        }
        auto& node = nodes_[{beacon->node, beacon->epoch}];
        node.beacon = std::move(*beacon);
        if (message.subject == answers_ && !node.round_trip) {
            node.round_trip = clock::now() - asked_at_;
        }
    }

    void on_connection(bool is_up) override {
        if (is_up) {
            problem_.clear();
            ask();
        }
    }

    void on_problem(const std::string& text) override { problem_ = text; }

    node_survey result(bool is_connected) {
        node_survey found{is_connected, std::move(problem_), {}};
        for (auto& each : nodes_) {
            found.nodes.push_back(std::move(each.second));
        }
        return found;
    }

    strand executor_;
    survey_plan plan_;
    std::string answers_; ///< subject
    latch connected_;
    time_point asked_at_;
    std::string problem_;
    std::map<std::pair<std::string, std::string>, heard_node> nodes_; ///< by name and epoch
    std::unique_ptr<bus> bus_;
};

} // namespace

asio::awaitable<node_survey> survey_nodes(strand executor, survey_plan plan, bus_factory connect) {
    node_listener listener(executor, std::move(plan), connect);
    auto running = listener.run();
    auto found = co_await std::move(running);
    co_return found;
}

} // namespace skep
