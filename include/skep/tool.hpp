// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/tensor_view.hpp>
#include <skep/time.hpp>
#include <skep/worker_id.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

/// A request from the worker's code to the host during a call: skep.call_host("name", key=value) in Python.
struct tool_call {
    /// Return bytes, an array, or the elements of an array by their place in `args`: see reply::attachment.
    blob attachment(std::string_view place) const { return attachment_at(args, attachments, place); }
    ndarray array(std::string_view place) const { return array_at(args, attachments, place); }
    template <array_element T>
    tensor_view<T> tensor(std::string_view place, const shape_rule& rule = {}) const {
        return detail::tensor_at<T>(args, attachments, place, rule);
    }

    std::string name;                        ///< name of the tool
    boost::json::object args;                ///< arguments by name
    std::vector<blob> attachments;           ///< see reply::attachments; `args` refer to them
    std::string command;                     ///< command of the worker's call, like the members below
    worker_id worker;                        ///< the worker that runs the call, or the link to the node
    std::string node{};                      ///< the node that has the call; empty: this machine
    std::string session;                     ///< session of the call; empty if the call has none
    std::string correlation_id;              ///< id of the call in logs
    boost::json::object metadata;            ///< see request::metadata
    time_point deadline = time_point::max(); ///< the tool is cancelled at this time
};

/// The answer of a tool: any value that boost::json::value_from converts, and bytes. The value refers to
/// bytes as {"$attachment": index}; do not use other data of this form beside bytes.
struct tool_reply {
    tool_reply() = default;
    /// Constructs an answer from JSON and bytes.
    tool_reply(boost::json::value answer, std::vector<blob> bytes = {})
        : value(std::move(answer)), attachments(std::move(bytes)) {}
    /// Constructs an answer by boost::json::value_from.
    template <class T>
    explicit tool_reply(const T& answer) : value(boost::json::value_from(answer)) {}
    /// Constructs an answer that is an array.
    tool_reply(const ndarray& answer) { value = attach_to(attachments, answer); }

    boost::json::value value;      ///< the value for the worker's code
    std::vector<blob> attachments; ///< bytes for the worker's code
};

/// Exception by which a tool reports an error with a code to the worker's code. The worker's code gets
/// skep.HostError with the same code, message and data. Any other exception of a tool becomes a
/// skep.HostError without a code.
class SKEP_API tool_error : public std::runtime_error {
public:
    /// `code`: for programs. `message`: for people. `data`: optional details.
    tool_error(std::string code, const std::string& message, boost::json::value data = nullptr);

    /// Return the constructor's arguments.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string code_;
    boost::json::value data_;
};

/// A tool: a function of the host that the workers' code can call. See pool::register_tool and request::tool.
///
/// Executor: each run of a tool has its own strand over the pool's executor. At most 16 tools run at a time
/// for one call; further requests wait in the worker.
/// Memory: answers to a worker that does not read take at most one frame (limits.frame_bytes), and 16 frames
/// more for each call of the worker.
/// Cancellation (terminal): the tool is cancelled when the call no longer needs its answer: the call has been
/// answered or cancelled, the deadline has passed, or the worker has ended. A later answer is dropped.
/// Shutdown waits a quarter of a second for the tool.
/// Calls: a call that the tool makes in its own coroutine is an inner call of the call that the tool serves.
/// The inner call gets the outer call's deadline unless its own is earlier, and the outer call's correlation
/// id unless it has its own. It fails with errc::tool_cycle if the workers it waits for all wait for it, or
/// for similar inner calls.
using tool_handler =
    std::function<boost::asio::awaitable<tool_reply, boost::asio::any_io_executor>(tool_call)>;

} // namespace skep
