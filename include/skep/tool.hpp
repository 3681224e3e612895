// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace skep {

/// What a worker's code asks of the service while it is at a call: skep.call_host("name", key=value) in Python.
struct tool_call {
    std::string name;              ///< of the tool
    boost::json::object args;      ///< by name
    std::vector<blob> attachments; ///< `args` refer to them as {"$attachment": index}
    std::string command;           ///< of the call that the worker is at; what follows is that call's too
    worker_id worker;              ///< who has that call
    std::string session;           ///< empty without one
    std::string correlation_id;    ///< under which logs tell of it
    boost::json::object metadata;  ///< see request::metadata
    time_point deadline = time_point::max(); ///< the tool is cancelled then
};

/// What a tool answers with: whatever boost::json::value_from converts, and bytes, to which the value refers as
/// {"$attachment": index}.
struct tool_reply {
    tool_reply() = default;
    /// JSON as it is, and bytes.
    tool_reply(boost::json::value answer, std::vector<blob> bytes = {})
        : value(std::move(answer)), attachments(std::move(bytes)) {}
    /// What boost::json::value_from makes of `answer`.
    template <class T>
    explicit tool_reply(const T& answer) : value(boost::json::value_from(answer)) {}

    boost::json::value value;      ///< what the worker's code gets
    std::vector<blob> attachments; ///< bytes that go with it
};

/// By which a tool says what is wrong, so that the worker's code can tell by `code`. It is raised there as skep.HostError
/// with the same code, message and data; any other exception as one without a code.
class SKEP_API tool_error : public std::runtime_error {
public:
    /// `code` is for programs, `message` for people, and `data` for whom it helps.
    tool_error(std::string code, const std::string& message, boost::json::value data = nullptr);

    /// As they were given to the constructor.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string code_;
    boost::json::value data_;
};

/// A tool: something that the service does for its workers. See pool::register_tool and request::tool.
///
/// It runs on a strand of its own over the pool's executor, several at once, but no more than 16 for one call: the others
/// wait in the worker. So what waits in memory for a worker that reads nothing is at most one frame of answers
/// (limits.frame_bytes), and 16 more for each call that it has.
/// When nobody waits for the answer any more (the call has been answered, cancelled, or its deadline has passed, or its
/// worker has ended), the tool is cancelled (terminal), and what it still does then has no effect; shutdown waits for it a
/// quarter of a second.
/// A call that it makes to a pool, in its own coroutine, belongs to the call it serves: it has that one's deadline, if
/// its own is no earlier, and its correlation id, if it has none of its own. One that would have to wait until workers
/// are free that all wait for it, or for others like it, fails with errc::tool_cycle.
using tool_handler =
    std::function<boost::asio::awaitable<tool_reply, boost::asio::any_io_executor>(tool_call)>;

} // namespace skep
