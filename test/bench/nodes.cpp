// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A client among many nodes, without a server: the choice of a node, and what the nodes tell.

#include "core/random_share.hpp"
#include "modes.hpp"
#include "remote/node_directory.hpp"
#include "remote/node_scheduler.hpp"

#include <malloc.h>

namespace skep::bench {

namespace {

constexpr std::size_t node_picks = 1'000'000;
constexpr std::size_t rounds_of_beacons = 100;
constexpr std::uint32_t places = 4;

std::size_t heap_bytes() {
    return ::mallinfo2().uordblks;
}

/// Each call goes to the node that is picked, and the oldest call ends. Half of the places are taken.
double nanoseconds_per_pick(std::size_t nodes) {
    const auto loads = std::make_shared<told_loads>();
    node_scheduler chooser(loads, random_share);
    std::vector<std::size_t> calls(nodes);
    const auto change = [&](std::uint32_t node, int difference) {
        calls[node] += static_cast<std::size_t>(difference);
        chooser.offer(node, calls[node]);
    };
    for (std::size_t node = 0; node < nodes; ++node) {
        const auto slot = static_cast<std::uint32_t>(node);
        loads->tell(slot, {0, places});
        chooser.offer(slot, 0);
    }
    std::vector<std::uint32_t> taken(nodes * places / 2);
    for (auto& node : taken) {
        node = chooser.pick({}).value();
        change(node, 1);
    }
    const auto begin = cpu_time();
    for (std::size_t i = 0, oldest = 0; i < node_picks; ++i) {
        const auto node = chooser.pick({}).value();
        change(node, 1);
        change(taken[oldest], -1);
        taken[oldest] = node;
        oldest = oldest + 1 < taken.size() ? oldest + 1 : 0;
    }
    return (cpu_time() - begin).count() * 1e9 / static_cast<double>(node_picks);
}

std::vector<std::string> beacons_of(std::size_t nodes) {
    std::vector<std::string> beacons;
    for (std::size_t i = 0; i < nodes; ++i) {
        node_beacon beacon;
        beacon.node = "a-node-with-a-name-" + std::to_string(i);
        beacon.epoch = "0123456789abcdefghijkl";
        beacon.interval = std::chrono::seconds(1);
        beacon.pools.emplace("default", load_view{1, 0, places, true});
        beacons.push_back(encode_beacon(beacon));
    }
    return beacons;
}

void hear(node_directory& known, const std::string& message) {
    const auto beacon = decode_beacon(message);
    known.hear(beacon.value(), now());
    known.usable(now());
}

} // namespace

figures measure_nodes(const arguments& args) {
    const auto nodes = args.number("nodes");
    const auto beacons = beacons_of(nodes);
    node_directory known("default");
    const auto memory = heap_bytes();
    for (const auto& each : beacons) {
        hear(known, each);
    }
    const auto bytes = static_cast<double>(heap_bytes() - memory) / static_cast<double>(nodes);
    const auto begin = cpu_time();
    for (std::size_t round = 0; round < rounds_of_beacons; ++round) {
        for (const auto& each : beacons) {
            hear(known, each);
        }
    }
    const auto spent = (cpu_time() - begin) / static_cast<double>(rounds_of_beacons);
    return {{"pick_ns", nanoseconds_per_pick(nodes)},
            {"beacons_ms", spent.count() * 1e3},
            {"bytes_per_node", bytes}};
}

} // namespace skep::bench
