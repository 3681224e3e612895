// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/time.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace skep::simulation {

/// A call from a client to the nodes.
struct node_call_record {
    std::size_t number = 0;
    std::size_t client = 0;
    std::string session; ///< empty for most
    bool is_stream = false;
    bool is_idempotent = false;
    bool crashes = false; ///< the worker that runs it
    std::size_t chunks = 0;
    duration work{};
    time_point begin{};
    duration timeout{};
    bool is_cancelled = false; ///< by its caller
    bool is_last = false;      ///< nothing keeps a node from it

    std::size_t runs = 0;    ///< handlers that began
    time_point ran{};        ///< the begin of the first of them
    std::string node;        ///< of the last of them
    std::size_t arrived = 0; ///< chunks
    bool has_ended = false;
    std::optional<errc> failure; ///< nothing after a success
};

} // namespace skep::simulation
