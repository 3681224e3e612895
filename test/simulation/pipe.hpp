// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/world.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace skep::simulation {

/// Bytes on their way in one direction. What was written arrives in pieces of any size, at any later step, in
/// order.
class pipe : public std::enable_shared_from_this<pipe> {
public:
    /// Holds up to `room` bytes, each of which takes up to `latency` to arrive.
    pipe(world& in, std::size_t room, duration latency);
    ~pipe();
    pipe(const pipe&) = delete;
    pipe& operator=(const pipe&) = delete;

    std::function<void(std::string_view)> on_bytes;
    std::function<void()> on_end;  ///< all has arrived that will
    std::function<void()> on_room; ///< something has arrived, so that more can be written

    /// Takes as much as there is room for; returns how much that was.
    std::size_t write(std::string_view bytes);

    /// Nothing more will be written.
    void end();

    /// The reader does not read; nothing arrives meanwhile.
    void hold(bool holds);

    /// What has not arrived is lost, and what is written from now on as well.
    void drop();

    std::size_t room() const noexcept { return room_ - bytes_.size(); }
    std::uint64_t written() const noexcept { return written_; }
    std::uint64_t arrived() const noexcept { return written_ - bytes_.size(); }
    bool has_ended() const noexcept { return ended_; }

    /// A step of the world: some bytes arrive, or the end does.
    void move();

private:
    bool flows() const noexcept;
    void advance();
    void delay();

    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

    world& world_;
    std::size_t room_;
    duration latency_;
    std::string bytes_;
    std::uint64_t written_ = 0;
    time_point not_before_;
    bool held_ = false;
    bool dropped_ = false;
    bool ended_ = false;
    bool end_told_ = false;
    std::size_t place_ = nowhere; ///< among those that flow
};

} // namespace skep::simulation
