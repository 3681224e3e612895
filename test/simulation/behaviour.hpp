// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/dice.hpp"
#include <skep/exit_status.hpp>
#include <skep/pool_config.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace skep::simulation {

/// How much goes wrong in a world, and how: drawn once per seed.
struct climate {
    double bad_workers = 0; ///< share of the incarnations that something is wrong with
    double bad_starts = 0;  ///< share of those that do not come up
    duration barren{};      ///< until the world is so old none comes up
    double errors = 0;      ///< share of the calls that raise an exception
    double deaf_to_cancel = 0;
    duration shortest_call{}; ///< what a call takes, as a rule
    duration longest_call{};
    double slow_calls = 0;   ///< share of those that take longer
    int slowness = 10;       ///< so many times as long
    double recalling = 0;    ///< share of workers that give calls back
    double slow_recalls = 0; ///< share of the calls that they give back after a while
    double stuck_calls = 0;  ///< share of those that never end
    duration latency{};      ///< of bytes, at most
    double stubborn = 0;     ///< share of workers that do not end when told to
    double small_offers = 0; ///< share of workers that offer less than they are asked for
    double probing = 0;      ///< share of workers with a health check of their own
    std::size_t stream_room = 1u << 16;
    std::size_t batch_most = 1; ///< calls of "work" that workers take at once, by their scripts
    duration batch_wait{};
    std::uint64_t fresh_bytes = 1u << 20; ///< of memory, that every worker begins with
    std::uint64_t growth = 0;             ///< of the memory of some workers, in bytes a second
    double large_blobs = 0;               ///< share of the calls with attachments in memory of the pool
    double memory_fails = 0;              ///< share of the regions and places that the pool cannot have
    double kept_blobs = 0;                ///< share of the attachments that workers never release
};

/// What is wrong with one incarnation.
enum class flaw {
    none,
    // It does not come up.
    spawn_fails,
    start_hangs,
    says_nothing,
    never_ready,
    dies_early,
    wrong_token,
    wrong_version,
    early_garbage,
    // It comes up, but:
    crashes_at_byte, ///< of what it sends, in the middle of a frame perhaps
    crashes_at_call,
    crashes_later,
    exits_later, ///< with 0, though nobody asked
    freezes,     ///< neither reads nor works nor answers pings, for a while or for ever
    lies,        ///< breaks the protocol
    closes_data, ///< and lives on
    closes_control,
    fails_probes,
    grows,
    floods ///< tells more of itself than a host has time for
};

enum class lie {
    unknown_id,
    second_answer,
    uncalled_pong,
    pong_over_data,
    second_hello,
    second_ready,
    garbage,
    oversized,
    no_json,
    unknown_type,
    stray_chunk,
    stray_progress,
    long_progress,
    stray_tool_call,
    repeated_tool_call,
    result_over_control
};

/// What one incarnation is going to do. Drawn as it is started.
struct behaviour {
    flaw what = flaw::none;
    lie how = lie::unknown_id;
    duration spawn_time{};
    duration hello_time{};
    duration ready_time{};
    bool waits_for_welcome = true;
    std::size_t offers = 1;    ///< calls at a time
    std::uint64_t at_byte = 0; ///< crashes_at_byte
    std::uint64_t at_call = 0; ///< crashes_at_call, lies: the nth
    duration at_time{};        ///< after ready, for the other flaws
    duration frozen_for{};     ///< 0 = for ever
    exit_status dies_as = exit_status::signalled(11);
    bool dies_of_lie = false; ///< perhaps before anybody has heard it
    bool ignores_terminate = false;
    bool ignores_shutdown = false;
    duration term_time{}; ///< from SIGTERM to its end
    duration kill_time{}; ///< from SIGKILL to its end; more than stop.reap_timeout: it is lost
    bool ignores_cancel = false;
    bool gives_back = false; ///< calls that it has not begun
    bool has_probe = false;
    bool own_probe = false;
    int stack_signal = 0;
    bool was_oom_killed = false;
    std::uint64_t resident = 1u << 20;
    std::uint64_t growth = 0; ///< bytes a second
    duration company_time{};  ///< how long others of its group outlive it, with its channels open
    std::string last_words;
};

/// `age`: of the world.
behaviour draw_behaviour(dice& chance, const climate& weather, const pool_config& config, duration age);

/// Whether such a worker may become ready.
bool comes_up(flaw what) noexcept;

const char* name_of(flaw what) noexcept;

} // namespace skep::simulation
