// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_core.hpp"

#include "async/pause.hpp"
#include "core/visible_text.hpp"
#include "process/local_context.hpp"
#include "remote/link_greeting.hpp"
#include "remote/subjects.hpp"
#include "wire/protocol_violation.hpp"

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

namespace skep {

namespace {

constexpr double beacon_jitter = 0.2;
constexpr duration between_looks_at_links = std::chrono::milliseconds(10);
constexpr std::size_t most_shown_clients = 100;

} // namespace

node_core::node_core(pool_context context, node_setup setup, const bus_factory& connect)
    : context_(std::move(context)),
      setup_(std::move(setup)),
      epoch_(context_.make_token()),
      who_subject_(who_subject(setup_.domain)),
      admin_subject_(admin_subject(setup_.domain, setup_.name)),
      home_subject_(home_subject(setup_.domain)),
      log_(setup_.records, context_),
      tasks_(context_.executor, [this](const std::exception_ptr& problem) { on_failure(problem); }),
      burials_(context_.executor, [](const std::exception_ptr&) {}),
      endings_(context_.executor, [](const std::exception_ptr&) {}),
      changed_(context_.executor),
      opens_(setup_.opens_per_second),
      admin_limit_(setup_.admin_per_second, context_.now()),
      questions_(setup_.questions_per_second),
      driver_(context_.executor, connect, setup_.hub, *this) {}

void node_core::start() {
    auto& carrier = driver_.carrier();
    carrier.subscribe(who_subject_);
    carrier.subscribe(admin_subject_);
    carrier.subscribe(home_subject_);
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
    beacon.is_draining = drain_.is_draining();
    for (auto& [name, offered] : setup_.pools) {
        beacon.pools.emplace(name, offered.look());
    }
    return beacon;
}

/// Each client ends its link when it has its answers. Returns true if the node did not drain before.
bool node_core::begin_to_drain(drain_cause cause) {
    const bool is_new = drain_.begin(cause);
    if (is_new) {
        tell_clients();
    }
    return is_new;
}

/// The clients open new links. Returns false if the cause of the drain is stronger.
bool node_core::end_drain(drain_cause cause) {
    const bool has_ended = drain_.end(cause);
    if (has_ended) {
        tell_clients();
    }
    return has_ended;
}

/// Tells all clients whether the node drains. Without memory, the next beacon tells them.
void node_core::tell_clients() {
    for (auto& each : setup_.pools) {
        each.second.set_draining(drain_.is_draining());
    }
    try {
        announce(load_subject(setup_.domain));
        for (const auto& each : links_) {
            each.second->tell_load();
        }
    } catch (const std::bad_alloc&) {}
}

void node_core::undrain() {
    end_drain(drain_cause::program);
}

asio::awaitable<void> node_core::drain() {
    begin_to_drain(drain_cause::program);
    const auto limit = context_.now() + setup_.drain_timeout;
    while (!links_.empty() && drain_.is_draining() && !has_failed_ && context_.now() < limit) {
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
    result.is_draining = drain_.is_draining();
    result.problem = result.is_connected ? std::string() : problem_;
    result.reconnects = driver_.reconnects();
    result.link_counts = driver_.hub().counts();
    result.clients = clients();
    result.links = links_.size();
    for (const auto& each : links_) {
        result.calls += each.second->calls();
    }
    for (auto& [name, offered] : setup_.pools) {
        result.pools.emplace(name, offered.look());
    }
    return result;
}

std::vector<client_view> node_core::clients() const {
    std::vector<client_view> found;
    for (const auto& each : links_) {
        found.push_back(each.second->look());
    }
    const auto shown = std::min(found.size(), most_shown_clients);
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), found.end(),
                      [](const auto& a, const auto& b) { return a.calls > b.calls; });
    found.resize(shown);
    return found;
}

class node_core::stop_turn {
public:
    explicit stop_turn(node_core& node) noexcept : node_(node) { node_.is_stopping_ = true; }
    ~stop_turn() {
        node_.is_stopping_ = false;
        node_.changed_.notify_all();
    }
    stop_turn(const stop_turn&) = delete;
    stop_turn& operator=(const stop_turn&) = delete;

private:
    node_core& node_;
};

/// One caller at a time. If that one fails or is cancelled, the next one goes on.
asio::awaitable<void> node_core::stop() {
    is_ending_ = true;
    changed_.notify_all();
    while (is_stopping_) {
        co_await changed_.wait();
    }
    if (!has_ended_) {
        const stop_turn turn(*this);
        co_await end_all();
        has_ended_ = true;
    }
}

/// Continues if called again after a failure.
asio::awaitable<void> node_core::end_all() {
    begin_to_drain(drain_cause::end);
    while (!links_.empty()) {
        const std::string subject = links_.begin()->first;
        const link_end stopped{link_end_cause::closed, "the node stops"};
        end(subject, stopped);
    }
    co_await burials_.join();
    tasks_.cancel();
    co_await tasks_.join();
    co_await driver_.carrier().close();
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
    if (drain_.is_draining()) {
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
    auto wish = read_link_wish(request.body());
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
            context_.executor, driver_, *accepted, std::move(wish), offered->second, setup_.limits,
            [this, subject](std::string_view reason) {
                end(subject, {link_end_cause::closed, std::string(reason)});
            });
        links_.emplace(subject, made);
        context_.publish<events::link_opened>([&] {
            return events::link_opened{made->wish().pool, {}, setup_.name, made->wish().client};
        });
        made->start();
    }
}

void node_core::handle(const link_readable& event) {
    const auto found = links_.find(event.link->subject());
    if (found == links_.end()) {
        return;
    }
    const auto readable_link = found->second; // may end while it reads
    try {
        readable_link->read();
    } catch (const protocol_violation& violation) {
        end(event.link->subject(), {link_end_cause::violation, violation.what()});
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
        end(largest->first, {link_end_cause::violation, "the node has no memory for its bytes"});
    }
}

void node_core::handle(const link_ended& event) {
    end(event.link->subject(), event.end);
}

void node_core::handle(const link_resumed& event) {
    const auto found = links_.find(event.link->subject());
    if (found != links_.end()) {
        context_.publish<events::link_resumed>([&] {
            const auto& wish = found->second->wish();
            return events::link_resumed{wish.pool, {}, setup_.name, wish.client};
        });
    }
}

void node_core::end(const std::string& subject, const link_end& end_of_link) {
    const auto found = links_.find(subject);
    if (found == links_.end()) {
        return;
    }
    const auto ended_link = found->second;
    burials_.spawn(shared_from_this(), bury(ended_link)); // first, as this may lack memory
    links_.erase(found);
    ended_link->end(end_of_link.detail);
    publish_end(*ended_link, end_of_link);
}

void node_core::publish_end(const served_link& link, const link_end& end_of_link) const noexcept {
    const auto publish = [&]<class Event>(std::type_identity<Event>) {
        context_.publish<Event>([&] {
            return Event{link.wish().pool,   {},         setup_.name,
                         link.wish().client, link.age(), end_of_link.detail};
        });
    };
    if (is_loss(end_of_link.cause)) {
        publish(std::type_identity<events::link_lost>());
    } else {
        publish(std::type_identity<events::link_closed>());
    }
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
    if (message.subject == admin_subject_) {
        handle_admin(message);
        return true;
    }
    if (message.subject == home_subject_) {
        on_question(message);
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

void node_core::handle_admin(const bus_message& message) {
    const auto action = decode_node_request(message.body);
    const bool is_answered = action && !message.reply.empty() && !is_ending_ && !has_failed_;
    if (!is_answered || !admin_limit_.admit(context_.now())) {
        return;
    }
    std::string asker(message.reply);
    const auto known_action = node_action_of(*action);
    if (!known_action) {
        conclude(*action, asker, {false, "the node cannot " + visible(*action)});
    } else if (*known_action == node_action::drain) {
        conclude(*action, asker, drain_for_operator());
    } else if (*known_action == node_action::undrain) {
        conclude(*action, asker, undrain_for_operator());
    } else {
        tasks_.spawn(shared_from_this(), restart_for_operator(std::move(asker)));
    }
}

action_outcome node_core::drain_for_operator() {
    const bool is_new = begin_to_drain(drain_cause::administrator);
    return {true, is_new ? "the node drains" : "the node drains already"};
}

action_outcome node_core::undrain_for_operator() {
    if (!drain_.is_draining()) {
        return {true, "the node does not drain"};
    }
    if (!end_drain(drain_cause::administrator)) {
        return {false, "the node is drained by its program"};
    }
    return {true, "the node serves again"};
}

asio::awaitable<void> node_core::restart_for_operator(std::string asker) {
    auto replacing = replace_workers();
    const auto answer = co_await std::move(replacing);
    conclude(to_string(node_action::restart), asker, answer);
}

/// In all pools, one after the other.
asio::awaitable<action_outcome> node_core::replace_workers() {
    action_outcome outcome{true, "the workers are being replaced already"};
    if (std::exchange(is_restarting_, true)) {
        co_return outcome;
    }
    outcome.text = "the workers are replaced";
    for (auto& [name, offered] : setup_.pools) {
        try {
            auto restarting = offered.restart();
            co_await std::move(restarting);
        } catch (const std::exception& failure) {
            outcome = {false, "pool " + name + ": " + failure.what()};
        }
    }
    is_restarting_ = false;
    co_return outcome;
}

/// Answers, and keeps a record. `asker`: the subject for the answer.
void node_core::conclude(std::string_view action, const std::string& asker, const action_outcome& answer) {
    if (driver_.carrier().is_up()) {
        driver_.carrier().publish(asker, {}, {}, encode_action_outcome(answer));
    }
    const auto operator_name = asker.substr(0, asker.rfind('.'));
    log_(log_level::warning,
         [&] { return visible(operator_name) + " asked for: " + visible(action) + "; " + answer.text; });
    context_.publish<events::node_admin>([&] {
        return events::node_admin{setup_.name, std::string(action), operator_name, answer.is_done,
                                  answer.text};
    });
}

/// Questions beyond the limit, and messages that are none, have no answer.
void node_core::on_question(const bus_message& message) {
    if (message.reply.empty() || !questions_.admit(message.reply, context_.now())) {
        return;
    }
    auto question = decode_home_question(message.body);
    if (question && setup_.pools.contains(question->pool)) {
        tasks_.spawn(shared_from_this(), answer(std::move(*question), std::string(message.reply)));
    }
}

asio::awaitable<void> node_core::answer(home_question question, std::string reply) {
    auto& offered = setup_.pools.find(question.pool)->second;
    if (question.is_to_forget) {
        co_await offered.forget_session(std::move(question.session));
        co_return;
    }
    const bool is_here = co_await offered.has_session(std::move(question.session));
    if (is_here && driver_.carrier().is_up()) {
        const home_answer told{setup_.name, epoch_, drain_.is_draining()};
        driver_.carrier().publish(reply, {}, {}, encode_home_answer(told));
    }
}

void node_core::on_connection(bool is_up) {
    if (is_up) {
        if (!std::exchange(problem_, {}).empty()) {
            log_(log_level::warning, "the connection to the bus is up again");
        }
        context_.publish<events::bus_up>([&] { return events::bus_up{{}, setup_.name}; });
        announce(load_subject(setup_.domain));
    } else {
        context_.publish<events::bus_down>([&] { return events::bus_down{{}, setup_.name, problem_}; });
    }
    changed_.notify_all();
}

void node_core::on_problem(const std::string& text) {
    log_(log_level::warning, text);
    problem_ = text;
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
                                     std::map<std::string, served_pool, std::less<>> pools, event_bus& events,
                                     const bus_factory& connect) {
    auto context = make_local_context(std::move(executor));
    context.events = {std::shared_ptr<void>(), &events}; // the owner of the pools owns the bus
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
