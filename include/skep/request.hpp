// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/progress.hpp>
#include <skep/tensor_view.hpp>
#include <skep/time.hpp>
#include <skep/tool.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

struct request_extras;

/// One call to a worker: a command, its arguments by name, and time limits. Command, session, correlation id
/// and each key of the metadata have at most 256 bytes. A plain value. Every setter works on a named request
/// and in a chain:
///
///     skep::request req = skep::request("predict").arg("text", text).timeout(2s);
class SKEP_API request {
public:
    /// Constructs a request for `command`.
    /// `args`: a JSON object; its keys are the names of the arguments.
    /// Throws error(errc::invalid_request) if `args` is not an object.
    explicit request(std::string command, boost::json::value args = boost::json::object());

    /// Replaces all arguments by the members of a JSON object. `all`: the object, or any type that
    /// boost::json::value_from converts to an object: a struct described by BOOST_DESCRIBE_STRUCT, a map, or
    /// a type with its own tag_invoke.
    /// Throws error(errc::invalid_request) if `all` does not become an object.
    request& args(boost::json::value all) &;
    template <class T>
    request& args(const T& all) & {
        return args(boost::json::value_from(all));
    }

    /// Adds or replaces one argument. `value`: of any type that boost::json::value_from converts.
    request& arg(std::string_view key, boost::json::value value) &;
    template <class T>
    request& arg(std::string_view key, const T& value) & {
        return arg(key, boost::json::value_from(value));
    }

    /// Adds or replaces an argument that is an array, or a list of arrays. The bytes travel as attachments,
    /// behind those of attach() so far. The attachments of a replaced array stay, and are empty. The command
    /// gets arrays of numpy, or skep.Array.
    request& arg(std::string_view key, const ndarray& array) &;
    template <std::same_as<ndarray> T>
    request& arg(std::string_view key, const std::vector<T>& arrays) & {
        return set_array_list(key, arrays);
    }

    /// Sends bytes beside the JSON, without encoding. The worker receives attachments in the order of
    /// attach(). Moving or copying a blob copies no bytes. A std::vector<std::byte> that is moved in keeps
    /// its memory. Text and other contiguous ranges of std::byte or unsigned char are copied.
    request& attach(blob bytes) &;
    request& attach(std::vector<std::byte>&& bytes) & { return attach(blob(std::move(bytes))); }
    request& attach(std::string_view bytes) &;
    request& attach(std::span<const std::byte> bytes) &;
    request& attach(std::span<const unsigned char> bytes) &;

    /// Sets the session of the call. The id travels to the worker with the call. Calls of one session go to
    /// the same worker, as far as affinity() requires.
    request& session(std::string id) &;

    /// Sets how strictly the call is bound to the worker of its session. Default: pool_config::affinity. A
    /// call with affinity() and without session() fails with invalid_request.
    request& affinity(affinity_mode mode) &;

    /// Names the pool that runs the call, for calls by a pool_manager. Default: the manager's default pool. A
    /// pool rejects calls for other pools with invalid_request.
    request& pool(std::string name) &;

    /// Limits the whole call: waiting, dispatch and execution. 0 = no limit. Default:
    /// command_options::timeout of the command in pool_config::commands, or else
    /// pool_config::request_timeout, for a stream pool_config::stream.timeout.
    request& timeout(duration limit) &;

    /// Limits the wait for each chunk of a stream. The limit does not run while the worker waits for the
    /// consumer or for a tool. 0 = no limit. Default: command_options::idle_timeout of the command in
    /// pool_config::commands, or else pool_config::stream.idle_timeout. execute() of a request with an
    /// idle_timeout() fails with invalid_request.
    request& idle_timeout(duration limit) &;

    /// Limits the whole call by a point in time. The earlier of deadline() and timeout() applies, or
    /// of deadline() and the default timeout; timeout(0s) leaves the deadline alone.
    request& deadline(time_point moment) &;

    /// Limits the wait for a free worker. 0 = no separate limit. Default: command_options::queue_timeout of
    /// the command in pool_config::commands, or else pool_config::queue.timeout.
    request& queue_timeout(duration limit) &;

    /// Sets the key of the call's batch: calls of a batch command share a batch only if their keys, and their
    /// session or lease, are equal. For inputs that fit together, such as images of one size. At most 256
    /// bytes: otherwise the call fails with invalid_request. The key stays in the host. No effect on other
    /// commands. Default: empty.
    request& batch_key(std::string key) &;

    /// Declares that running the call twice does no harm. If true, the call may be sent again after its
    /// worker has died. Default: command_options::idempotent of the command in pool_config::commands, or else
    /// false.
    request& idempotent(bool value) &;

    /// Adds a tool that the worker's code can call during this call. For this call, replaces the pool's tool
    /// of the same name.
    /// Throws error(errc::invalid_request) if `name` is not [A-Za-z0-9][A-Za-z0-9_.-]* of at most 64
    /// characters, or the handler is empty.
    request& tool(std::string name, tool_handler handler) &;

    /// Calls `handler` when the worker's code reports progress. Calls of the handler do not overlap. If
    /// reports arrive faster than the handler runs, only the newest report is delivered. The handler is
    /// neither running nor called again when execute() completes or the stream ends. The handler must not
    /// block; its exceptions are dropped. Each call made with this request has its own copy of the handler;
    /// if copying throws, that call fails with errc::invalid_request.
    /// Executor: the associated executor of the operation's completion handler; in a coroutine, the
    /// coroutine's executor.
    request& on_progress(progress_handler handler) &;

    /// Sets the id that connects the log lines of caller and worker. The reply carries the id. Default: a
    /// generated id.
    request& correlation_id(std::string id) &;

    /// Adds or replaces one metadata value: free-form data for the worker's code, separate from the
    /// arguments.
    request& metadata(std::string_view key, boost::json::value value) &;
    template <class T>
    request& metadata(std::string_view key, const T& value) & {
        return metadata(key, boost::json::value_from(value));
    }

    request&& args(boost::json::value all) && { return std::move(args(std::move(all))); }
    template <class T>
    request&& args(const T& all) && {
        return std::move(args(boost::json::value_from(all)));
    }
    request&& arg(std::string_view key, boost::json::value value) && {
        return std::move(arg(key, std::move(value)));
    }
    template <class T>
    request&& arg(std::string_view key, const T& value) && {
        return std::move(arg(key, boost::json::value_from(value)));
    }
    request&& arg(std::string_view key, const ndarray& array) && { return std::move(arg(key, array)); }
    template <std::same_as<ndarray> T>
    request&& arg(std::string_view key, const std::vector<T>& arrays) && {
        return std::move(arg(key, arrays));
    }
    request&& attach(blob bytes) && { return std::move(attach(std::move(bytes))); }
    request&& attach(std::vector<std::byte>&& bytes) && { return std::move(attach(std::move(bytes))); }
    request&& attach(std::string_view bytes) && { return std::move(attach(bytes)); }
    request&& attach(std::span<const std::byte> bytes) && { return std::move(attach(bytes)); }
    request&& attach(std::span<const unsigned char> bytes) && { return std::move(attach(bytes)); }
    request&& session(std::string id) && { return std::move(session(std::move(id))); }
    request&& affinity(affinity_mode mode) && { return std::move(affinity(mode)); }
    request&& pool(std::string name) && { return std::move(pool(std::move(name))); }
    request&& timeout(duration limit) && { return std::move(timeout(limit)); }
    request&& deadline(time_point moment) && { return std::move(deadline(moment)); }
    request&& idle_timeout(duration limit) && { return std::move(idle_timeout(limit)); }
    request&& queue_timeout(duration limit) && { return std::move(queue_timeout(limit)); }
    request&& idempotent(bool value) && { return std::move(idempotent(value)); }
    request&& tool(std::string name, tool_handler handler) && {
        return std::move(tool(std::move(name), std::move(handler)));
    }
    request&& on_progress(progress_handler handler) && { return std::move(on_progress(std::move(handler))); }
    request&& batch_key(std::string key) && { return std::move(batch_key(std::move(key))); }
    request&& correlation_id(std::string id) && { return std::move(correlation_id(std::move(id))); }
    request&& metadata(std::string_view key, boost::json::value value) && {
        return std::move(metadata(key, std::move(value)));
    }

    template <class T>
    request&& metadata(std::string_view key, const T& value) && {
        return std::move(metadata(key, boost::json::value_from(value)));
    }

    /// Returns the command. Each getter returns the value that was set; without one, an empty value.
    const std::string& command() const noexcept { return command_; }
    const boost::json::value& args() const noexcept { return args_; }
    /// Returns the attachments in the order of attach().
    const std::vector<blob>& attachments() const noexcept { return attachments_; }
    /// Returns the names of the arguments that hold arrays.
    const std::vector<std::string>& arrays() const noexcept;
    const std::string& session() const noexcept;
    std::optional<affinity_mode> affinity() const noexcept;
    const std::string& pool() const noexcept;
    std::optional<duration> timeout() const noexcept { return timeout_; }
    std::optional<time_point> deadline() const noexcept { return deadline_; }
    std::optional<duration> queue_timeout() const noexcept { return queue_timeout_; }
    std::optional<duration> idle_timeout() const noexcept;
    bool idempotent() const noexcept { return idempotent_.value_or(false); }
    bool has_idempotent() const noexcept { return idempotent_.has_value(); } ///< true if idempotent() was set
    const std::string& batch_key() const noexcept;
    const std::string& correlation_id() const noexcept;
    const boost::json::object& metadata() const noexcept;

private:
    request& set_array_list(std::string_view key, const std::vector<ndarray>& arrays);
    request& set_array_arg(std::string_view key, boost::json::value value);

    friend struct forwarded_arrays; // names the arguments that hold arrays
    friend struct call;             // drops the arguments once they are encoded, and reads the extras

    /// Owns the extras, if the request has any. A copy owns its own extras.
    class SKEP_API extras_ptr {
    public:
        extras_ptr() noexcept = default;
        extras_ptr(const extras_ptr& other);
        extras_ptr(extras_ptr&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
        extras_ptr& operator=(extras_ptr other) noexcept {
            std::swap(held_, other.held_);
            return *this;
        }
        ~extras_ptr() {
            if (held_ != nullptr) {
                destroy();
            }
        }

        const request_extras* get() const noexcept { return held_; }

        /// Returns the extras; creates them first if necessary.
        request_extras& own();

    private:
        void destroy() noexcept;

        request_extras* held_ = nullptr;
    };

    std::string command_;
    boost::json::value args_;
    std::vector<blob> attachments_;
    std::optional<duration> timeout_;
    std::optional<time_point> deadline_;
    std::optional<duration> queue_timeout_;
    std::optional<bool> idempotent_;
    extras_ptr extras_;
};

} // namespace skep
