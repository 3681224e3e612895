// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/hub_driver.hpp"
#include <skep/testing.hpp>

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep::test {

/// A server of messages in memory, without faults but those that a test makes.
class local_bus {
public:
    /// Connects a program.
    bus_factory connect() {
        return [this](const strand& executor, bus_user& user) {
            auto made = std::make_unique<connection>(*this, executor, user);
            connections_.push_back(made.get());
            return made;
        };
    }

    std::size_t connections() const noexcept { return connections_.size(); }
    std::size_t published() const noexcept { return published_; }

    /// Loses the messages to and from a connection, in the order of connecting, without a word.
    void cut(std::size_t which, bool is_cut) { connections_[which]->is_cut = is_cut; }

    /// The time that it takes to close a connection.
    void set_closing_time(duration time) noexcept { closing_time_ = time; }

    /// The server goes away, or comes back.
    void set_up(bool is_up) {
        for (auto* const each : connections_) {
            each->is_connected = is_up;
            each->post([each, is_up] { each->user.on_connection(is_up); });
        }
    }

private:
    struct connection final : bus {
        connection(local_bus& owner, const strand& strand_of_user, bus_user& program)
            : server(owner), executor(strand_of_user), user(program) {}
        ~connection() override { std::erase(server.connections_, this); }

        void publish(std::string_view subject, std::string_view reply, std::string_view head,
                     std::string_view body) override {
            ++server.published_;
            if (is_connected && !is_cut) {
                server.route(*this, std::string(subject), std::string(reply),
                             std::string(head) + std::string(body));
            }
        }
        void subscribe(std::string_view subject) override { subjects.emplace(subject); }
        void unsubscribe(std::string_view subject) override { subjects.erase(std::string(subject)); }
        bool is_up() const noexcept override { return is_connected; }
        std::size_t max_payload() const noexcept override { return 1 << 20; }
        asio::awaitable<void> close() override { return testing::sleep_for(server.closing_time_); }

        bool fits(const std::string& subject) const {
            return subjects.contains(subject) ||
                   subjects.contains(subject.substr(0, subject.rfind('.') + 1) + "*");
        }
        template <class Function>
        void post(Function function) {
            asio::post(executor, [alive = std::weak_ptr(life), function = std::move(function)] {
                if (!alive.expired()) {
                    function();
                }
            });
        }

        local_bus& server;
        strand executor;
        bus_user& user;
        std::set<std::string> subjects;
        bool is_connected = true;
        bool is_cut = false;
        std::shared_ptr<int> life = std::make_shared<int>();
    };

    void route(connection& from, const std::string& subject, const std::string& reply,
               const std::string& body) {
        bool has_receiver = false;
        for (auto* const each : connections_) {
            if (each->is_connected && each->fits(subject)) {
                has_receiver = true;
                if (!each->is_cut) {
                    each->post([each, subject, reply, body] {
                        each->user.on_message({subject, reply, body});
                    });
                }
            }
        }
        if (!has_receiver && !reply.empty()) {
            from.post([&from, reply] { from.user.on_message({reply, {}, {}, true}); });
        }
    }

    std::vector<connection*> connections_;
    std::size_t published_ = 0;
    duration closing_time_{};
};

} // namespace skep::test
