// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_core.hpp"

#include "async/pause.hpp"
#include "process/local_context.hpp"
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

node_core::node_core(pool_context context, node_setup setup, const bus_factory& connect)
    : context_(std::move(context)),
      setup_(std::move(setup)),
      epoch_(context_.make_token()),
      who_subject_(who_subject(setup_.domain)),
      log_(setup_.records, context_),
      tasks_(context_.executor, [this](const std::exception_ptr& problem) { on_failure(problem); }),
      burials_(context_.executor, [](const std::exception_ptr&) {}),
      endings_(context_.executor, [](const std::exception_ptr&) {}),
      changed_(context_.executor),
      opens_(setup_.opens_per_second),
      driver_(context_.executor, connect, setup_.hub, *this) {}

void node_core::start() {
    auto& carrier = driver_.carrier();
    carrier.subscribe(who_subject_);
    carrier.subscribe(link_subject(setup_.domain, setup_.name, "*"));
    tasks_.spawn(shared_from_this(), driver_.run());
    tasks_.spawn(shared_from_this(), tell_load());
}

asio::awaitable<void> node_core::tell_load() {
    for (;;) {
        announce(load_subject(setup_.domain));
        limit_memory();
        const auto variation = 1 + beacon_jitter * (2 * context_.random() - 1);
        const auto next =
            context_.now() + std::chrono::duration_cast<duration>(setup_.beacon_interval * variation);
        co_await pause_until(context_.executor, next);
    }
}

void node_core::announce(std::string_view subject) {
    const auto beacon = look();
    if (driver_.carrier().is_up()) {
        driver_.carrier().publish(subject, {}, {}, encode_beacon(beacon));
    }
}

/// Returns the beacon. Sets the load in the messages of the links.
node_beacon node_core::look() {
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

void node_core::begin_to_drain() {
    is_draining_ = true;
    for (auto& each : setup_.pools) {
        each.second.set_draining();
    }
    announce(load_subject(setup_.domain));
}

/// Each client ends its link when it has its answers.
asio::awaitable<void> node_core::drain() {
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

asio::awaitable<void> node_core::announced() {
    while (!driver_.carrier().is_up() && !has_failed_ && !is_ending_) {
        co_await changed_.wait();
    }
}

void node_core::abandon() {
    endings_.spawn(shared_from_this(), stop());
}

node_status node_core::status() {
    node_status result;
    result.name = setup_.name;
    result.epoch = epoch_;
    result.is_connected = driver_.carrier().is_up();
    result.is_draining = is_draining_;
    result.problem = problem_;
    result.links = links_.size();
    for (const auto& each : links_) {
        result.calls += each.second->calls();
    }
    for (auto& [name, offered] : setup_.pools) {
        result.pools.emplace(name, offered.look());
    }
    return result;
}

asio::awaitable<void> node_core::stop() {
    if (std::exchange(is_ending_, true)) {
        while (!has_ended_) {
            co_await changed_.wait();
        }
        co_return;
    }
    begin_to_drain();
    changed_.notify_all();
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
    has_ended_ = true;
    changed_.notify_all();
}

void node_core::on_event(link_event& event) {
    std::visit([this](const auto& content) { handle(content); }, event);
}

void node_core::handle(const link_request& request) {
    try {
        answer(request);
    } catch (const protocol_violation& violation) {
        driver_.use().refuse(request, violation.what());
    }
}

void node_core::check_room(const link_request& request) {
    if (is_draining_) {
        throw protocol_violation("the node drains");
    }
    if (links_.size() >= setup_.most_links) {
        throw protocol_violation("full: the node has " + std::to_string(links_.size()) +
                                 " links, and takes no more");
    }
    if (!opens_.admit(request.reply, context_.now())) {
        throw protocol_violation("full: more than " + std::to_string(setup_.opens_per_second) +
                                 " new links of the client in a second");
    }
}

void node_core::answer(const link_request& request) {
    check_room(request);
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

void node_core::handle(const link_readable& event) {
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
void node_core::limit_memory() {
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

void node_core::handle(const link_ended& event) {
    end(event.link->subject(), event.end.detail);
}

void node_core::end(const std::string& subject, std::string_view reason) {
    const auto found = links_.find(subject);
    if (found == links_.end()) {
        return;
    }
    const auto ended_link = found->second;
    burials_.spawn(shared_from_this(), bury(ended_link)); // first, as this may lack memory
    links_.erase(found);
    ended_link->end(reason);
}

/// Keeps a link until its calls have ended.
asio::awaitable<void> node_core::bury(std::shared_ptr<served_link> ended_link) {
    co_await ended_link->idle();
}

/// The sender chooses the subject for the answers: it must not be another program's.
bool node_core::is_inbox(std::string_view subject) const noexcept {
    return subject.starts_with(setup_.inbox) && subject.find_first_of("*> \t") == std::string_view::npos;
}

bool node_core::on_message(const bus_message& message) {
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

void node_core::on_connection(bool is_up) {
    if (is_up) {
        if (!std::exchange(problem_, {}).empty()) {
            log_(log_level::warning, "the connection to the bus is up again");
        }
        announce(load_subject(setup_.domain));
    }
    changed_.notify_all();
}

void node_core::on_problem(const std::string& text) {
    log_(log_level::warning, text);
    if (!driver_.carrier().is_up()) {
        problem_ = text;
    }
}

/// The clients learn at once that the node is gone. stop() does the rest.
void node_core::on_failure(const std::exception_ptr& problem) noexcept {
    log_(log_level::error, "the node has failed", problem);
    has_failed_ = true;
    changed_.notify_all();
    for (const auto& each : links_) {
        each.second->end("the node has failed");
    }
    tasks_.cancel();
}

std::shared_ptr<node_core> make_node(asio::any_io_executor executor, const node_options& options,
                                     std::map<std::string, served_pool, std::less<>> pools,
                                     const bus_factory& connect) {
    auto context = make_local_context(std::move(executor));
    node_setup setup;
    setup.domain = options.domain;
    setup.name = options.name;
    setup.pools = std::move(pools);
    setup.beacon_interval = options.beacon_interval;
    setup.drain_timeout = options.drain_timeout;
    setup.inbox = options.nats.inbox + ".";
    setup.most_links = options.links;
    setup.memory = options.memory;
    setup.limits = options.limits;
    setup.hub = hub_options_of(options.link, context.random());
    setup.records.name = options.name;
    setup.records.log_level = options.log_level;
    setup.records.log_handler = options.log_handler;
    setup.records.log_format = options.log_format;
    return std::make_shared<node_core>(std::move(context), std::move(setup), connect);
}

} // namespace skep
