// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_session.hpp"

#include "core/random_share.hpp"
#include "core/text.hpp"
#include "policy/jitter.hpp"
#include "remote/bus.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

namespace skep {

namespace {

constexpr duration longest_wait = std::chrono::seconds(2);
constexpr std::size_t most_text = 2000;                  ///< bytes of a report
constexpr duration extra_time = std::chrono::seconds(1); ///< beyond connect_timeout, which cnats itself keeps
constexpr std::size_t most_stuck = 8;

std::vector<nats_address> parse_servers(const std::vector<std::string>& urls) {
    std::vector<nats_address> servers;
    for (const auto& url : urls) {
        servers.push_back(parse_nats_address(url).value());
    }
    return servers;
}

std::string join(const std::map<std::string, std::string>& failures) {
    std::string text;
    for (const auto& [server, failure] : failures) {
        text += (text.empty() ? "" : "; ") + server + ": " + failure;
    }
    return beginning_of(text, most_text);
}

template <class T>
bool is_ready(const std::future<T>& result) {
    return result.wait_for(duration::zero()) == std::future_status::ready;
}

} // namespace

nats_session::nats_session(const nats_options& options, std::shared_ptr<nats_inbox> inbox)
    : options_(options),
      inbox_(std::move(inbox)),
      outbox_(options.send_buffer),
      configured_servers_(parse_servers(options.servers)),
      wait_(options.reconnect_wait) {}

void nats_session::run() noexcept {
    do {
        if (auto connection = connect()) {
            wait_ = options_.reconnect_wait;
            use(std::move(connection));
        }
    } while (outbox_.pause(next_wait()));
    stuck_attempts_.clear(); // they own this session
    inbox_->put(nats_thread_end());
}

/// Returns all known servers, in random order.
std::vector<nats_address> nats_session::servers() const {
    auto known = configured_servers_;
    for (const auto& server : announced_servers_) {
        if (std::find(known.begin(), known.end(), server) == known.end()) {
            known.push_back(server);
        }
    }
    std::shuffle(known.begin(), known.end(), std::minstd_rand(std::random_device{}()));
    return known;
}

/// Tries each server once.
nats_session::connection_ptr nats_session::connect() {
    std::map<std::string, std::string> failures; // by server, so that equal failures are reported once
    for (const auto& server : servers()) {
        if (outbox_.is_stopped()) {
            return nullptr;
        }
        try {
            return connect_to(server);
        } catch (const nats_failure& failure) {
            failures.emplace(server.url, failure.what());
            wait_ = failure.is_refusal() ? std::max(wait_, longest_wait) : wait_;
        } catch (const std::system_error& failure) { // no thread
            failures.emplace(server.url, failure.what());
        }
    }
    inbox_->put(nats_problem{join(failures)});
    return nullptr;
}

/// Connects on a thread of the attempt's own: the look-up of a host, and the TLS handshake of cnats before
/// 3.11, have no limit. A thread that is stuck is left alone, and ends when it can.
nats_session::connection_ptr nats_session::connect_to(const nats_address& server) {
    std::erase_if(stuck_attempts_, &is_ready<connection_ptr>);
    if (stuck_attempts_.size() == most_stuck) {
        throw nats_failure(NATS_TIMEOUT, std::to_string(most_stuck) + " attempts to connect are stuck");
    }
    std::packaged_task<connection_ptr()> attempt(
        [self = shared_from_this(), server] { return self->make_connection(server); });
    auto result = attempt.get_future();
    std::thread helper(std::move(attempt));
    if (result.wait_for(options_.connect_timeout + extra_time) == std::future_status::ready) {
        helper.join();
        return result.get();
    }
    helper.detach();
    stuck_attempts_.push_back(std::move(result));
    throw nats_failure(NATS_TIMEOUT, "the attempt to connect is stuck");
}

nats_session::connection_ptr nats_session::make_connection(const nats_address& server) {
    nats_listener& listener = *this;
    auto connection = std::make_unique<nats_connection>(server, options_, listener);
    const auto size = connection->max_payload();
    if (size < bus::least_payload) {
        throw nats_failure(NATS_MAX_PAYLOAD, "max_payload of the server = " + std::to_string(size) +
                                                 ": must be " + std::to_string(bus::least_payload) +
                                                 " or more");
    }
    return connection;
}

/// Uses the connection until its loss, or until it is left.
void nats_session::use(connection_ptr connection) {
    std::string problem;
    try {
        carry(*connection);
        if (!outbox_.is_late()) {
            connection->flush();
        }
    } catch (const nats_failure& failure) {
        problem = failure.what();
    }
    announced_servers_ = connection->announced_servers();
    connection->close();
    outbox_.wait_for_loss(extra_time); // then nothing in cnats uses the subscriptions
    if (!problem.empty()) {
        const auto refusal = connection->refusal(); // a failed publish does not tell it
        inbox_->put(nats_problem{connection->server().url + ": " + (refusal.empty() ? problem : refusal)});
    }
    connection.reset(); // no more reports
    outbox_.end();
    inbox_->put(connection_change());
}

/// Returns when the connection is to be left. Throws nats_failure after its loss.
void nats_session::carry(nats_connection& connection) {
    const auto number = ++last_number_;
    for (const auto& subject : outbox_.begin(number)) {
        connection.subscribe(subject);
    }
    inbox_->put(connection_change{number, connection.max_payload()});
    auto task = outbox_.next();
    while (task && perform(connection, *task)) {
        task = outbox_.next();
    }
    if (outbox_.is_lost()) {
        throw nats_failure(NATS_CONNECTION_CLOSED, connection.loss());
    }
}

/// Returns false if the connection is to be left.
bool nats_session::perform(nats_connection& connection, const nats_task& task) {
    if (const auto* const message = std::get_if<outgoing_message>(&task)) {
        connection.publish(message->subject, message->reply, message->body);
    } else if (const auto* const change = std::get_if<subscription_change>(&task)) {
        if (change->is_wanted) {
            connection.subscribe(change->subject);
        } else {
            connection.unsubscribe(change->subject);
        }
    } else { // a lame duck
        announced_servers_ = connection.announced_servers();
        return servers().size() == 1;
    }
    return true;
}

/// Returns the wait before the next attempt, and doubles the wait after that.
duration nats_session::next_wait() noexcept {
    const auto wait = wait_;
    wait_ = std::max(wait, std::min(2 * wait, longest_wait));
    return with_jitter(wait, 0.5, random_share());
}

void nats_session::on_message(nats_message message) {
    inbox_->put(std::move(message));
}

void nats_session::on_problem(const std::string& text) {
    inbox_->put(nats_problem{text});
}

void nats_session::on_loss() {
    outbox_.on_loss();
}

void nats_session::on_lame_duck() {
    outbox_.on_lame_duck();
}

} // namespace skep
