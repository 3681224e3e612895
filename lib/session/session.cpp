// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/session_memory.hpp"
#include <skep/session.hpp>

namespace skep {

session_data& session_data::ttl(duration idle) & noexcept {
    ttl_ = idle;
    return *this;
}

session_data& session_data::metadata(std::string_view key, boost::json::value value) & {
    metadata_.insert_or_assign(key, std::move(value));
    return *this;
}

bool session_data::delete_metadata(std::string_view key) noexcept {
    return metadata_.erase(key) > 0;
}

session_data& session_data::put_program(std::string_view name, boost::json::value program) & {
    programs_.insert_or_assign(name, std::move(program));
    return *this;
}

const boost::json::value* session_data::program(std::string_view name) const noexcept {
    return programs_.if_contains(name);
}

bool session_data::delete_program(std::string_view name) noexcept {
    return programs_.erase(name) > 0;
}

detail::session_state::session_state(std::string session_id, session_data initial_data,
                                     std::chrono::system_clock::time_point creation_time)
    : id(std::move(session_id)), data(std::move(initial_data)), created_at(creation_time) {}

detail::session_state::~session_state() = default;

session::session() : state_(new detail::session_state({}, {}, {})) {}

session::session(boost::intrusive_ptr<const detail::session_state> state, duration age, duration idle_time,
                 std::uint64_t version) noexcept
    : state_(std::move(state)), age_(age), idle_time_(idle_time), version_(version) {}

session::session(std::string id, session_data data, wall_time created_at, duration age, duration idle_time,
                 std::uint64_t version)
    : session(new detail::session_state(std::move(id), std::move(data), created_at), age, idle_time,
              version) {}

session::wall_time session::last_accessed() const noexcept {
    return created_at() + std::chrono::duration_cast<wall_time::duration>(age_ - idle_time_);
}

std::size_t session::memory_bytes() const noexcept {
    return sizeof(session) + memory_of(*state_, sizeof(*state_));
}

} // namespace skep
