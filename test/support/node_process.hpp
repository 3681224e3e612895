// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/nats_server.hpp"

#include <fstream>
#include <map>
#include <string>

namespace skep::test {

/// A node in a process of its own: see nats_node.
class node_process : public server_process {
public:
    node_process(const nats_server& server, const std::string& name) {
        set_command({SKEP_NATS_NODE, "nats://" + server.address(), name, log()}, [] { return true; });
        start();
    }

    /// Returns how often each call has begun, by its number.
    std::map<int, int> runs() const {
        std::map<int, int> counts;
        std::ifstream file(log());
        for (int number = 0; file >> number;) {
            ++counts[number];
        }
        return counts;
    }

private:
    std::string log() const { return folder() / "runs"; }
};

} // namespace skep::test
