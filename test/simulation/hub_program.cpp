// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/hub_program.hpp"

#include "simulation/hub_world.hpp"
#include "wire/link_head.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

constexpr duration longest_ignorance = 8s; ///< of the end of a link at the peer; silence takes longer

std::string subject_of(std::size_t side, std::size_t program) {
    return std::string(side == hub_world::client ? "client." : "node.") + std::to_string(program) + ".";
}

} // namespace

hub_program::hub_program(hub_world& around, std::size_t side, std::size_t number, const hub_options& options)
    : around_(around), side_(side), number_(number), connection_(around.bus_.connect(*this)) {
    connection_.subscribe(subject_of(side, number) + "*");
    hub_ = std::make_unique<link_hub>(connection_, options);
}

bool hub_program::is_running() const noexcept {
    return is_alive_ && stalled_until_ <= around_.world_.now();
}

void hub_program::open_link(std::size_t to) {
    auto& record = around_.links_.emplace_back();
    record.number = around_.links_.size() - 1;
    record.client = number_;
    record.node = to;
    const auto name = std::to_string(record.number);
    record.ends[side_] = {
        this, &hub_->open(subject_of(side_, number_) + name, subject_of(hub_world::node, to) + name, name)};
    record.from[side_].push_back({record.ends[side_].link->state().epoch(), {}, 0});
    records_.emplace(record.ends[side_].link, &record);
    end_turn();
}

void hub_program::send(link_record& record, std::size_t frames, std::size_t most_payload) {
    auto* const link = record.ends[side_].link;
    if (!records_.contains(link) || !is_running()) {
        return;
    }
    auto& chance = around_.world_.chance;
    const bool is_idle = link->state().is_open() && link->state().output().size() == 0;
    const auto first_frame = record.from[side_].back().sizes.size() + 1;
    for (std::size_t i = 0; i < frames; ++i) {
        const auto size =
            chance.chance(0.03) ? chance.below(around_.most_frame_) : chance.below(most_payload);
        hub_->send(*link, record.make_frame(side_, size));
    }
    end_turn();
    if (is_idle && around_.is_calm_) {
        expect_arrival(record, first_frame);
    }
}

/// Has the arrival of a small frame checked.
void hub_program::expect_arrival(const link_record& record, std::size_t frame) {
    constexpr duration latest = 1ms; ///< beyond the latency of the bus
    if (record.from[side_].back().sizes[frame - 1] < small_payload) {
        around_.world_.after(around_.bus_.latency() + latest,
                             [this, &record, frame] { around_.check_arrival(record, side_, frame); });
    }
}

void hub_program::close(link_record& record) {
    auto* const link = record.ends[side_].link;
    if (records_.contains(link) && is_running()) {
        hub_->close(*link, "it was closed");
        end(*link);
        end_turn();
    }
}

void hub_program::change_facts() {
    if (!is_running()) {
        return;
    }
    auto& chance = around_.world_.chance;
    if (side_ == hub_world::node) {
        load_ = {static_cast<std::uint16_t>(chance.below(1000)), 8, chance.chance(0.1)};
    }
    end_turn();
}

void hub_program::stall(duration span) {
    stalled_until_ = std::max(stalled_until_, around_.world_.now() + span);
    around_.bus_.stall(connection_, span);
}

void hub_program::kill() {
    is_alive_ = false;
    around_.bus_.kill(connection_);
    for (const auto& each : records_) {
        each.second->ends[side_] = {this, nullptr, true};
    }
    records_.clear();
}

void hub_program::on_message(const bus_message& message) {
    if (is_alive_) {
        const auto told = decode_link_message(message.body);
        around_.world_.trace(std::string(message.subject) + " hears message of kind " +
                             std::to_string(told ? static_cast<int>(told->kind) : 0));
        hub_->on_message(message, events_);
        end_turn_later();
    }
}

void hub_program::on_connection(bool is_up) {
    if (is_alive_) {
        hub_->on_connection(is_up, events_);
        end_turn();
    }
}

/// A turn may have several reports of the bus.
void hub_program::end_turn_later() {
    if (around_.world_.chance.chance(0.7)) {
        end_turn();
    } else if (!std::exchange(is_late_, true)) {
        around_.world_.soon([this] {
            if (is_alive_) {
                end_turn();
            }
        });
    }
}

void hub_program::end_turn() {
    is_late_ = false;
    for (std::size_t i = 0; i < events_.size(); ++i) {
        auto event = std::move(events_[i]); // an event may cause others
        apply(event);
    }
    events_.clear();
    hub_->flush();
    arm();
}

void hub_program::apply(link_event& event) {
    if (const auto* request = std::get_if<link_request>(&event)) {
        answer(*request);
    } else if (const auto* accepted = std::get_if<link_accepted>(&event)) {
        if (accepted->consent != "welcome") {
            around_.world_.violated("the node's consent has another text");
        }
    } else if (const auto* readable = std::get_if<link_readable>(&event)) {
        if (records_.contains(readable->link)) {
            read(*readable->link);
        }
    } else if (const auto* ended = std::get_if<link_ended>(&event);
               ended != nullptr && records_.contains(ended->link)) {
        around_.world_.trace(ended->link->subject() + " has ended: " + ended->end.detail);
        around_.check_outcome(*this, *records_.at(ended->link), ended->end);
        end(*ended->link);
    }
}

void hub_program::answer(const link_request& request) {
    auto& record = around_.links_.at(std::stoul(std::string(request.body())));
    if (side_ == hub_world::client) {
        around_.world_.violated("a client is asked for a link");
    }
    if (record.number % 8 == 7) {
        hub_->refuse(request, "no room");
        return;
    }
    if (auto* const made = hub_->accept(request, "welcome", load_, events_)) {
        record.is_reopened = record.is_reopened || record.ends[side_].is_gone;
        record.from[side_].push_back({made->state().epoch(), {}, 0});
        record.ends[side_] = {this, made};
        records_.emplace(made, &record);
    }
}

void hub_program::read(remote_link& link) {
    auto& record = *records_.at(&link);
    auto& frames = record.ends[side_].frames;
    const auto bytes = link.unread_bytes();
    const auto wanted = around_.world_.chance.chance(0.2) ? around_.world_.chance.below(bytes + 1) : bytes;
    for (std::size_t count = 0; count < wanted;) {
        const auto space = frames.prepare();
        const auto part = space.first(std::min(space.size(), wanted - count));
        frames.commit(hub_->read(link, part));
        count += part.size();
    }
    if (wanted < bytes) {
        read_later(link);
    }
    while (const auto frame = frames.next()) {
        if (const char* const problem = record.take(1 - side_, *frame)) {
            around_.world_.violated(link.subject() + ": " + problem);
            return;
        }
    }
}

void hub_program::read_later(remote_link& link) {
    around_.world_.soon([this, &link] {
        if (is_alive_ && records_.contains(&link)) {
            read(link);
        }
    });
}

void hub_program::end(remote_link& link) {
    auto& record = *records_.at(&link);
    record.ends[side_] = {this, nullptr, true};
    records_.erase(&link);
    hub_->forget(link);
    around_.world_.after(longest_ignorance, [this, &record] { around_.check_peer_of(record, side_); });
}

void hub_program::arm() {
    const auto due = hub_->next_tick();
    if (is_alive_ && due != time_point::max()) {
        around_.world_.at(due, [this, armed = ++armed_] { on_timer(armed); });
    }
}

void hub_program::on_timer(std::uint64_t armed) {
    if (armed != armed_ || !is_alive_) {
        return;
    }
    if (!is_running()) {
        around_.world_.at(stalled_until_, [this, armed] { on_timer(armed); });
        return;
    }
    hub_->tick(events_);
    end_turn();
}

} // namespace skep::simulation
