// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "remote/nats_bus.hpp"
#include "support/server_process.hpp"

#include <boost/asio/strand.hpp>

#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

/// A NATS server on a free port.
class nats_server : public server_process {
public:
    /// `settings`: lines of its configuration.
    explicit nats_server(const std::string& settings = "", bool is_started = true) {
        configure(settings);
        set_command({SKEP_NATS_SERVER, "-c", folder() / "nats.conf"}, [this] { return listens(port_); });
        if (is_started) {
            start();
        }
    }

    void configure(const std::string& settings) const {
        write_file(folder() / "nats.conf",
                   "host: 127.0.0.1\nport: " + std::to_string(port_) + "\n" + settings + "\n");
    }

    void reload(const std::string& settings) const {
        configure(settings);
        signal(SIGHUP);
    }

    void begin_lame_duck() const { signal(SIGUSR2); }

    unsigned port() const { return port_; }
    std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

    /// How to reach it; with little patience.
    nats_options options() const { return options_at("nats://" + address()); }

    /// By the name that its certificate has.
    nats_options tls_options() const { return options_at("tls://localhost:" + std::to_string(port_)); }

private:
    static nats_options options_at(const std::string& url) {
        nats_options options;
        options.servers = {url};
        options.reconnect_wait = 5ms;
        return options;
    }

    const unsigned port_ = free_port();
};

/// A program on the bus, which notes all that it hears.
class nats_program final : public bus_user {
public:
    struct message {
        std::string subject;
        std::string reply;
        std::string body;
        bool has_no_receiver = false;
    };

    nats_program(asio::io_context& context, const nats_options& options)
        : link_(std::make_unique<nats_bus>(asio::make_strand(pool_executor(context.get_executor())), *this,
                                           options)) {}

    nats_bus& link() { return *link_; }
    void destroy() { link_.reset(); }

    void publish(const std::string& subject, const std::string& body = "", const std::string& reply = "") {
        link_->publish(subject, reply, "", body);
    }

    // Each waits for something, and fails the test if that does not come.

    asio::awaitable<void> wait_until_up() {
        return wait_for("up", [this] { return link_->is_up(); });
    }
    asio::awaitable<void> wait_until_down() {
        return wait_for("down", [this] { return !link_->is_up(); });
    }

    /// Until it is connected, for the `count`th time or a later one.
    asio::awaitable<void> wait_for_connection(std::size_t count) {
        return wait_for("connection", [this, count] { return connections() >= count && link_->is_up(); });
    }

    /// Until there are `count` messages, and no more.
    asio::awaitable<void> wait_for_messages(std::size_t count) {
        auto received = [this, count] { return messages.size() >= count; };
        co_await wait_for("messages", std::move(received));
        BOOST_TEST(messages.size() == count);
    }

    /// Until there is a problem with that part.
    asio::awaitable<void> wait_for_problem(std::string part) {
        auto found = [this, &part] { return has_problem(part); };
        co_await wait_for("problem: " + part, std::move(found));
    }

    /// Until it has received a message from itself, which is not noted.
    asio::awaitable<void> work() {
        own_messages_ = 0;
        link_->subscribe(own_subject_);
        auto arrived = [this] {
            publish(own_subject_); // again, where the way was cut meanwhile
            return own_messages_ > 0;
        };
        co_await wait_for("own message", std::move(arrived));
        link_->unsubscribe(own_subject_);
    }

    std::size_t connections() const {
        return static_cast<std::size_t>(std::count(changes.begin(), changes.end(), true));
    }
    bool has_problem(const std::string& part) const {
        return std::any_of(problems.begin(), problems.end(),
                           [&](const std::string& text) { return contains(text, part); });
    }

    asio::awaitable<void> close() { return link_->close(); }

    std::vector<message> messages;
    std::vector<bool> changes; ///< of the connection: true if it was up then
    std::vector<std::string> problems;
    std::function<void()> on_event; ///< called after each

private:
    template <class Condition>
    asio::awaitable<void> wait_for(std::string what, Condition condition) {
        const bool is = co_await eventually(std::move(condition), 60s);
        BOOST_TEST_REQUIRE(is, "no " << what << "; messages: " << messages.size()
                                     << ", changes: " << json::value_from(changes)
                                     << ", problems: " << json::value_from(problems));
    }

    static std::string new_subject() {
        static int last = 0;
        return "skep.test.program" + std::to_string(++last);
    }

    void on_message(const bus_message& one) override {
        if (one.subject == own_subject_) {
            ++own_messages_;
            return;
        }
        messages.push_back(
            {std::string(one.subject), std::string(one.reply), std::string(one.body), one.has_no_receiver});
        tell();
    }
    void on_connection(bool is_up) override {
        changes.push_back(is_up);
        BOOST_TEST(is_up == link_->is_up());
        tell();
    }
    void on_problem(const std::string& text) override {
        problems.push_back(text);
        tell();
    }
    void tell() const {
        if (on_event) {
            const auto action = on_event;
            action();
        }
    }

    const std::string own_subject_ = new_subject();
    int own_messages_ = 0;
    std::unique_ptr<nats_bus> link_;
};

} // namespace skep::test
