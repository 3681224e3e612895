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

/// The data of a session: facts (metadata), and programs. A program is any value that the caller has prepared
/// for later calls, under a name. A plain value; its setters work on a named object and in a chain. Not
/// thread-safe.
class SKEP_API session_data {
public:
    /// Sets the lifetime of the session after each access, 1 ms..365 days; 0 = session_options::ttl. The
    /// store checks the range.
    session_data& ttl(duration idle) & noexcept;
    duration ttl() const noexcept { return ttl_; }

    /// Adds or replaces one fact. `value`: of any type that boost::json::value_from converts.
    session_data& metadata(std::string_view key, boost::json::value value) &;
    template <class T>
    session_data& metadata(std::string_view key, const T& value) & {
        return metadata(key, boost::json::value_from(value));
    }
    const boost::json::object& metadata() const noexcept { return metadata_; }

    /// Removes one fact. Returns false if no fact has that key.
    bool delete_metadata(std::string_view key) noexcept;

    /// Adds or replaces one program. `program`: of any type that boost::json::value_from converts.
    session_data& put_program(std::string_view name, boost::json::value program) &;
    template <class T>
    session_data& put_program(std::string_view name, const T& program) & {
        return put_program(name, boost::json::value_from(program));
    }

    /// Returns the program, or null if no program has that name. The pointer is valid until this object
    /// changes.
    const boost::json::value* program(std::string_view name) const noexcept;
    const boost::json::object& programs() const noexcept { return programs_; }

    /// Removes one program. Returns false if no program has that name.
    bool delete_program(std::string_view name) noexcept;

    /// Returns the number of facts and programs.
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

/// Immutable state that copies of a session share. A backend may derive from it to keep more data beside it.
struct SKEP_API session_state : boost::intrusive_ref_counter<session_state> {
    session_state(std::string id, session_data data, std::chrono::system_clock::time_point created_at);
    virtual ~session_state();

    const std::string id;
    const session_data data;
    const std::chrono::system_clock::time_point created_at;
};

} // namespace detail

/// Snapshot of a session at the time of a read. Later changes in the store do not appear in it. A plain
/// value: copies are cheap, because they share the data of the session. Distinct copies may be used on
/// different threads.
class SKEP_API session {
public:
    /// A moment of the system clock; this clock may jump.
    using wall_time = std::chrono::system_clock::time_point;

    /// Constructs a session without id and data; Asio requires a default constructor.
    session();

    /// Returns the id of the session in the store.
    const std::string& id() const noexcept { return state_->id; }

    /// Returns the time of creation, by the clock of the host that created the session.
    wall_time created_at() const noexcept { return state_->created_at; }

    /// Returns the time of the last access: created_at() plus the time until the access by a monotonic clock.
    wall_time last_accessed() const noexcept;

    /// Return the time since the creation, and the time since the last access before the read. The idle time
    /// is 0 if the read itself was an access.
    duration age() const noexcept { return age_; }
    duration idle_time() const noexcept { return idle_time_; }

    /// Returns the lifetime of the session after each access.
    duration ttl() const noexcept { return data().ttl(); }

    /// Returns the data of the session: facts and programs.
    const session_data& data() const noexcept { return state_->data; }
    const boost::json::object& metadata() const noexcept { return data().metadata(); }
    const boost::json::object& programs() const noexcept { return data().programs(); }

    /// Returns the program, or null if no program has that name. The pointer is valid as long as this session
    /// or a copy.
    const boost::json::value* program(std::string_view name) const noexcept { return data().program(name); }

    /// Returns the last worker of the session, or an empty optional. The last worker is the newest of: the
    /// worker that was sent the session's last call, the worker that the session was bound to or checked out
    /// with, the worker that session_store::record_worker() named. The worker may have ended. With a backend
    /// that several services share, the worker may be another service's.
    std::optional<worker_id> last_worker_id() const {
        return last_worker_ ? std::optional(*last_worker_) : std::nullopt;
    }

    /// Returns the approximate memory of the session, in bytes.
    std::size_t memory_bytes() const noexcept;

    /// For a session_backend: constructs the snapshot of a session at the time of the read. `version`
    /// identifies the state of the session: see session_backend::replace.
    session(boost::intrusive_ptr<const detail::session_state> state, duration age, duration idle_time,
            std::uint64_t version) noexcept;
    session(std::string id, session_data data, wall_time created_at, duration age, duration idle_time,
            std::uint64_t version);

    /// Returns the version of the session: see session_backend::replace.
    std::uint64_t version() const noexcept { return version_; }

    /// For a session_backend: sets the worker that session_backend::record_worker() has stored; null if there
    /// is none.
    void set_last_worker(std::shared_ptr<const worker_id> id) noexcept { last_worker_ = std::move(id); }

private:
    boost::intrusive_ptr<const detail::session_state> state_; ///< null only in a moved-from session
    duration age_{};
    duration idle_time_{};
    std::uint64_t version_ = 0;
    std::shared_ptr<const worker_id> last_worker_; ///< null if no worker is known
};

} // namespace skep
