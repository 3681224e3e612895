// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_network.hpp"

#include "async/pause.hpp"
#include "remote/link_greeting.hpp"
#include "remote/subjects.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>

namespace skep {

namespace {

constexpr duration between_looks = std::chrono::milliseconds(100); ///< at nodes that may be used again

error no_link(const std::string& detail) {
    error_info info;
    info.detail = detail;
    return {errc::spawn_failed, std::move(info)};
}

} // namespace

node_network::node_network(const pool_context& context, const node_demand& demand, const bus_factory& connect,
                           std::shared_ptr<node_observer> observer)
    : context_(context),
      demand_(demand),
      observer_(std::move(observer)),
      inbox_(demand.inbox + "." + context.make_token() + "."),
      load_subject_(load_subject(demand.domain)),
      nodes_(demand.pool,
             [this](const known_node& node, node_passage passage) { on_passage(node, passage); }),
      changed_(context.executor),
      tasks_(context.executor, [this](const std::exception_ptr& problem) { on_failure(problem); }),
      closing_(context.executor, [](const std::exception_ptr&) {}),
      driver_(context.executor, connect, demand.hub, *this),
      homes_(context, driver_.carrier(), nodes_, demand_.domain, demand_.pool, inbox_) {}

void node_network::begin() {
    driver_.carrier().subscribe(load_subject_);
    driver_.carrier().subscribe(inbox_ + "*");
    homes_.begin();
    tasks_.spawn(shared_from_this(), driver_.run());
    tasks_.spawn(shared_from_this(), look_after());
    ask_who();
}

void node_network::end() {
    tasks_.cancel();
    for (auto& each : demands_) {
        each.is_cancelled = true;
    }
    changed_.notify_all();
    closing_.spawn(shared_from_this(), close());
}

/// The links have ended, and the nodes are to hear of that.
asio::awaitable<void> node_network::close() {
    co_await tasks_.join();
    co_await driver_.carrier().close();
}

/// The nodes answer at once, and need not be waited for.
void node_network::ask_who() {
    if (driver_.carrier().is_up()) {
        driver_.carrier().publish(who_subject(demand_.domain), inbox_ + "who", {}, {});
    }
}

/// Some nodes become usable as time passes.
asio::awaitable<void> node_network::look_after() {
    for (;;) {
        const auto next_look = context_.now() + between_looks;
        co_await pause_until(context_.executor, next_look);
        std::erase_if(workers_, [](const auto& each) { return each.second.expired(); });
        report_nodes();
    }
}

void node_network::report_nodes() {
    const auto now = context_.now();
    observer_->on_nodes(nodes_.usable(now), nodes_.known(now));
    if (nodes_.has_ready(now)) {
        changed_.notify_all();
    }
}

asio::awaitable<std::shared_ptr<node_worker>> node_network::take_node(worker_id id) {
    const auto self = shared_from_this();
    demand mine;
    mine.id = std::move(id);
    demands_.push_back(mine);
    const auto node = co_await wait_for_node(mine);
    mine.opening = open(node, mine.id);
    const bool is_accepted = co_await mine.opening->accepted();
    if (!is_accepted) {
        throw no_link("node " + node->name + ": " + mine.opening->last_words());
    }
    co_return mine.opening;
}

asio::awaitable<std::shared_ptr<known_node>> node_network::wait_for_node(demand& open_demand) {
    while (!open_demand.is_cancelled) {
        if (auto node = nodes_.take(context_.now())) {
            co_return node;
        }
        co_await changed_.wait();
    }
    throw no_link("no node is wanted any more");
}

std::shared_ptr<node_worker> node_network::open(std::shared_ptr<known_node> node, const worker_id& id) {
    const auto link_name = context_.make_token();
    auto& link = driver_.use().open(inbox_ + link_name, link_subject(demand_.domain, node->name, link_name),
                                    encode_link_wish({demand_.pool, demand_.client}));
    node->link = link.subject();
    const std::shared_ptr<hub_driver> driver(shared_from_this(), &driver_);
    node_links& links = *this;
    auto made = std::make_shared<node_worker>(context_.executor, links, driver, link, id, std::move(node));
    workers_.emplace(link.subject(), made);
    return made;
}

void node_network::cancel(const worker_id& id) noexcept {
    for (auto& each : demands_) {
        if (each.id == id) {
            each.is_cancelled = true;
            if (each.opening) {
                each.opening->close("the link is not wanted any more");
            }
        }
    }
    changed_.notify_all();
}

std::shared_ptr<node_worker> node_network::find(const remote_link& link) const noexcept {
    const auto found = workers_.find(link.subject());
    return found == workers_.end() ? nullptr : found->second.lock();
}

void node_network::on_event(link_event& event) {
    std::visit(
        [this](const auto& content) {
            if constexpr (requires { content.link; }) { // a client is not asked for links
                if (const auto worker = find(*content.link)) {
                    worker->handle(content);
                    follow(*worker, content);
                }
            }
        },
        event);
}

/// The last link of the slot may have ended out of reach.
void node_network::follow(node_worker& worker, const link_accepted&) {
    observer_->on_reach(worker.id(), false);
    context_.publish<events::link_opened>([&] {
        return events::link_opened{demand_.client, worker.id(), worker.node().name, {}};
    });
}

void node_network::follow(node_worker& worker, const link_resumed&) {
    context_.publish<events::link_resumed>([&] {
        return events::link_resumed{demand_.client, worker.id(), worker.node().name, {}};
    });
}

void node_network::follow(node_worker& worker, const link_load_changed& event) {
    try_out(worker);
    const bool is_on_trial = worker.node().ejection.is_ejected();
    observer_->on_load(worker.id(), event.link->state().peer_load(), is_on_trial);
}

void node_network::follow(node_worker& worker, const link_reach_changed& event) {
    observer_->on_reach(worker.id(), event.link->is_suspect());
}

/// Ends the trial of a node that has answered.
void node_network::try_out(node_worker& worker) {
    const bool has_answered = !worker.has_ended() && observer_->work_of(worker.id()).has_answered;
    if (has_answered && nodes_.answered(worker.node(), context_.now())) {
        observer_->on_load(worker.id(), worker.load(), false);
        observer_->on_readmission(worker.node().name);
        context_.publish<events::node_readmitted>([&] {
            return events::node_readmitted{demand_.client, worker.node().name};
        });
    }
}

void node_network::on_end(node_worker& worker) noexcept {
    publish_end(worker);
    const bool is_ejected = nodes_.give_back(worker.node(), is_lost(worker), context_.now());
    if (is_ejected) {
        on_ejection(worker.node());
    }
}

void node_network::on_ejection(const known_node& node) const noexcept {
    const duration time = node.usable_at - context_.now();
    observer_->on_ejection(node.name, time);
    context_.publish<events::node_ejected>([&] {
        return events::node_ejected{demand_.client, node.name, time, node.ejections};
    });
}

/// A link that was never accepted has no events.
void node_network::publish_end(const node_worker& worker) const noexcept {
    if (!worker.was_accepted()) {
        return;
    }
    const auto publish = [&]<class Event>(std::type_identity<Event>) {
        context_.publish<Event>([&] {
            return Event{demand_.client,
                         worker.id(),
                         worker.node().name,
                         {},
                         context_.now() - worker.node().taken_at,
                         worker.last_words()};
        });
    };
    if (is_loss(worker.ended_by()) || observer_->work_of(worker.id()).broke_protocol) {
        publish(std::type_identity<events::link_lost>());
    } else {
        publish(std::type_identity<events::link_closed>());
    }
}

void node_network::on_passage(const known_node& node, node_passage passage) const noexcept {
    if (passage == node_passage::joined) {
        context_.publish<events::node_joined>([&] {
            return events::node_joined{demand_.client, node.name, node.epoch, node.load.places};
        });
        return;
    }
    const char* const reason = passage == node_passage::drained  ? "it drains"
                               : passage == node_passage::silent ? "it is silent"
                                                                 : "it was started again";
    context_.publish<events::node_left>([&] {
        return events::node_left{demand_.client, node.name, node.epoch, reason};
    });
}

remote_status node_network::status() const {
    remote_status result;
    const auto now = context_.now();
    result.is_connected = driver_.is_up();
    result.reconnects = reconnects();
    result.links = link_counts();
    nodes_.for_each([&](const known_node& each) { result.nodes.push_back(view_of(each, now)); });
    return result;
}

node_view node_network::view_of(const known_node& node, time_point now) const {
    node_view view;
    view.name = node.name;
    view.epoch = node.epoch;
    view.places = node.load.places;
    view.calls = node.load.in_flight + node.load.queued;
    view.ejections = node.ejections;
    const auto worker = worker_of(node);
    const bool has_link = worker && worker->was_accepted() && !worker->has_ended();
    if (has_link) {
        view.worker = worker->id();
        view.places = worker->load().places;
        view.calls = worker->load().calls;
        view.own_calls = observer_->work_of(worker->id()).calls;
        view.round_trip = worker->round_trip();
    }
    view.state = state_of(node, has_link, now);
    if (view.state == node_state::ejected) {
        view.ejected_for = node.usable_at - now;
    }
    return view;
}

/// See node_ejection.
bool node_network::is_lost(const node_worker& worker) const noexcept {
    const auto work = observer_->work_of(worker.id());
    switch (worker.ended_by()) {
    case link_end_cause::refused: return false;
    case link_end_cause::violation: return true;
    case link_end_cause::closed: return work.broke_protocol;
    case link_end_cause::peer_closed: return work.calls > 0 && !worker.is_orderly();
    default: return work.calls > 0;
    }
}

bool node_network::on_message(const bus_message& message) {
    const bool is_beacon = message.subject == load_subject_ || message.subject == inbox_ + "who";
    if (!is_beacon) {
        return homes_.on_message(message);
    }
    if (const auto beacon = decode_beacon(message.body)) {
        hear(*beacon);
    }
    return true;
}

void node_network::hear(const node_beacon& beacon) {
    check_worker_of(beacon);
    const auto node = nodes_.hear(beacon, context_.now());
    if (node != nullptr) {
        report_nodes();
    }
}

/// With another epoch, the program that had the link is gone.
void node_network::check_worker_of(const node_beacon& beacon) {
    const auto known = nodes_.find(beacon.node);
    const auto worker = known ? worker_of(*known) : nullptr;
    if (worker && worker->epoch() != beacon.epoch) {
        worker->close("node " + beacon.node + " was started again", link_end_cause::begun_anew);
    } else if (worker) {
        try_out(*worker);
    }
}

/// Returns the last worker that was a link to the node; null if it is gone.
std::shared_ptr<node_worker> node_network::worker_of(const known_node& node) const noexcept {
    const auto found = workers_.find(node.link);
    return found == workers_.end() ? nullptr : found->second.lock();
}

void node_network::on_connection(bool is_up) {
    observer_->on_connection(is_up);
    homes_.on_connection();
    if (is_up) {
        problem_.clear();
        context_.publish<events::bus_up>([&] { return events::bus_up{demand_.client, {}}; });
        ask_who();
    } else {
        context_.publish<events::bus_down>([&] { return events::bus_down{demand_.client, {}, problem_}; });
    }
}

void node_network::on_problem(const std::string& text) {
    problem_ = text;
    observer_->on_problem(text);
}

void node_network::on_failure(const std::exception_ptr& problem) noexcept {
    observer_->on_failure(problem);
}

} // namespace skep
