// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/world.hpp"
#include <skep/session_store.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace skep::simulation {

/// Knows what was asked of the store of sessions, and compares what it answers with what it may know. A call
/// is an access of its session too, at some time between its being made and its end; so a session may have
/// expired, or surely has.
class oracle_store {
public:
    /// When a call may have used the session last.
    using last_use = std::function<time_point(const std::string& session)>;

    oracle_store(world& in, const session_options& options, last_use used);

    void on_created(const std::string& id, const session& is);
    void on_refused(const std::string& id);
    void on_read(const std::string& id, const std::optional<session>& found, session_access how);
    void on_touched(const std::string& id, bool was_there);
    void on_updated(const session& changed);
    void on_not_updated(const std::string& id);
    void on_removed(const std::string& id, bool was_there);
    void on_cleaned(const session_store_stats& afterwards);
    void on_stats(const session_store_stats& said);
    void on_quota_warning(std::size_t count);

    /// There was no memory for what was asked of it.
    void lose_track_of(const std::string& id);

    /// A worker was sent a call of the session that was made then.
    void on_call_sent(const std::string& id, time_point made);

    /// Whether pools may have been told since then that the session has expired.
    bool may_have_expired(const std::string& id, time_point since) const;

private:
    struct known_session {
        bool is_there = false; ///< unless it has expired
        bool is_unsure = false;
        duration ttl{};
        time_point created;
        time_point accessed;               ///< at the earliest: calls may have used it later
        time_point latest;                 ///< the last access that is none by a call
        std::optional<time_point> expired; ///< when it may have been found to have
        std::int64_t changes = 0;
    };

    time_point end_of(const std::string& id, const known_session& known) const;
    bool is_surely_there(const known_session& known) const;
    bool may_be_there(const std::string& id, const known_session& known) const;
    std::size_t count_of_those_that_may_end_after(time_point moment) const;
    known_session& session_of(const std::string& id);
    void check_found(const std::string& id, bool was_there);
    void check_as_known(const known_session& known, const session& is);
    void learn(known_session& known, const session& is);
    void wrong(const std::string& what) { world_.violated("the store of sessions: " + what); }
    world& world_;
    session_options options_;
    last_use used_;
    std::map<std::string, known_session> sessions_;
    std::uint64_t created_ = 0;
    std::uint64_t removed_ = 0;
    std::uint64_t cleaned_ = 0;
};

} // namespace skep::simulation
