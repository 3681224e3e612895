// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/link_world.hpp"

#include "simulation/simulation.hpp"
#include "wire/link_head.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t client = 0;
constexpr std::size_t node = 1;
constexpr std::uint64_t most_link_steps = 1'000'000;
constexpr std::uint32_t least_window = 512;
constexpr duration rest = 90s;              ///< after the traffic and the faults
constexpr std::uint64_t most_at_rest = 100; ///< messages of an idle link in a minute
constexpr duration unnoticed = 1s;          ///< a peer may not hear an end that is up for that long
constexpr std::string_view consent = "welcome";

link_limits limits_of(std::size_t side, std::size_t segment) {
    link_limits limits;
    limits.segment = segment;
    limits.least_window = least_window;
    limits.silence = side == node ? 15s : 6s;
    return limits;
}

const char* name_of(link_kind kind) {
    static constexpr const char* names[] = {"",    "open", "accept", "refuse",   "data",
                                            "ack", "beat", "sync",   "sync_ack", "close"};
    return names[static_cast<std::size_t>(kind)];
}

} // namespace

link_world::link_world(std::uint64_t seed, bool is_tracing) : chance_(seed), is_tracing_(is_tracing) {
    draw_script();
    ends_[client].state.emplace(link_role::client, limits_of(client, some_segment()), some_window(), "hello",
                                now_);
}

void link_world::draw_script() {
    const bool is_near = chance_.chance(0.5);
    script_.latency = is_near ? some(0us, 3ms) : some(3ms, 150ms);
    script_.least_window = is_near ? least_window : 16 << 10;
    script_.most_window = is_near ? 8 << 10 : 64 << 10;
    script_.least_segment = is_near ? 128 : 1024;
    script_.most_segment = is_near ? 1024 : 8 << 10;
    script_.time_of_byte = chance_.chance(0.5) ? 0ns : duration(chance_.among(1, 400)); // 2.5 MB/s
    script_.traffic = some(1s, 20s);
    script_.is_calm = chance_.chance(0.25);
    script_.has_close = chance_.chance(0.3);
    if (!script_.is_calm) {
        script_.loss = chance_.chance(0.5) ? 0 : chance_.share() * (is_near ? 0.15 : 0.02);
        script_.repetition = chance_.chance(0.5) ? 0 : chance_.share() * 0.2;
        script_.has_death = chance_.chance(0.15);
    }
}

std::uint32_t link_world::some_window() {
    return static_cast<std::uint32_t>(chance_.among(script_.least_window, script_.most_window));
}

std::optional<std::string> link_world::run() {
    const auto end = origin_ + script_.traffic + rest;
    act(client, [&](link_state& state, auto& out) { state.on_bus(true, now_, out); });
    draw_traffic();
    if (!script_.is_calm) {
        draw_faults();
    }
    if (script_.has_close) {
        at(end - 25s, [this] {
            act(client, [&](link_state& state, auto& out) { state.close("the test is over", now_, out); });
        });
    }
    while (!violation_ && !events_.empty() && events_.top().moment <= end) {
        now_ = events_.top().moment;
        const auto what = events_.top().what;
        events_.pop();
        if (++steps_ > most_link_steps) {
            violated("the world does not come to its end");
        }
        what();
    }
    if (!violation_) {
        check_end();
    }
    return violation_;
}

void link_world::at(time_point moment, std::function<void()> what) {
    events_.push({moment, next_event_++, std::move(what)});
}

// Traffic

/// Frames in bursts, from both ends.
void link_world::draw_traffic() {
    const auto end = origin_ + script_.traffic;
    for (auto moment = origin_ + some(0us, 500ms); moment < end; moment += some(1ms, 400ms)) {
        const auto side = chance_.below(2);
        const auto frames = chance_.chance(0.1) ? chance_.among(5, 40) : chance_.among(1, 3);
        at(moment, [this, side, frames] { send_frames(side, frames); });
    }
    if (script_.is_calm) {
        at(end + 5s, [this] { check_delivery("in time"); });
    }
    at(end + rest / 3, [this] {
        rests_ = has_delivered(client) && has_delivered(node);
        for (auto& each : ends_) {
            each.messages_before_rest = each.messages;
        }
    });
}

void link_world::send_frames(std::size_t side, std::size_t frames) {
    auto& from = ends_[side];
    if (!from.is_open() || from.stalled_until > now_) {
        return;
    }
    for (std::size_t i = 0; i < frames; ++i) {
        from.add_frame(chance_.chance(0.1) ? chance_.among(1000, 6000)
                                           : chance_.among(link_end_record::frame_head, 300));
    }
    act(side, [&](link_state& state, auto& out) {
        change_facts(side, state);
        if (chance_.chance(0.3)) {
            from.withdraw(from.sizes.size() - chance_.below(std::min<std::size_t>(from.sizes.size(), 50)));
        }
        state.flush(now_, out);
        if (chance_.chance(0.3)) {
            from.note_sent(out);
            from.withdraw(from.sizes.size() - chance_.below(std::min<std::size_t>(from.sizes.size(), 5)));
        }
    });
}

void link_world::change_facts(std::size_t side, link_state& state) {
    if (chance_.chance(0.2)) {
        ends_[side].load = {static_cast<std::uint16_t>(chance_.below(1000)),
                            static_cast<std::uint16_t>(chance_.below(100)), chance_.chance(0.5)};
        state.set_load(ends_[side].load);
    }
    if (chance_.chance(0.05)) {
        state.set_segment(some_segment());
    }
    if (chance_.chance(0.05)) {
        state.set_window(some_window());
    }
}

// Faults

void link_world::draw_faults() {
    faults_ = chance_.below(5);
    for (auto count = faults_; count > 0; --count) {
        const auto moment = origin_ + some(0us, script_.traffic);
        const auto side = chance_.below(2);
        const auto span = chance_.chance(0.7) ? some(1ms, 3s) : some(1ms, 12s);
        switch (chance_.below(5)) {
        case 0: at(moment, [=, this] { disconnect(side, span); }); break;
        case 1: at(moment, [=, this] { restart_server(span); }); break;
        case 2: at(moment, [=, this] { cut(side, span); }); break;
        case 3: at(moment, [=, this] { stall(side, span); }); break;
        default:
            at(moment, [=, this] {
                thawed_ = std::max(thawed_, now_ + span);
                unheard(client, span);
                unheard(node, span);
            });
        }
    }
    if (script_.has_death) {
        at(origin_ + some(0us, script_.traffic * 2), [this] { kill_node(); });
    }
}

void link_world::unheard(std::size_t side, duration span) {
    unheard_[side] = std::max(unheard_[side], now_ + span);
}

void link_world::disconnect(std::size_t side, duration span) {
    auto& one = connections_[side];
    if (!one.is_up) {
        return;
    }
    one.is_up = false;
    if (now_ - one.up_since > unnoticed) {
        one.down_since = now_;
    }
    ++one.number;
    unheard(1 - side, span);
    act(side, [&](link_state& state, auto& out) { state.on_bus(false, now_, out); });
    at(now_ + span, [this, side] {
        if (ends_[side].has_died) {
            return;
        }
        connections_[side].is_up = true;
        connections_[side].up_since = now_;
        act(side, [&](link_state& state, auto& out) { state.on_bus(true, now_, out); });
    });
}

void link_world::restart_server(duration span) {
    disconnect(client, span);
    disconnect(node, span + some(0us, 300ms));
}

/// Messages to and from the end are lost. The end may not notice that.
void link_world::cut(std::size_t side, duration span) {
    if (connections_[side].is_cut) {
        return;
    }
    connections_[side].is_cut = true;
    unheard(client, span);
    unheard(node, span);
    const bool is_noticed = chance_.chance(0.5);
    at(now_ + span, [=, this] {
        connections_[side].is_cut = false;
        if (is_noticed) {
            disconnect(side, some(1ms, 100ms));
        }
    });
}

/// The program of the end stands still.
void link_world::stall(std::size_t side, duration span) {
    ends_[side].stalled_until = std::max(ends_[side].stalled_until, now_ + span);
    unheard(1 - side, span);
}

void link_world::kill_node() {
    ends_[node].has_died = true;
    died_ = now_;
    auto& one = connections_[node];
    if (std::exchange(one.is_up, false) && now_ - one.up_since > unnoticed) {
        one.down_since = now_;
    }
    ++connections_[node].number;
}

// The ends and the bus

/// Lets an end act, publishes its messages, and arms its timer.
void link_world::act(std::size_t side, const action& what) {
    auto& one = ends_[side];
    if (!one.state || one.has_died) {
        return;
    }
    link_state::messages out;
    what(*one.state, out);
    one.note_sent(out);
    for (const auto& each : out) {
        publish(side, each);
    }
    one.end_turn();
    check(side);
    arm(side);
}

void link_world::arm(std::size_t side) {
    auto& one = ends_[side];
    const auto number = ++one.timer;
    const auto due = one.state->next_tick();
    if (due <= now_ && one.ticked == now_) {
        violated("a timer is due again at once");
    } else if (due != time_point::max()) {
        at(std::max(due, now_), [this, side, number] { on_timer(side, number); });
    }
}

void link_world::on_timer(std::size_t side, std::uint64_t number) {
    auto& one = ends_[side];
    if (one.timer != number) {
        return;
    }
    if (one.stalled_until > now_) {
        at(one.stalled_until, [this, side, number] { on_timer(side, number); });
        return;
    }
    one.ticked = now_;
    act(side, [&](link_state& state, auto& out) { state.tick(now_, out); });
    one.ticked = {};
}

void link_world::publish(std::size_t side, const link_message& message) {
    const auto& from = connections_[side];
    auto& to = connections_[1 - side];
    trace(side, "sends", message);
    if (!from.is_up || from.is_cut) {
        return;
    }
    const auto leaves = std::max(now_, thawed_);
    if (!to.is_up) {
        at(leaves + 2 * script_.latency,
           [this, side, number = from.number] { return_unreceived(side, number); });
        return;
    }
    if (to.is_cut || chance_.chance(script_.loss)) {
        ++ends_[side].lost_messages;
        return;
    }
    const auto head = encode_link_head(message);
    std::string bytes(head.begin(), head.end());
    bytes += message.body;
    to.arrival = std::max(to.arrival, leaves + script_.latency) + bytes.size() * script_.time_of_byte;
    at(to.arrival, [=, this, number = to.number] { deliver(1 - side, bytes, number); });
    if (chance_.chance(script_.repetition)) {
        const auto late = chance_.chance(0.5) ? some(0us, 300ms) : 0us;
        at(to.arrival + late, [=, this, number = to.number] { deliver(1 - side, bytes, number); });
    }
}

void link_world::deliver(std::size_t to, const std::string& bytes, unsigned number) {
    auto& one = ends_[to];
    if (!connections_[to].is_up || connections_[to].number != number) {
        return;
    }
    if (one.stalled_until > now_) {
        at(one.stalled_until, [=, this] { deliver(to, bytes, number); });
        return;
    }
    const auto message = decode_link_message(bytes);
    trace(to, "receives", *message);
    if (!one.state) {
        one.state.emplace(link_role::node, limits_of(node, some_segment()), some_window(),
                          std::string(consent), now_);
    }
    act(to, [&](link_state& state, auto& out) {
        const bool has_ended = state.outcome().has_value();
        const auto input = state.receive(*message, now_, out);
        one.note_received(*message, !has_ended && !state.is_opening());
        if (!input.is_accepted) {
            one.take(input.bytes, ends_[1 - to]);
        } else if (input.bytes != consent) {
            one.wrong("the node's consent has another text");
        }
    });
}

void link_world::return_unreceived(std::size_t to, unsigned number) {
    if (connections_[to].is_up && connections_[to].number == number && ends_[to].stalled_until <= now_) {
        act(to, [&](link_state& state, auto& out) { state.on_no_receiver(now_, out); });
    }
}

// The oracle

void link_world::check(std::size_t side) {
    auto& one = ends_[side];
    one.check_frames();
    if (script_.is_calm) {
        check_calm(side);
    }
    if (one.state->outcome() && !std::exchange(one.has_ended, true)) {
        one.ended = now_;
        check_outcome(side);
    }
    if (one.problem) {
        violated(*one.problem);
    }
}

/// Without faults, nothing is sent twice or doubted.
void link_world::check_calm(std::size_t side) {
    const auto& state = *ends_[side].state;
    const auto& counts = state.counts();
    if (counts.gaps + counts.duplicates + counts.resumes + state.output().taken_again() > 0) {
        violated("bytes are sent again though none were lost");
    }
    if (state.is_open() && state.is_suspect(now_)) {
        violated("the peer is suspect though it answers");
    }
    const auto round_trip = state.round_trip();
    const auto transfer = script_.time_of_byte * 2 * (script_.most_window + 1024);
    if (round_trip > duration::zero() &&
        (round_trip < 2 * script_.latency || round_trip > 2 * script_.latency + 11ms + transfer)) {
        violated("the round trip is measured wrongly");
    }
}

void link_world::check_outcome(std::size_t side) {
    const auto cause = ends_[side].state->outcome()->cause;
    const auto& peer = connections_[1 - side];
    const bool peer_has_ended = ends_[1 - side].has_ended;
    const auto was_unheard_within = [&](duration span) {
        return now_ - span - 2 * script_.latency <= unheard_[side];
    };
    bool is_right = false;
    switch (cause) {
    case link_end_cause::closed: is_right = script_.has_close && side == client; break;
    case link_end_cause::peer_closed: is_right = peer_has_ended; break;
    case link_end_cause::no_receiver:
        is_right = now_ - peer.down_since >= 2s && !(side == client && is_noticed_late());
        break;
    case link_end_cause::no_progress:
    case link_end_cause::silence:
        is_right = !script_.is_calm && (ends_[1 - side].has_died || peer_has_ended || was_unheard_within(2s));
        break;
    default: break;
    }
    if (!is_right) {
        violated("the link ends without a reason: " + ends_[side].state->outcome()->detail);
    }
}

/// Returns true if the client has noticed the end of its node later than a link with calls allows: a beat
/// within 1 s, and 2 s without the peer. The bus takes two ways for its answer.
bool link_world::is_noticed_late() const {
    const bool is_plain = faults_ == 0 && script_.loss == 0 && script_.time_of_byte == 0ns;
    const bool has_calls = ends_[client].state->peer_load().calls > 0;
    return is_plain && ends_[node].has_died && has_calls && now_ - died_ > 3200ms + 4 * script_.latency;
}

/// Returns true if everything that the end has sent has arrived, or never will.
bool link_world::has_delivered(std::size_t side) const {
    const auto& sender = ends_[side];
    const auto& receiver = ends_[1 - side];
    return !sender.is_open() || !receiver.is_open() ||
           (receiver.has_all_of(sender) && sender.state->output().size() == 0);
}

void link_world::check_delivery(const char* when) {
    if (!has_delivered(client) || !has_delivered(node)) {
        violated(std::string("not everything has arrived ") + when);
    }
}

void link_world::check_end() {
    check_delivery("at the end");
    for (const auto side : {client, node}) {
        auto& one = ends_[side];
        const auto& peer = ends_[1 - side];
        const bool peer_is_gone = peer.has_died || (peer.has_ended && now_ - peer.ended > 20s);
        if (one.is_open() && peer_is_gone) {
            violated("the link outlives its peer");
        }
        if (rests_ && one.is_open() && peer.is_open() &&
            one.messages - one.messages_before_rest > most_at_rest) {
            violated("an idle link sends too much");
        }
        if (rests_ && script_.loss == 0 && one.is_open() && peer.is_open() && one.state->is_suspect(now_)) {
            violated("the peer stays suspect");
        }
        const auto events = one.lost_messages + peer.lost_messages + faults_ + 1;
        const auto most_again = script_.is_calm ? 0 : 4 * script_.most_window * events;
        if (one.sent_bytes > one.highest() + most_again) {
            violated("bytes are sent too often");
        }
        if (one.has_ended && peer.state && !peer.has_died) {
            one.check_left(peer);
        }
    }
    for (const auto& each : ends_) {
        if (each.problem) {
            violated(*each.problem);
        }
    }
}

void link_world::violated(std::string what) {
    if (!violation_) {
        violation_ = std::move(what);
    }
}

void link_world::trace(std::size_t side, std::string_view verb, const link_message& message) const {
    if (is_tracing_) {
        std::printf("%10.3f ms  %s %s %s, %zu bytes at %lu, expects %lu, window %u\n",
                    std::chrono::duration<double, std::milli>(now_ - origin_).count(),
                    side == client ? "client" : "node", std::string(verb).c_str(), name_of(message.kind),
                    message.body.size(), static_cast<unsigned long>(message.position),
                    static_cast<unsigned long>(message.expected), message.window);
    }
}

result simulate_link(std::uint64_t seed, bool tracing) {
    link_world one(seed, tracing);
    auto violation = one.run();
    return {std::move(violation), one.steps()};
}

} // namespace skep::simulation
