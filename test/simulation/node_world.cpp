// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/node_world.hpp"

#include "policy/remote_error.hpp"
#include "policy/timeout_detail.hpp"
#include "remote/node_pool.hpp"
#include "simulation/simulation.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t most_node_steps = 2'000'000;
constexpr duration node_rest = 120s; ///< after the traffic and the faults
constexpr duration longest_call = 40s;
constexpr std::size_t most_deaths = 8; ///< by calls of one client: five, and three trials
constexpr std::size_t strict_sessions = 12;
constexpr std::size_t hint_sessions = 4;
constexpr duration before_all_are_known =
    3s;                                     ///< then each client sees the same nodes, unless there is a fault
constexpr duration time_of_refusals = 40ms; ///< the least before a call fails that nodes refuse
constexpr duration longest_way = 20ms;      ///< of a message, for answers in time

request in_session(request what, const std::string& session) {
    if (!session.empty()) {
        const bool is_strict = session.starts_with("strict");
        what.session(session).affinity(is_strict ? affinity_mode::strict_queue : affinity_mode::hint);
    }
    return what;
}

} // namespace

node_world::node_world(std::uint64_t seed, bool tracing)
    : world_(seed, tracing),
      has_rot_(world_.chance.chance(0.1)),
      is_calm_(has_rot_ || world_.chance.chance(0.25)),
      has_sessions_(world_.chance.chance(0.5)),
      has_late_client_(is_calm_ && !has_rot_ && !has_sessions_ && world_.chance.chance(0.5)),
      bus_(world_, draw_climate()),
      traffic_(world_.chance.between(1s, 15s)),
      operator_(world_, bus_) {
    const auto machines = world_.chance.among(1, 4);
    for (std::size_t i = 0; i < machines; ++i) {
        machines_.push_back(std::make_unique<node_machine>(
            world_, bus_, "node-" + std::to_string(i), world_.pool_run_queue(i % world::most_pools), calls_));
        machines_.back()->start();
    }
    const auto clients = world_.chance.among(1, 3);
    for (std::size_t i = 0; i < clients; ++i) {
        add_client(i);
    }
}

bus_climate node_world::draw_climate() {
    auto& chance = world_.chance;
    bus_climate drawn;
    drawn.latency = chance.chance(0.5) ? chance.between(0us, 3ms) : chance.between(3ms, 50ms);
    if (!is_calm_) {
        drawn.loss = chance.chance(0.5) ? 0 : chance.share() * 0.1;
        drawn.repetition = chance.chance(0.5) ? 0 : chance.share() * 0.1;
    }
    drawn.max_payload = chance.pick<std::size_t>({bus::least_payload, 1 << 20});
    return drawn;
}

void node_world::add_client(std::size_t number) {
    auto& added = clients_.emplace_back();
    added.queue = &world_.caller_run_queue(number);
    pool_config config;
    config.name = "client-" + std::to_string(number);
    config.log_level = world_.is_tracing() ? log_level::info : log_level::off;
    config.retry.budget = 0;
    added.calls = std::make_unique<pool>(make_node_pool(context_in(world_, *added.queue),
                                                        config_of_nodes(std::move(config)), {},
                                                        connect_to(bus_, added.connection)));
    const asio::any_io_executor executor = run_queue_executor(*added.queue);
    added.news = std::make_unique<node_news>(world_, added.calls->name());
    added.listening = added.calls->events().listen(
        executor, [news = added.news.get()](const event& what) { news->hear(what); });
    asio::co_spawn(executor, added.calls->start(), asio::detached);
}

std::optional<std::string> node_world::run() {
    draw_traffic();
    if (has_rot_) {
        draw_rot();
    } else if (!is_calm_) {
        draw_faults();
    }
    if (world_.chance.chance(0.4)) {
        draw_requests();
    }
    if (has_late_client_) {
        draw_late_client();
    }
    world_.fail_allocations(with_allocation_faults ? 0.001 : 0);
    const auto end = world_.origin() + traffic_ + node_rest;
    world_.at(end - 65s, [this] { begin_last_calls(); });
    world_.at(end - 60s, [this] { end_all(); });
    world_.at(end, [] {});
    while (!world_.violation() && world_.now() < end && (world_.step() || world_.advance())) {
        if (world_.steps() > most_node_steps) {
            world_.violated("the world does not come to its end");
        }
    }
    if (!world_.violation()) {
        check_end();
    }
    return world_.violation();
}

void node_world::draw_traffic() {
    auto& chance = world_.chance;
    const auto pause = chance.pick<duration>({10ms, 100ms, 1s});
    const auto end = world_.origin() + traffic_;
    for (auto moment = world_.origin(); moment < end; moment += chance.between(1ms, pause)) {
        world_.at(moment, [this] { begin_call(); });
    }
}

node_call_record& node_world::add_call(std::size_t from) {
    auto& record = calls_.emplace_back();
    record.number = calls_.size() - 1;
    record.client = from;
    record.begin = world_.now();
    record.timeout = longest_call;
    return record;
}

void node_world::begin_call() {
    auto& chance = world_.chance;
    auto& record = add_call(chance.below(clients_.size()));
    record.is_stream = chance.chance(0.3);
    record.is_idempotent = chance.chance(0.5);
    record.crashes = chance.chance((has_sessions_ && is_calm_) || has_late_client_ ? 0 : 0.05);
    record.chunks = record.is_stream ? chance.below(200) : 0;
    record.work = chance.chance(0.8) ? chance.between(0us, 20ms) : chance.between(0us, 5s);
    record.timeout = chance.chance(0.8) ? longest_call : chance.between(1ms, longest_call);
    record.session = draw_session();
    send(record);
}

void node_world::send(node_call_record& record) {
    auto& from = clients_[record.client];
    const auto signal = std::make_shared<asio::cancellation_signal>();
    const asio::any_io_executor executor = run_queue_executor(*from.queue);
    asio::co_spawn(executor, make(from, record),
                   asio::bind_cancellation_slot(signal->slot(), [signal](const std::exception_ptr&) {}));
    if (!record.is_last && world_.chance.chance(0.05)) {
        world_.after(world_.chance.between(0us, 2s), [&record, signal, executor] {
            record.is_cancelled = true;
            asio::post(executor, [signal] { signal->emit(asio::cancellation_type::terminal); });
        });
    }
}

/// After all others, where no fault and no drain may have left a node out.
void node_world::begin_last_calls() {
    if (has_harm_ || has_drain_ || world_.has_lacked_memory()) {
        return;
    }
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        auto& record = add_call(i);
        record.is_last = true;
        send(record);
    }
}

std::string node_world::draw_session() {
    auto& chance = world_.chance;
    if (!has_sessions_ || chance.chance(0.5)) {
        return {};
    }
    return chance.chance(0.8) ? "strict-" + std::to_string(chance.below(strict_sessions))
                              : "hint-" + std::to_string(chance.below(hint_sessions));
}

void node_world::begin_anew(client& from, const std::string& session) {
    forgotten_.insert(session);
    const asio::any_io_executor executor = run_queue_executor(*from.queue);
    asio::co_spawn(executor, from.calls->forget_session(session), asio::detached);
}

asio::awaitable<void> node_world::make(client& from, node_call_record& record) {
    auto what = in_session(request(record.is_stream ? "stream" : "run"), record.session);
    what.arg("number", record.number).idempotent(record.is_idempotent).timeout(record.timeout);
    std::exception_ptr problem;
    try {
        if (record.is_stream) {
            co_await read(from, record, std::move(what));
        } else {
            const auto answer = co_await from.calls->execute(std::move(what));
            if (answer.value != record.number) {
                wrong(record, "has the answer of another");
            }
            check_origin(record, answer);
        }
    } catch (const error& failure) {
        record.failure = failure.kind();
        check_origin(record, failure);
        world_.trace("call " + std::to_string(record.number) + ": " + failure.what());
        if (are_homes_promised() && !has_drain_ && record.begin > world_.origin() + before_all_are_known &&
            failure.info().detail.find(home_is_missing) != std::string::npos) {
            wrong(record, "waits for a link to a node that all clients have");
        }
        if (failure.kind() == errc::session_worker_unavailable) {
            begin_anew(from, record.session);
        }
    } catch (const boost::system::system_error&) { // cancelled before it began
        record.failure = errc::cancelled;
    }
    if (std::exchange(record.has_ended, true)) {
        wrong(record, "ends twice");
    }
    check_ended(record);
}

asio::awaitable<void> node_world::read(client& from, node_call_record& record, request what) {
    auto opening = from.calls->stream(std::move(what));
    auto chunks = co_await std::move(opening);
    for (;;) {
        auto reading = chunks.next();
        const auto next = co_await std::move(reading);
        if (!next) {
            break;
        }
        if (next->value != record.arrived) {
            wrong(record, "has a chunk out of order");
        }
        ++record.arrived;
    }
    if (record.arrived != record.chunks || chunks.result().value != record.number) {
        wrong(record, "lacks chunks, or has the answer of another");
    }
    check_origin(record, chunks.result());
}

void node_world::draw_faults() {
    for (auto faults = world_.chance.below(6); faults > 0; --faults) {
        world_.at(world_.origin() + world_.chance.between(0us, traffic_), [this] { fault(); });
    }
}

void node_world::draw_rot() {
    has_harm_ = true;
    machines_[world_.chance.below(machines_.size())]->rot(world_.origin() + traffic_);
}

/// A client that comes later asks who is there: it does not wait until each node tells of itself.
void node_world::draw_late_client() {
    const auto moment = world_.origin() + 2s + world_.chance.between(0us, traffic_);
    world_.at(moment, [this] { add_client(clients_.size()); });
    world_.at(moment + 200ms + 10 * bus_.latency(), [this] {
        if (!has_drain_) {
            check_service();
        }
    });
}

/// Requests of the operator, which cost no call.
void node_world::draw_requests() {
    auto& chance = world_.chance;
    for (auto requests = chance.among(1, 4); requests > 0; --requests) {
        const auto& node = machines_[chance.below(machines_.size())]->name();
        const auto moment = world_.origin() + chance.between(0us, traffic_);
        if (chance.chance(0.3)) {
            world_.at(moment, [this, node] { operator_.restart(node); });
        } else {
            has_drain_ = true;
            drained_.insert(node);
            last_drain_ = std::max(last_drain_, moment);
            const auto span = chance.between(1ms, 10s);
            world_.at(moment, [this, node, span] { operator_.drain(node, span); });
        }
    }
}

void node_world::fault() {
    auto& chance = world_.chance;
    auto& machine = *machines_[chance.below(machines_.size())];
    auto* const client_wire = clients_[chance.below(clients_.size())].wire();
    auto* const wire = machine.wire() != nullptr && chance.chance(0.6) ? machine.wire() : client_wire;
    if (wire == nullptr) {
        return; // a pool that has failed
    }
    const auto span = chance.chance(0.7) ? chance.between(1ms, 3s) : chance.between(1ms, 12s);
    const auto kind = chance.below(7);
    has_harm_ = has_harm_ || kind < 5;
    switch (kind) {
    case 0: bus_.disconnect(*wire, span); break;
    case 1: bus_.restart(span); break;
    case 2: bus_.cut(*wire, span); break;
    case 3: bus_.freeze(span); break;
    case 4:
        if (machine.is_up()) {
            machine.kill();
            world_.after(span, [&machine] { machine.start(); });
        }
        break;
    case 5: bus_.set_max_payload(chance.pick<std::size_t>({bus::least_payload, 10'000, 1 << 20})); break;
    default:
        if (machine.is_up()) {
            has_drain_ = true;
            machine.drain(span);
        }
    }
}

// The oracle

void node_world::wrong(const node_call_record& record, const std::string& what) {
    world_.violated("call " + std::to_string(record.number) + " " + what);
}

void node_world::check_ended(const node_call_record& record) {
    if (!record.is_idempotent && record.runs > 1) {
        wrong(record, "has run twice");
    }
    if (record.is_stream && record.arrived > 0 && record.runs > 1 && !record.failure && record.runs > 3) {
        wrong(record, "has run too often");
    }
    if (!record.failure) {
        if (record.runs == 0) {
            wrong(record, "succeeds, and has not run");
        }
        if (record.crashes) {
            wrong(record, "succeeds, and its worker has crashed");
        }
    } else {
        check_failure(record);
    }
    if (!world_.is_in_time(record.begin + record.timeout + 10ms, world_.now())) {
        wrong(record, "ends after its time");
    }
    const auto longest = 200ms + 10 * bus_.latency();
    if (record.is_last && is_calm_ && !world_.is_in_time(record.begin + longest, world_.now())) {
        wrong(record, "takes long, though all nodes are idle");
    }
}

/// A call that has run once has run at the node of its answer.
void node_world::check_origin(const node_call_record& record, const reply& answer) {
    if (record.runs == 1 && answer.node != record.node) {
        wrong(record, "names another node than " + record.node + ", where it has run");
    }
    if (answer.worker.pool != "default" || answer.attempts < 1 || answer.run_time < duration::zero()) {
        wrong(record, "has no worker of a node, or odd figures");
    }
}

/// A plain call is lost where it may have run. An error that lacks memory for its details names no node.
void node_world::check_origin(const node_call_record& record, const error& failure) {
    const bool is_lost = failure.kind() == errc::worker_lost || failure.kind() == errc::node_lost;
    const auto& node = failure.info().node;
    if (node.empty() && world_.has_lacked_memory()) {
        return;
    }
    const bool is_named =
        !node.empty() || !record.session.empty(); // the second attempt of a session has none
    if (is_refusal(failure.kind()) && !node.empty() && world_.now() < record.begin + time_of_refusals) {
        wrong(record, "is given up at " + node + ", though it could be sent again");
    }
    if (is_lost && (!is_named || (!record.is_idempotent && record.runs == 1 && node != record.node))) {
        wrong(record, "is lost at '" + node + "', and has run at " + record.node);
    }
    if (has_rot_ && is_lost && !record.is_idempotent && record.runs == 1 && !world_.has_lacked_memory()) {
        check_time_of_loss(record);
    }
}

/// The first message of a node that was started again ends the calls of its former life. It is sent at once.
void node_world::check_time_of_loss(const node_call_record& record) {
    const auto machine =
        std::ranges::find(machines_, record.node, [](const auto& each) { return each->name(); });
    const auto restart = (*machine)->started();
    const auto longest = 2 * bus_.latency() + 1ms;
    if (restart > record.ran && !world_.is_in_time(restart + longest, world_.now())) {
        wrong(record, "is lost long after its node was started again");
    }
}

void node_world::check_failure(const node_call_record& record) {
    bool is_right = world_.has_lacked_memory();
    switch (*record.failure) {
    case errc::worker_lost: is_right = is_right || record.crashes; break; // by the node's pool
    case errc::node_lost: is_right = is_right || has_harm_; break;
    case errc::cancelled: is_right = is_right || record.is_cancelled; break;
    case errc::timeout:
        is_right = is_right || record.timeout < longest_call || record.crashes || has_harm_;
        break;
    case errc::queue_timeout:
    case errc::no_node:
    case errc::no_worker: // like the rest, by the node's pool
    case errc::unavailable:
    case errc::pool_saturated: is_right = record.is_idempotent || record.runs == 0; break;
    case errc::session_worker_unavailable:
        is_right = is_right || record.crashes || has_harm_ || (record.runs == 0 && !is_calm_) ||
                   (has_drain_ && !can_avoid_drains(record));
        break;
    case errc::shutting_down: is_right = is_right || has_drain_; break;
    default: break;
    }
    if (!is_right) {
        wrong(record, "fails without a reason: " + std::string(to_string(*record.failure)));
    }
}

/// A session that begins when all drains are known begins elsewhere.
bool node_world::can_avoid_drains(const node_call_record& record) const {
    const bool is_first = std::ranges::none_of(calls_, [&](const auto& each) {
        return &each != &record && each.session == record.session && each.begin <= record.begin;
    });
    return is_calm_ && is_first && record.begin > last_drain_ + 1s && drained_.size() < machines_.size();
}

/// Each node serves each client: a minute after the last fault and request, and without any.
void node_world::check_service() {
    for (const auto& each : machines_) {
        const bool is_known = each->is_up() && !world_.has_lacked_memory();
        if (is_known && each->is_draining()) {
            world_.violated(each->name() + " drains, though the operator has ended that");
        } else if (is_known && !has_harm_ && each->links() != clients_.size()) {
            world_.violated(each->name() + " has " + std::to_string(each->links()) + " of " +
                            std::to_string(clients_.size()) + " clients");
        }
    }
}

void node_world::end_all() {
    operator_.end();
    check_service();
    for (const auto& each : calls_) {
        const bool was_dropped = world_.has_lacked_memory(); // no memory to resume its caller
        if (!each.has_ended && !was_dropped) {
            wrong(each, "does not end");
        }
        if (each.is_last && each.failure && !was_dropped) {
            wrong(each, "fails, though all nodes are idle");
        }
    }
    for (auto& each : clients_) {
        const asio::any_io_executor executor = run_queue_executor(*each.queue);
        asio::co_spawn(executor, end(each), [&each](const std::exception_ptr&) { each.is_done = true; });
    }
    for (const auto& each : machines_) {
        if (each->is_up()) {
            each->drain();
        }
    }
}

asio::awaitable<void> node_world::end(client& one) {
    auto looking = one.calls->metrics();
    const auto figures = co_await std::move(looking);
    one.news->check(figures);
    auto ending = one.calls->shutdown();
    co_await std::move(ending);
}

/// A single node stays in use, however bad it is.
void node_world::check_ejection() {
    for (const auto& each : machines_) {
        const bool is_ejected = machines_.size() > 1 && !world_.has_lacked_memory();
        if (is_ejected && each->deaths() > most_deaths * clients_.size()) {
            world_.violated(each->name() + " gets calls, and loses them again and again");
        }
    }
}

bool node_world::are_homes_promised() const noexcept {
    return is_calm_ && !has_rot_ && bus_.latency() < longest_way && !world_.has_lacked_memory();
}

/// Clients that see the same nodes choose the same node for a strict session. A client that comes later finds
/// the session where it is.
void node_world::check_sessions() {
    if (!are_homes_promised()) {
        return;
    }
    for (std::size_t i = 0; i < strict_sessions; ++i) {
        const auto session = "strict-" + std::to_string(i);
        if (!forgotten_.contains(session)) {
            check_session(session);
        }
    }
}

void node_world::check_session(const std::string& session) {
    const node_call_record* first = nullptr;
    auto begin = time_point::max();
    for (const auto& each : calls_) {
        if (each.session == session) {
            begin = std::min(begin, each.begin);
            first = each.runs > 0 && (first == nullptr || each.ran < first->ran) ? &each : first;
        }
    }
    for (const auto& each : calls_) {
        const bool is_rival = first != nullptr && each.session == session && each.client != first->client &&
                              each.begin <= first->ran;
        if (is_rival && begin < world_.origin() + before_all_are_known) {
            return;
        }
    }
    for (const auto& each : calls_) {
        if (each.session == session && each.runs > 0 && each.node != first->node) {
            wrong(each, "of " + session + " runs at " + each.node + ", and the session is at " + first->node);
        }
    }
}

void node_world::check_end() {
    check_ejection();
    check_sessions();
    for (auto& each : clients_) {
        if (!each.is_done) {
            world_.violated("a client does not come to its end");
        }
        each.calls.reset();
    }
    while (world_.step()) {}
    if (!world_.violation() && !world_.is_context_idle()) {
        world_.violated("something waits for ever");
    }
}

result simulate_nodes(std::uint64_t seed, bool tracing) {
    auto one = std::make_unique<node_world>(seed, tracing);
    result outcome{one->run(), one->steps()};
    if (outcome.violation) {
        static_cast<void>(one.release()); // its remains would only break others
    }
    return outcome;
}

} // namespace skep::simulation
