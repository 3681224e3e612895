// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_agent.hpp"

#include "async/pause.hpp"
#include "remote/link_greeting.hpp"
#include "remote/subjects.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <utility>

namespace skep {

namespace {

constexpr double beacon_jitter = 0.2;
constexpr duration between_looks_at_links = std::chrono::milliseconds(10);

} // namespace

node_agent::node_agent(pool_context context, node_setup setup, const bus_factory& connect)
    : context_(std::move(context)),
      setup_(std::move(setup)),
      epoch_(context_.make_token()),
      who_subject_(who_subject(setup_.domain)),
      tasks_(context_.executor, [this](const std::exception_ptr& problem) { on_failure(problem); }),
      burials_(context_.executor, [](const std::exception_ptr&) {}),
      driver_(context_.executor, connect, setup_.hub, *this) {}

void node_agent::start() {
    auto& carrier = driver_.carrier();
    carrier.subscribe(who_subject_);
    carrier.subscribe(link_subject(setup_.domain, setup_.name, "*"));
    tasks_.spawn(shared_from_this(), driver_.run());
    tasks_.spawn(shared_from_this(), tell_load());
}

asio::awaitable<void> node_agent::tell_load() {
    for (;;) {
        announce(load_subject(setup_.domain));
        limit_memory();
        const auto variation = 1 + beacon_jitter * (2 * context_.random() - 1);
        const auto next =
            context_.now() + std::chrono::duration_cast<duration>(setup_.beacon_interval * variation);
        co_await pause_until(context_.executor, next);
    }
}

void node_agent::announce(std::string_view subject) {
    const auto beacon = look();
    if (driver_.carrier().is_up()) {
        driver_.carrier().publish(subject, {}, {}, encode_beacon(beacon));
    }
}

/// Returns the beacon. Sets the load in the messages of the links.
node_beacon node_agent::look() {
    node_beacon beacon;
    beacon.node = setup_.name;
    beacon.epoch = epoch_;
    beacon.interval = setup_.beacon_interval;
    beacon.is_draining = is_draining_;
    for (auto& [name, offered] : setup_.pools) {
        beacon.pools.emplace(name, offered.look());
    }
    return beacon;
}

void node_agent::begin_to_drain() {
    is_draining_ = true;
    for (auto& each : setup_.pools) {
        each.second.set_draining();
    }
    announce(load_subject(setup_.domain));
}

/// Each client ends its link when it has its answers.
asio::awaitable<void> node_agent::drain() {
    begin_to_drain();
    for (const auto& each : links_) {
        each.second->tell_load();
    }
    const auto limit = context_.now() + setup_.drain_timeout;
    while (!links_.empty() && !has_failed_ && context_.now() < limit) {
        const auto next_look = context_.now() + between_looks_at_links;
        co_await pause_until(context_.executor, next_look);
    }
}

asio::awaitable<void> node_agent::stop() {
    begin_to_drain();
    while (!links_.empty()) {
        const auto last = links_.begin()->second;
        last->end("the node stops");
        links_.erase(links_.begin());
        co_await last->idle();
    }
    co_await burials_.join();
    tasks_.cancel();
    co_await tasks_.join();
    co_await driver_.carrier().close();
}

void node_agent::on_event(link_event& event) {
    std::visit([this](const auto& content) { handle(content); }, event);
}

void node_agent::handle(const link_request& request) {
    try {
        answer(request);
    } catch (const protocol_violation& violation) {
        driver_.use().refuse(request, violation.what());
    }
}

void node_agent::check_room() const {
    if (is_draining_) {
        throw protocol_violation("the node drains");
    }
    if (links_.size() >= setup_.most_links) {
        throw protocol_violation("the node has " + std::to_string(links_.size()) +
                                 " links, and takes no more");
    }
}

void node_agent::answer(const link_request& request) {
    check_room();
    const auto wish = read_link_wish(request.body());
    const auto offered = setup_.pools.find(wish.pool);
    if (offered == setup_.pools.end()) {
        throw protocol_violation("the node has no pool '" + wish.pool + "'");
    }
    if (!offered->second.look().can_serve) {
        throw protocol_violation("no worker of the pool is up");
    }
    auto* const accepted = driver_.use().accept(request, "{}", offered->second.told(), driver_.events());
    if (accepted != nullptr) {
        const auto& subject = accepted->subject();
        const auto made = std::make_shared<served_link>(
            context_.executor, driver_, *accepted, offered->second, setup_.limits,
            [this, subject](std::string_view reason) { end(subject, reason); });
        links_.emplace(subject, made);
        made->start();
    }
}

void node_agent::handle(const link_readable& event) {
    const auto found = links_.find(event.link->subject());
    if (found == links_.end()) {
        return;
    }
    try {
        found->second->read();
    } catch (const protocol_violation& violation) {
        end(event.link->subject(), violation.what());
    }
}

/// Ends the link with the most bytes, as long as there are too many. Looks at all links, so seldom.
void node_agent::limit_memory() {
    const auto memory_of = [](const auto& each) { return each.second->memory(); };
    std::size_t total = 0;
    for (const auto& each : links_) {
        total += memory_of(each);
    }
    while (total > setup_.memory) {
        const auto largest =
            std::max_element(links_.begin(), links_.end(),
                             [&](const auto& a, const auto& b) { return memory_of(a) < memory_of(b); });
        total -= memory_of(*largest);
        end(largest->first, "the node has no memory for its bytes");
    }
}

void node_agent::handle(const link_ended& event) {
    end(event.link->subject(), event.end.detail);
}

void node_agent::end(const std::string& subject, std::string_view reason) {
    const auto found = links_.find(subject);
    if (found == links_.end()) {
        return;
    }
    auto ended_link = std::move(found->second);
    links_.erase(found);
    ended_link->end(reason);
    burials_.spawn(shared_from_this(), bury(std::move(ended_link)));
}

/// Keeps a link until its calls have ended.
asio::awaitable<void> node_agent::bury(std::shared_ptr<served_link> ended_link) {
    co_await ended_link->idle();
}

/// The sender chooses the subject for the answers: it must not be another program's.
bool node_agent::is_inbox(std::string_view subject) const noexcept {
    return subject.starts_with(setup_.inbox) && subject.find_first_of("*> \t") == std::string_view::npos;
}

bool node_agent::on_message(const bus_message& message) {
    if (!message.reply.empty() && !is_inbox(message.reply)) {
        return true;
    }
    if (message.subject != who_subject_) {
        return false;
    }
    if (!message.reply.empty()) {
        announce(message.reply);
    }
    return true;
}

void node_agent::on_connection(bool is_up) {
    if (is_up) {
        announce(load_subject(setup_.domain));
    }
}

/// The clients learn at once that the node is gone. stop() does the rest.
void node_agent::on_failure(const std::exception_ptr&) noexcept {
    has_failed_ = true;
    for (const auto& each : links_) {
        each.second->end("the node has failed");
    }
    tasks_.cancel();
}

} // namespace skep
