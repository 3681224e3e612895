// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/task_group.hpp"
#include "process/local_context.hpp"
#include "remote/hub_driver.hpp"
#include "support/local_bus.hpp"
#include "wire/frame.hpp"
#include <skep/testing.hpp>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep::test {

/// Returns the frame with this JSON and payload.
inline std::string raw_frame(std::string_view json, std::string_view payload = {}) {
    std::string bytes;
    const auto begin = begin_frame(bytes);
    bytes += json;
    end_frame(bytes, begin, bytes.size(), payload.size());
    return bytes.append(payload);
}

/// Returns the first bytes of a frame with a body of `size` bytes that never comes.
inline std::string raw_half_frame(std::size_t size, std::size_t sent_bytes) {
    std::string bytes(sent_bytes, 'x');
    const auto store = [&](std::size_t offset, std::size_t number) {
        for (int i = 0; i < 4; ++i) {
            bytes[offset + i] = static_cast<char>(number >> (24 - 8 * i));
        }
    };
    store(0, size);
    store(4, size - 4);
    return bytes;
}

/// A program on a bus, client or node, whose links carry the bytes that a test wants.
class raw_program final : private hub_user {
public:
    /// A link of the program.
    struct raw_link {
        remote_link* link = nullptr;
        frame_decoder frames{frame_limits{64u << 20, 64u << 20}};
        std::vector<boost::json::object> messages; ///< received
        bool is_accepted = false;
        std::optional<link_end> end;
    };

    /// A message that is no link's.
    struct heard_message {
        std::string subject;
        std::string body;
    };

    raw_program(boost::asio::io_context& context, testing::virtual_time& clock, local_bus& server)
        : time_(clock),
          executor_(make_local_context(context.get_executor()).executor),
          tasks_(executor_, [](const std::exception_ptr&) { BOOST_ERROR("the program has failed"); }),
          driver_(executor_, server.connect(), {}, *this) {
        tasks_.spawn(nullptr, driver_.run());
        time_.run_until_idle();
    }
    ~raw_program() {
        tasks_.cancel();
        time_.run(tasks_.join());
    }

    bus& carrier() noexcept { return driver_.carrier(); }

    /// Hears the messages for a subject, which are not to be a link's.
    void listen(const std::string& subject) {
        listens_.insert(subject);
        carrier().subscribe(subject);
    }
    const std::vector<heard_message>& heard() const noexcept { return heard_; }

    /// Asks a node for a link; the subject of the own end has that beginning.
    raw_link& open(const std::string& node, const std::string& wish,
                   const std::string& inbox = "_INBOX.raw.") {
        const auto name = std::to_string(++opened_);
        carrier().subscribe(inbox + name);
        auto& link = driver_.use().open(inbox + name, "skep.default.node." + node + "." + name, wish);
        auto& made = links_[&link];
        made.link = &link;
        time_.advance(std::chrono::milliseconds(50));
        return made;
    }

    void send(raw_link& to, std::string bytes) {
        if (!to.end) {
            driver_.use().send(*to.link, std::move(bytes));
        }
        time_.advance(std::chrono::milliseconds(20));
    }

    /// A node: accepts the requests for links, and has this done with each.
    void serve(const std::string& node, std::function<void(raw_link&)> greet,
               std::function<void(raw_link&, const boost::json::object&)> answer = {}) {
        carrier().subscribe("skep.default.node." + node + ".*");
        greet_ = std::move(greet);
        answer_ = std::move(answer);
    }

    /// Sends without letting time pass.
    void post(raw_link& to, std::string bytes) { driver_.use().send(*to.link, std::move(bytes)); }

    link_load& load() noexcept { return load_; }
    std::map<const remote_link*, raw_link>& links() noexcept { return links_; }

private:
    void on_event(link_event& event) override {
        std::visit([this](auto& content) { handle(content); }, event);
    }
    void handle(const link_request& request) {
        if (!greet_) {
            return;
        }
        auto* const link = driver_.use().accept(request, "{}", load_, driver_.events());
        if (link != nullptr) {
            auto& made = links_[link];
            made.link = link;
            made.is_accepted = true;
            greet_(made);
        }
    }
    void handle(const link_accepted& event) { links_[event.link].is_accepted = true; }
    void handle(const link_readable& event) { read(links_[event.link]); }
    void handle(const link_writable&) {}
    void handle(const link_load_changed&) {}
    void handle(const link_reach_changed&) {}
    void handle(const link_resumed&) {}
    void handle(const link_ended& event) { links_[event.link].end = event.end; }

    void read(raw_link& from) {
        while (from.link->unread_bytes() > 0) {
            const auto space = from.frames.prepare();
            from.frames.commit(driver_.use().read(*from.link, space));
            while (const auto frame = from.frames.next()) {
                from.messages.push_back(boost::json::parse(frame->json).as_object());
                if (answer_) {
                    answer_(from, from.messages.back());
                }
            }
        }
    }

    bool on_message(const bus_message& message) override {
        if (!listens_.contains(std::string(message.subject))) {
            return false;
        }
        heard_.push_back({std::string(message.subject), std::string(message.body)});
        return true;
    }
    void on_connection(bool) override {}
    void on_problem(const std::string&) override {}
    void on_failure(const std::exception_ptr&) noexcept override { BOOST_ERROR("the program has failed"); }

    testing::virtual_time& time_;
    strand executor_;
    task_group tasks_;
    hub_driver driver_;
    std::map<const remote_link*, raw_link> links_;
    std::set<std::string> listens_;
    std::vector<heard_message> heard_;
    std::function<void(raw_link&)> greet_;
    std::function<void(raw_link&, const boost::json::object&)> answer_;
    link_load load_{0, 1};
    int opened_ = 0;
};

/// A client that behaves well is served by a node whose workers double a number.
inline void check_double(testing::virtual_time& time, pool& client) {
    try {
        const auto answer =
            time.run(client.execute(request("double").arg("n", 21).timeout(std::chrono::seconds(30))));
        BOOST_TEST(answer.as<int>() == 42);
    } catch (const error& failure) {
        BOOST_ERROR(failure.what());
    }
}

} // namespace skep::test
