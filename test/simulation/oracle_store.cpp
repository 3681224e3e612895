// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/oracle_store.hpp"

#include "simulation/faults.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// For so long a session that has expired may count as one; the docstrings say so.
constexpr duration tolerance = 1s;

} // namespace

oracle_store::oracle_store(world& in, const session_options& options, last_use used)
    : world_(in), options_(options), used_(std::move(used)) {}

/// At the latest.
time_point oracle_store::end_of(const std::string& id, const known_session& known) const {
    return std::max(known.latest, used_(id)) + known.ttl;
}

bool oracle_store::is_surely_there(const known_session& known) const {
    return known.is_there && !known.is_unsure && world_.now() <= known.accessed + known.ttl;
}

bool oracle_store::may_be_there(const std::string& id, const known_session& known) const {
    return known.is_unsure || (known.is_there && world_.now() <= end_of(id, known));
}

std::size_t oracle_store::count_of_those_that_may_end_after(time_point moment) const {
    return static_cast<std::size_t>(std::count_if(sessions_.begin(), sessions_.end(), [&](const auto& each) {
        const auto& [id, known] = each;
        return known.is_unsure || (known.is_there && moment <= end_of(id, known));
    }));
}

/// What is known of it, before it is asked for.
oracle_store::known_session& oracle_store::session_of(const std::string& id) {
    auto& known = sessions_[id];
    if (known.is_unsure || (known.is_there && !is_surely_there(known))) {
        known.expired = world_.now();
    }
    return known;
}

void oracle_store::check_found(const std::string& id, bool was_there) {
    auto& known = session_of(id);
    if (was_there && !may_be_there(id, known)) {
        wrong("there is a session " + id + ", which was not created or has expired");
    }
    if (!was_there && is_surely_there(known)) {
        wrong("there is no session " + id + ", which was created and cannot have expired");
    }
    known.is_there = was_there;
    known.is_unsure = known.is_unsure && was_there;
}

void oracle_store::check_as_known(const known_session& known, const session& is) {
    const auto changes = is.metadata().at("changes").as_int64();
    if (!known.is_unsure && changes != known.changes) {
        wrong("session " + is.id() + " holds " + std::to_string(changes) + " changes of " +
              std::to_string(known.changes));
    }
    if (!known.is_unsure && world_.now() - is.age() != known.created) {
        wrong("session " + is.id() + " says that it was created at another time");
    }
    if (world_.now() - is.idle_time() < known.accessed) {
        wrong("session " + is.id() + " does not know of its last access");
    }
}

/// It was accessed just now.
void oracle_store::learn(known_session& known, const session& is) {
    known.is_there = true;
    known.is_unsure = false;
    known.ttl = is.ttl();
    known.created = world_.now() - is.age();
    known.accessed = known.latest = world_.now();
    known.changes = is.metadata().at("changes").as_int64();
}

void oracle_store::on_created(const std::string& id, const session& is) {
    const spared_by_faults here;
    auto& known = session_of(id);
    const auto changes = is.metadata().at("changes").as_int64();
    // Perhaps created at this moment, by a use that failed later.
    const bool may_be_old = known.is_unsure && changes != 0;
    const bool is_new = is.age() == duration::zero() && !is_surely_there(known) && !may_be_old;
    if (!is_new && !may_be_there(id, known)) {
        wrong("a session " + id + " was there before it was created");
    }
    if (is_new) {
        ++created_;
        if (changes != 0) {
            wrong("a new session " + id + " holds what one held that is gone");
        }
        known.is_there = known.is_unsure = false;
        const auto others = std::count_if(sessions_.begin(), sessions_.end(),
                                          [this](const auto& each) { return is_surely_there(each.second); });
        if (static_cast<std::size_t>(others) >= options_.quota) {
            wrong("session " + id + " was created beyond the quota");
        }
    } else {
        check_as_known(known, is);
    }
    learn(known, is);
}

void oracle_store::on_refused(const std::string& id) {
    const spared_by_faults here;
    const auto& known = session_of(id);
    if (is_surely_there(known)) {
        wrong("session " + id + " was refused though it is there");
    }
    if (count_of_those_that_may_end_after(world_.now() - tolerance) < options_.quota &&
        !world_.has_lacked_memory()) {
        wrong("session " + id + " was refused though there was a place");
    }
}

void oracle_store::on_read(const std::string& id, const std::optional<session>& found, session_access how) {
    const spared_by_faults here;
    check_found(id, found.has_value());
    if (!found) {
        return;
    }
    auto& known = sessions_[id];
    check_as_known(known, *found);
    if (how == session_access::touch) {
        learn(known, *found);
    }
}

void oracle_store::on_touched(const std::string& id, bool was_there) {
    const spared_by_faults here;
    check_found(id, was_there);
    if (was_there) {
        auto& known = sessions_[id];
        known.accessed = known.latest = world_.now();
    }
}

void oracle_store::on_updated(const session& changed) {
    const spared_by_faults here;
    check_found(changed.id(), true);
    auto& known = sessions_[changed.id()];
    ++known.changes;
    check_as_known(known, changed);
    learn(known, changed);
}

void oracle_store::on_not_updated(const std::string& id) {
    const spared_by_faults here;
    check_found(id, false);
}

void oracle_store::on_removed(const std::string& id, bool was_there) {
    const spared_by_faults here;
    check_found(id, was_there);
    auto& known = sessions_[id];
    known.is_there = known.is_unsure = false;
    removed_ += was_there ? 1 : 0;
}

void oracle_store::on_cleaned(const session_store_stats& afterwards) {
    const spared_by_faults here;
    ++cleaned_;
    on_stats(afterwards);
    if (afterwards.current > count_of_those_that_may_end_after(world_.now() - tolerance) &&
        !world_.has_lacked_memory()) {
        wrong("what has expired was left after a clean-up");
    }
}

void oracle_store::on_stats(const session_store_stats& said) {
    const spared_by_faults here;
    const auto surely = std::count_if(sessions_.begin(), sessions_.end(),
                                      [this](const auto& each) { return is_surely_there(each.second); });
    if (said.current > options_.quota) {
        wrong(std::to_string(said.current) + " sessions are above the quota");
    }
    if (said.current < static_cast<std::size_t>(surely)) {
        wrong("it says that it holds " + std::to_string(said.current) + " sessions of " +
              std::to_string(surely));
    }
    const bool adds_up = said.created == created_ && said.deleted == removed_ &&
                         said.cleanup_runs == cleaned_ &&
                         said.created == said.current + said.deleted + said.expired;
    if (!adds_up && !world_.has_lacked_memory()) {
        wrong("its figures do not add up");
    }
}

void oracle_store::on_quota_warning(std::size_t count) {
    if (count * 10 < options_.quota * 8 || count > options_.quota) {
        wrong("it warns of its quota at " + std::to_string(count) + " sessions");
    }
}

void oracle_store::lose_track_of(const std::string& id) {
    const spared_by_faults here;
    sessions_[id].is_unsure = true;
}

void oracle_store::on_call_sent(const std::string& id, time_point made) {
    const spared_by_faults here;
    const auto found = sessions_.find(id);
    if (found != sessions_.end() && is_surely_there(found->second) && !world_.has_lacked_memory()) {
        found->second.accessed = std::max(found->second.accessed, made);
    }
}

bool oracle_store::may_have_expired(const std::string& id, time_point since) const {
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) {
        return false;
    }
    const auto& known = found->second;
    const bool may_be_found_so = known.is_unsure || (known.is_there && !is_surely_there(known));
    return may_be_found_so || (known.expired && *known.expired >= since);
}

} // namespace skep::simulation
