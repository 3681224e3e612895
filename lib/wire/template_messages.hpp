// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The messages between a host and the template of its workers, one JSON object a packet: see PROTOCOL.md.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// The most bytes of a message, in both directions.
inline constexpr std::size_t most_template_bytes = 64u << 10;

/// An order to fork one worker. The descriptors travel beside the text.
struct fork_order {
    std::string worker;
    std::map<std::string, std::optional<std::string>> environment; ///< nullopt removes a variable
    std::vector<std::string> arguments;                            ///< words added to the template's
};

/// The report of a template that has loaded its script.
struct template_report {
    std::int64_t pid = 0;
    std::vector<std::string> objections; ///< reasons why the template must not be forked, for people
    bool takes_regions = false;          ///< passes the line for shared memory on to workers
};

/// The answer to an order.
struct fork_answer {
    std::int64_t pid = 0; ///< of the worker; 0: the fork has failed
    std::string error;    ///< of a failed fork, for people
};

/// Throws unsendable for text that is not UTF-8. The caller compares the size with most_template_bytes.
std::string encode_fork_order(const fork_order& order);

/// Both return nullopt for any other message. Ignore unknown members.
std::optional<template_report> decode_template_report(std::string_view message);
std::optional<fork_answer> decode_fork_answer(std::string_view message);

} // namespace skep
