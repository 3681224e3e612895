// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "check.hpp"
#include "process/local_context.hpp"
#include "support/local_bus.hpp"
#include "wire/frame.hpp"
#include "wire/link_head.hpp"
#include <skep/testing.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace skep::fuzz {

/// Makes the chance of a program the same with each run.
inline pool_context repeatable_context(boost::asio::io_context& context) {
    auto made = make_local_context(context.get_executor());
    made.random = [] { return 0.5; };
    made.make_token = [number = 0]() mutable { return "token-" + std::to_string(++number); };
    return made;
}

inline std::string frame_of(std::string_view json, std::size_t payload = 0) {
    std::string bytes;
    const auto begin = begin_frame(bytes);
    bytes += json;
    end_frame(bytes, begin, bytes.size(), payload);
    return bytes.append(payload, '\0');
}

/// One end of a link that sends what a script says. Knows the protocol as well as is needed to get far.
class hostile_peer final : private bus_user {
public:
    hostile_peer(boost::asio::io_context& context, testing::virtual_time& time, test::local_bus& server)
        : time_(time),
          executor_(make_local_context(context.get_executor()).executor),
          bus_(server.connect()(executor_, *this)) {}

    bus& carrier() noexcept { return *bus_; }

    /// Sets the subjects of both ends.
    void set_link(std::string own, std::string peer) {
        own_ = std::move(own);
        peer_ = std::move(peer);
    }
    bool has_link() const noexcept { return !peer_.empty(); }

    /// Hears requests for links, and questions for sessions. The first request has a link from then on.
    void serve(const std::string& subject) { carrier().subscribe(subject); }

    bool has_end() const noexcept { return has_end_; }

    /// Each line is a step, and begins with a letter that stands for an action.
    void run(std::string_view script) {
        while (!script.empty()) {
            const auto end = script.find('\n');
            step(script.substr(0, end));
            script.remove_prefix(end == std::string_view::npos ? script.size() : end + 1);
            time_.run_until_idle();
        }
    }

    /// Sends bytes of the stream.
    void send(std::string_view bytes) {
        link_message message;
        message.body = bytes;
        tell(message);
    }

    /// Sends a message of the link, at the position where the stream is.
    void tell(link_message message) {
        message.window = usual_window;
        message.position = sent_;
        message.expected = received_;
        message.epoch = epoch;
        sent_ += message.kind == link_kind::data ? message.body.size() : 0;
        publish(message, own_);
    }

private:
    static constexpr std::uint32_t usual_window = 1 << 20;
    static constexpr std::uint16_t epoch = 7;
    static constexpr std::string_view home_subject = "skep.default.home";
    static constexpr std::size_t head_codes = 6; ///< bytes of a step that choose a head

    static std::size_t number_in(std::string_view text, std::size_t place) {
        return place < text.size() ? static_cast<unsigned char>(text[place]) : 0;
    }

    void step(std::string_view line) {
        const auto action = line.empty() ? '{' : line[0];
        const auto rest = line.substr(std::min<std::size_t>(line.size(), 1));
        switch (action) {
        case '{': send(frame_of(line)); break;
        case 'f': send(frame_of(rest)); break;
        case 'p':
            send(frame_of(rest.substr(std::min<std::size_t>(rest.size(), 1)), number_in(rest, 0)));
            break;
        case 'b': send(rest); break;
        case 't': pass_time(number_in(rest, 0)); break;
        case 'm': carrier().publish(peer_, own_, rest, {}); break;
        case 'o': carrier().publish(peer_, "_INBOX.other.1", rest, {}); break;
        case 'h': send_head(rest); break;
        case 'w': ask(rest); break;
        case 'q': carrier().publish(home_subject, own_ + ".home.1", rest, {}); break;
        case 'a': answer(rest); break;
        default: send(line); break;
        }
    }

    void pass_time(std::size_t number) {
        const std::chrono::milliseconds quarter(2 * number + 1);
        time_.advance(4 * quarter, quarter);
    }

    /// A head near the right head.
    void send_head(std::string_view codes) {
        link_message message;
        message.kind = static_cast<link_kind>(number_in(codes, 0) % 10);
        message.position = sent_ + number_in(codes, 1) - 'm';
        message.expected = received_ + number_in(codes, 2) - 'm';
        message.window = static_cast<std::uint32_t>(number_in(codes, 3)) << (number_in(codes, 4) % 32);
        message.epoch = number_in(codes, 5) == 'x' ? epoch + 1 : epoch;
        message.body = codes.substr(std::min(codes.size(), head_codes));
        publish(message, own_);
    }

    /// Another request, for a link of another name.
    void ask(std::string_view wish) {
        link_message message;
        message.kind = link_kind::open;
        message.window = usual_window;
        message.epoch = epoch;
        message.body = wish;
        const auto head = encode_link_head(message);
        carrier().publish(peer_ + "x", own_ + "x", {head.data(), head.size()}, wish);
    }

    /// Answers the last question for a session.
    void answer(std::string_view text) {
        if (!question_.empty()) {
            carrier().publish(question_, {}, text, {});
        }
    }

    void publish(const link_message& message, std::string_view reply) {
        const auto head = encode_link_head(message);
        carrier().publish(peer_, reply, {head.data(), head.size()}, message.body);
    }

    void on_message(const bus_message& message) override {
        if (message.subject == home_subject) {
            question_ = message.reply;
            return;
        }
        const auto heard = message.has_no_receiver ? std::nullopt : decode_link_message(message.body);
        if (!heard) {
            return;
        }
        if (heard->kind == link_kind::open && !has_link()) {
            set_link(std::string(message.subject), std::string(message.reply));
        }
        if (message.subject == own_) {
            take(*heard);
        }
    }

    void take(const link_message& message) {
        const bool is_end = message.kind == link_kind::close || message.kind == link_kind::refuse;
        require(!is_end || !message.body.empty(), "the end of a link has a reason");
        has_end_ = has_end_ || is_end;
        if (message.kind == link_kind::data) {
            received_ = std::max(received_, message.position + message.body.size());
        }
    }

    void on_connection(bool) override {}

    testing::virtual_time& time_;
    strand executor_;
    std::string own_;
    std::string peer_;
    std::string question_; ///< the subject for its answers
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool has_end_ = false;
    std::unique_ptr<bus> bus_; ///< the last: it may call this object
};

} // namespace skep::fuzz
