// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_asker.hpp"

#include "async/latch.hpp"
#include "process/token.hpp"
#include "remote/subjects.hpp"

#include <memory>
#include <utility>

namespace skep {

namespace {

/// The program on the bus that asks a node.
class node_asker final : private bus_user {
public:
    node_asker(const strand& executor, request_plan plan, const bus_factory& connect)
        : plan_(std::move(plan)),
          inbox_(plan_.inbox + "." + make_token()),
          sent_(executor),
          ended_(executor),
          bus_(connect(executor, *this)) {}

    asio::awaitable<request_outcome> run() {
        bus_->subscribe(inbox_);
        if (bus_->is_up()) {
            ask();
        }
        auto connecting = sent_.wait_until(clock::now() + plan_.connect_limit);
        outcome_.is_connected = co_await std::move(connecting);
        if (outcome_.is_connected) {
            auto listening = ended_.wait_until(clock::now() + plan_.answer_limit);
            co_await std::move(listening);
        }
        auto closing = bus_->close();
        co_await std::move(closing);
        co_return std::move(outcome_);
    }

private:
    void ask() {
        outcome_.problem.clear();
        bus_->publish(admin_subject(plan_.domain, plan_.node), inbox_, {}, encode_node_request(plan_.action));
        sent_.open();
    }

    void on_message(const bus_message& message) override {
        if (ended_.is_open() || message.subject != inbox_) {
            return;
        }
        outcome_.is_missing = message.has_no_receiver;
        outcome_.answer = decode_action_outcome(message.body);
        if (outcome_.is_missing || outcome_.answer) {
            ended_.open();
        }
    }

    /// Asks once: a second request might replace the workers a second time.
    void on_connection(bool is_up) override {
        if (is_up && !sent_.is_open()) {
            ask();
        } else if (!is_up && sent_.is_open()) {
            on_problem("the connection is lost");
        }
    }

    void on_problem(const std::string& text) override {
        if (!ended_.is_open()) {
            outcome_.problem = text;
        }
        if (sent_.is_open()) {
            ended_.open();
        }
    }

    request_plan plan_;
    std::string inbox_; ///< subject
    latch sent_;
    latch ended_;
    request_outcome outcome_;
    std::unique_ptr<bus> bus_;
};

} // namespace

asio::awaitable<request_outcome> ask_node(strand executor, request_plan plan, bus_factory connect) {
    node_asker asker(executor, std::move(plan), connect);
    auto running = asker.run();
    auto outcome = co_await std::move(running);
    co_return outcome;
}

} // namespace skep
