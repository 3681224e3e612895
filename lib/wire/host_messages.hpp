// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/pool_config.hpp>
#include <skep/request.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/serializer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace skep {

/// Appends whole frames with the host's messages to an output buffer. Reused for every message of a worker.
class host_message_encoder {
public:
    explicit host_message_encoder(std::size_t frame_limit) : frame_limit_(frame_limit) {}

    void welcome(std::string& out, const worker_id& worker, const heartbeat_options& heartbeat);

    /// Appends nothing and throws error(frame_too_large) or error(invalid_request) if the call cannot be
    /// sent. `time_left` is what remains until its deadline, if it has one.
    void call(std::string& out, std::uint64_t id, const request& call, std::optional<duration> time_left);

    void cancel(std::string& out, std::uint64_t id);
    void ping(std::string& out, std::uint64_t sequence);
    void shutdown(std::string& out, duration grace);

private:
    void append_json(std::string& out, const boost::json::value& value);
    void append_json(std::string& out, const boost::json::object& object);
    void append_text(std::string& out, std::string_view text);
    void append_serialized(std::string& out);
    void append_call(std::string& out, std::uint64_t id, const request& call,
                     std::optional<duration> time_left);
    static void append_message(std::string& out, std::string_view json);

    std::size_t frame_limit_;
    boost::json::serializer serializer_;
};

} // namespace skep
