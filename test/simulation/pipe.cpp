// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/pipe.hpp"

#include <algorithm>

namespace skep::simulation {

pipe::pipe(world& in, std::size_t room, duration latency) : world_(in), room_(room), latency_(latency) {}

pipe::~pipe() {
    held_ = true;
    advance();
}

std::size_t pipe::write(std::string_view bytes) {
    const spared_by_faults here;
    const auto taken = std::min(bytes.size(), room());
    if (dropped_) {
        return bytes.size();
    }
    if (bytes_.empty() && taken > 0) {
        delay();
    }
    bytes_.append(bytes.substr(0, taken));
    written_ += taken;
    advance();
    return taken;
}

void pipe::end() {
    const spared_by_faults here;
    ended_ = true;
    advance();
}

void pipe::hold(bool holds) {
    held_ = holds;
    advance();
}

void pipe::drop() {
    dropped_ = true;
    bytes_.clear();
    advance();
}

bool pipe::flows() const noexcept {
    const bool has_something = !bytes_.empty() || (ended_ && !end_told_);
    return has_something && !held_ && !dropped_ && world_.now() >= not_before_;
}

/// Keeps the world's list of those that flow.
void pipe::advance() {
    const spared_by_faults here;
    auto& all = world_.flowing_;
    if (flows() && place_ == nowhere) {
        place_ = all.size();
        all.push_back(this);
    } else if (!flows() && place_ != nowhere) {
        all[place_] = all.back();
        all[place_]->place_ = place_;
        all.pop_back();
        place_ = nowhere;
    }
}

void pipe::delay() {
    if (latency_ > duration::zero()) {
        not_before_ = world_.now() + world_.chance.between(duration::zero(), latency_);
        world_.at(not_before_, [weak = weak_from_this()] {
            if (const auto self = weak.lock()) {
                self->advance();
            }
        });
    }
}

void pipe::move() {
    const spared_by_faults here;
    const auto keep = shared_from_this();
    if (bytes_.empty()) {
        end_told_ = true;
        advance();
        on_end();
        return;
    }
    // Whole as a rule: most bugs do not care, and each piece costs time.
    const bool in_pieces = bytes_.size() > 1 && world_.chance.chance(0.25);
    const auto count = in_pieces ? world_.chance.among(1, bytes_.size()) : bytes_.size();
    const std::string piece = bytes_.substr(0, count);
    bytes_.erase(0, count);
    if (!bytes_.empty()) {
        delay();
    }
    advance();
    on_bytes(piece);
    if (on_room) {
        on_room();
    }
    advance();
}

} // namespace skep::simulation
