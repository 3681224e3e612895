// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/request.hpp>
#include <skep/time.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skep::simulation {

class sim_worker;
struct lease_record;

/// Of the progress of one call.
constexpr std::size_t most_reports = 100;

/// A call's stay at one worker, as the worker sees it.
struct visit {
    sim_worker* at = nullptr;
    std::uint64_t id = 0;       ///< on its connection
    std::uint64_t place = 0;    ///< the id of the first call in its place: of its batch, or its own
    std::size_t batch_size = 1; ///< calls of its batch, with itself
    time_point sent;            ///< when the last byte of its frame had left the pool
    std::optional<time_point> begun;
    std::optional<time_point> answered;     ///< the whole answer had left the worker
    std::optional<time_point> delivered;    ///< the pool had read all of it
    std::optional<time_point> told_to_stop; ///< by a cancel frame, when that had left the pool
    std::string error;                      ///< what it answered with, if not a result
    std::string error_code;                 ///< and the code that went with it
    bool in_doubt = false;              ///< the pool may not have listened any more when the answer arrived
    bool owed = false;                  ///< its caller still waited when the answer arrived
    bool dropped = false;               ///< it was skipped or broken off before it could answer
    bool returned = false;              ///< given back, when nobody waited for it any more
    std::size_t chunks_delivered = 0;   ///< that the pool had read
    std::size_t progress_made = 0;      ///< reports
    std::size_t progress_delivered = 0; ///< of them the pool had read
};

/// One call to execute(), and everything that is known of it.
struct call_record {
    std::size_t number = 0;
    std::string token;
    std::string command;
    int input = 0; ///< what else it is called with; calls with the same input are the same to the pool
    std::size_t padding = 0;
    std::vector<std::size_t> blobs;
    std::vector<bool> is_sealed; ///< for each of them
    bool idempotent = false;     ///< as it holds
    bool says_idempotent = true; ///< or not, by itself
    bool sendable = true;
    bool is_stream = false;
    std::size_t chunks = 0;                    ///< that its worker yields
    std::optional<std::size_t> leaves_after{}; ///< chunks, and does not read on
    bool was_opened = false;                   ///< its caller has the stream
    std::size_t received = 0;                  ///< chunks, by its caller
    call_record* outer = nullptr;              ///< whose tool has made it
    std::string correlation;                   ///< the id that it is known by outside
    std::size_t asks = 0;                      ///< tools, that its worker asks for before it goes on
    std::size_t asks_at_once = 1;              ///< so many of them
    bool is_watched = false;                   ///< its caller wants to know of its progress
    std::size_t progress_seen = 0;             ///< reports that were made until the newest its caller has got
    duration timeout{};                        ///< as it holds; 0 = none
    duration queue_timeout{};                  ///< likewise
    bool has_timeout = false;                  ///< of its own
    bool has_queue_timeout = false;
    std::optional<time_point> deadline_given;
    std::string session; ///< empty if it is of none
    std::string batch_key;
    affinity_mode mode = affinity_mode::hint;
    lease_record* lease = nullptr; ///< that it is made with
    bool is_reset = false;         ///< of its lease; nobody waits for its answer

    bool begun = false; ///< execute() was called
    time_point submitted;
    std::uint64_t born_at_step = 0;
    std::optional<time_point> cancelled;
    boost::asio::cancellation_type cancelled_how{};
    std::optional<time_point> completed;
    int completions = 0;
    bool aborted = false; ///< by Asio, before anything was begun
    bool succeeded = false;
    const sim_worker* replied = nullptr; ///< whose reply it got
    errc code{};
    bool was_denied = false;                 ///< a retry, as the budget was spent
    std::vector<visit> visits;               ///< without those that ended with its return
    const sim_worker* returned_by = nullptr; ///< the last worker that gave it back before it was begun
    std::optional<time_point> returned;      ///< when it did
    boost::asio::cancellation_signal cancel;

    bool is_open() const noexcept { return begun && !completed; }
    bool is_strict() const noexcept { return !session.empty() && mode != affinity_mode::hint; }
    /// It can go to one worker only.
    bool is_bound() const noexcept { return is_strict() || lease != nullptr; }
    time_point deadline() const noexcept;
};

} // namespace skep::simulation
