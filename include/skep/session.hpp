// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace skep {

/// What a session holds: facts about it, and programs, which are whatever its user has prepared for later calls, by
/// name. A plain value, whose setters work on a named object and in a chain; not thread-safe.
class SKEP_API session_data {
public:
    /// How long the session lives after each access, 1 ms..365 days; 0 = session_options::ttl. Checked by the store.
    session_data& ttl(duration idle) & noexcept;
    duration ttl() const noexcept { return ttl_; }

    /// Adds or replaces one fact. Anything that boost::json::value_from converts will do.
    session_data& metadata(std::string_view key, boost::json::value value) &;
    template <class T>
    session_data& metadata(std::string_view key, const T& value) & {
        return metadata(key, boost::json::value_from(value));
    }
    const boost::json::object& metadata() const noexcept { return metadata_; }

    /// False if there is none of that key.
    bool delete_metadata(std::string_view key) noexcept;

    /// Adds or replaces one program.
    session_data& put_program(std::string_view name, boost::json::value program) &;
    template <class T>
    session_data& put_program(std::string_view name, const T& program) & {
        return put_program(name, boost::json::value_from(program));
    }

    /// Null if there is none of that name. It points into this object, and no further than to its next change.
    const boost::json::value* program(std::string_view name) const noexcept;
    const boost::json::object& programs() const noexcept { return programs_; }

    /// False if there is none of that name.
    bool delete_program(std::string_view name) noexcept;

    /// Facts and programs.
    std::size_t item_count() const noexcept { return metadata_.size() + programs_.size(); }

    session_data&& ttl(duration idle) && noexcept { return std::move(ttl(idle)); }
    session_data&& metadata(std::string_view key, boost::json::value value) && {
        return std::move(metadata(key, std::move(value)));
    }
    template <class T>
    session_data&& metadata(std::string_view key, const T& value) && {
        return std::move(metadata(key, boost::json::value_from(value)));
    }
    session_data&& put_program(std::string_view name, boost::json::value program) && {
        return std::move(put_program(name, std::move(program)));
    }
    template <class T>
    session_data&& put_program(std::string_view name, const T& program) && {
        return std::move(put_program(name, boost::json::value_from(program)));
    }

private:
    duration ttl_{};
    boost::json::object metadata_;
    boost::json::object programs_;
};

namespace detail {

/// What copies of a session share; a backend may hold more with it.
struct SKEP_API session_state : boost::intrusive_ref_counter<session_state> {
    session_state(std::string id, session_data data, std::chrono::system_clock::time_point created_at);
    virtual ~session_state();

    const std::string id;
    const session_data data;
    const std::chrono::system_clock::time_point created_at;
};

} // namespace detail

/// A session as it was when it was read. A plain value, whose copies share what the session holds, so that they cost
/// next to nothing; what others do to the session in the store does not show in it. Distinct copies may be used on
/// different threads.
class SKEP_API session {
public:
    /// A moment by a clock that people set, so that it may jump.
    using wall_time = std::chrono::system_clock::time_point;

    /// One without an id that holds nothing, as Asio wants to be able to make one.
    session();

    /// By which the store finds it.
    const std::string& id() const noexcept { return state_->id; }

    /// By the clock of the host that created it.
    wall_time created_at() const noexcept { return state_->created_at; }

    /// created_at() and the time that has passed since by a clock that does not jump.
    wall_time last_accessed() const noexcept;

    /// Since it was created, and since the last access before it was read, or that read itself if it is one.
    duration age() const noexcept { return age_; }
    duration idle_time() const noexcept { return idle_time_; }

    /// How long it lives after each access.
    duration ttl() const noexcept { return data().ttl(); }

    /// What it holds: facts and programs.
    const session_data& data() const noexcept { return state_->data; }
    const boost::json::object& metadata() const noexcept { return data().metadata(); }
    const boost::json::object& programs() const noexcept { return data().programs(); }

    /// Null if there is none of that name; it points into what this value and its copies share.
    const boost::json::value* program(std::string_view name) const noexcept { return data().program(name); }

    /// The worker that was sent the session's last call, that the session was last bound to or checked out with, or that
    /// session_store::record_worker() named since; empty if there was none. The worker may have ended. With a backend that
    /// several services share, the worker may be another service's.
    std::optional<worker_id> last_worker_id() const {
        return last_worker_ ? std::optional(*last_worker_) : std::nullopt;
    }

    /// About what it takes in memory, in bytes.
    std::size_t memory_bytes() const noexcept;

    /// For a session_backend: as it is read now. `version` says which state of the session this is: see
    /// session_backend::replace.
    session(boost::intrusive_ptr<const detail::session_state> state, duration age, duration idle_time,
            std::uint64_t version) noexcept;
    session(std::string id, session_data data, wall_time created_at, duration age, duration idle_time,
            std::uint64_t version);

    /// See session_backend::replace.
    std::uint64_t version() const noexcept { return version_; }

    /// For a session_backend: what session_backend::record_worker() has kept. Null if there is none.
    void set_last_worker(std::shared_ptr<const worker_id> id) noexcept { last_worker_ = std::move(id); }

private:
    boost::intrusive_ptr<const detail::session_state> state_; ///< never null but in what was moved from
    duration age_{};
    duration idle_time_{};
    std::uint64_t version_ = 0;
    std::shared_ptr<const worker_id> last_worker_; ///< null if none is known
};

} // namespace skep
