// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/sim_bus.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

void sim_bus::connection::publish(std::string_view subject, std::string_view reply, std::string_view head,
                                  std::string_view body) {
    message one{std::string(subject), std::string(reply), std::string(head), false};
    one.body += body;
    if (one.body.size() > server_.climate_.max_payload) {
        server_.world_.violated("a message is larger than the bus allows");
    }
    if (is_up_ && !is_cut_) {
        server_.route(*this, one);
    }
}

/// Like a server: `*` stands for one part.
bool sim_bus::connection::fits(std::string_view subject) const {
    if (subjects_.contains(std::string(subject))) {
        return true;
    }
    return subjects_.contains(std::string(subject.substr(0, subject.rfind('.') + 1)) + "*");
}

void sim_bus::connection::put(message one) {
    auto& around = server_.world_;
    coming_bytes_ += one.body.size();
    coming_.push_back(std::move(one));
    if (coming_bytes_ > server_.climate_.max_pending) {
        ++server_.slow_consumers_;
        server_.disconnect(*this, 100ms);
        return;
    }
    const auto leaves = std::max(around.now(), server_.frozen_until_);
    arrival_ = std::max(arrival_, leaves + around.chance.between(0us, server_.climate_.latency));
    around.at(arrival_, [this, number = number_] { deliver(number); });
}

/// One event for each message; which message, the order decides.
void sim_bus::connection::deliver(unsigned number) {
    auto& around = server_.world_;
    if (!is_up_ || number != number_ || coming_.empty()) {
        return;
    }
    if (stalled_until_ > around.now()) {
        around.at(stalled_until_, [this, number] { deliver(number); });
        return;
    }
    const auto one = std::move(coming_.front());
    coming_.pop_front();
    coming_bytes_ -= one.body.size();
    user_.on_message({one.subject, one.reply, one.body, one.has_no_receiver});
}

sim_bus::connection& sim_bus::connect(bus_user& user) {
    return *connections_.emplace_back(std::make_unique<connection>(*this, user));
}

void sim_bus::route(connection& from, const connection::message& one) {
    first_.try_emplace(one.subject, one);
    bool has_receiver = false;
    for (const auto& each : connections_) {
        if (!each->is_up_ || !each->fits(one.subject)) {
            continue;
        }
        has_receiver = true;
        if (each->is_cut_ || world_.chance.chance(climate_.loss)) {
            continue;
        }
        each->put(one);
        if (world_.chance.chance(climate_.repetition)) {
            repeat(*each, one);
        }
    }
    if (!has_receiver && !one.reply.empty()) {
        from.put({one.reply, {}, {}, true});
    }
}

void sim_bus::repeat(connection& receiver, const connection::message& one) {
    const duration delay = world_.chance.chance(0.5) ? duration() : world_.chance.between(0us, 2s);
    world_.after(delay, [&receiver, one] {
        if (receiver.is_up_ && !receiver.is_cut_ && receiver.fits(one.subject)) {
            receiver.put(one);
        }
    });
}

void sim_bus::set_up(connection& which, bool is_up) {
    which.is_up_ = is_up;
    ++which.number_;
    which.coming_.clear();
    which.coming_bytes_ = 0;
    world_.soon([&which, is_up, number = which.number_] {
        if (number == which.number_) {
            which.user_.on_connection(is_up);
        }
    });
}

void sim_bus::disconnect(connection& which, duration span) {
    if (!which.is_up_) {
        return;
    }
    set_up(which, false);
    world_.after(span, [this, &which, number = which.number_] {
        if (number == which.number_) {
            set_up(which, true);
        }
    });
}

/// Messages to and from the connection are lost. The program may not notice that.
void sim_bus::cut(connection& which, duration span) {
    which.is_cut_ = true;
    const bool is_noticed = world_.chance.chance(0.5);
    world_.after(span, [this, &which, is_noticed] {
        which.is_cut_ = false;
        if (is_noticed) {
            disconnect(which, world_.chance.between(1ms, 100ms));
        }
    });
}

void sim_bus::stall(connection& which, duration span) {
    which.stalled_until_ = std::max(which.stalled_until_, world_.now() + span);
}

void sim_bus::restart(duration span) {
    for (const auto& each : connections_) {
        disconnect(*each, span + world_.chance.between(0us, 300ms));
    }
}

void sim_bus::freeze(duration span) {
    frozen_until_ = std::max(frozen_until_, world_.now() + span);
}

void sim_bus::repeat_first(std::string_view begin) {
    for (const auto& [subject, one] : first_) {
        for (const auto& each : connections_) {
            if (subject.starts_with(begin) && each->is_up_ && !each->is_cut_ && each->fits(subject)) {
                each->put(one);
            }
        }
    }
}

void sim_bus::kill(connection& which) {
    which.is_up_ = false;
    ++which.number_;
    which.subjects_.clear();
}

} // namespace skep::simulation
