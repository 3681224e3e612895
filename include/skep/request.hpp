// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/affinity.hpp>
#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/progress.hpp>
#include <skep/time.hpp>
#include <skep/tool.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

struct request_extras;

/// One call to a worker: a command, its arguments by name, and how long it may take. Command, session, correlation id and
/// keys of the metadata have at most 256 bytes each. A plain value; every setter works on a named request and in a chain:
///
///     skep::request req = skep::request("predict").arg("text", text).timeout(2s);
class SKEP_API request {
public:
    /// `args` must be a JSON object (its keys are the argument names).
    /// Throws error(errc::invalid_request) if it is anything else.
    explicit request(std::string command, boost::json::value args = boost::json::object());

    /// Replaces all arguments by what boost::json::value_from makes of `all`, which must be a JSON object: a struct described
    /// by BOOST_DESCRIBE_STRUCT, a map, or a type with a tag_invoke of its own.
    /// Throws error(errc::invalid_request) if it is anything else.
    request& args(boost::json::value all) &;
    template <class T>
    request& args(const T& all) & {
        return args(boost::json::value_from(all));
    }

    /// Adds or replaces one argument. Anything that boost::json::value_from converts will do.
    request& arg(std::string_view key, boost::json::value value) &;
    template <class T>
    request& arg(std::string_view key, const T& value) & {
        return arg(key, boost::json::value_from(value));
    }

    /// Sends bytes beside the JSON, without encoding. They arrive in the order attached. A blob is moved, and shares
    /// its bytes if it is copied; a vector of std::byte that is moved is taken over. All else is copied: text, and any
    /// contiguous range of std::byte or unsigned char.
    request& attach(blob bytes) &;
    request& attach(std::vector<std::byte>&& bytes) & { return attach(blob(std::move(bytes))); }
    request& attach(std::string_view bytes) &;
    request& attach(std::span<const std::byte> bytes) &;
    request& attach(std::span<const unsigned char> bytes) &;

    /// Names the session this call belongs to. It travels to the worker with the call, and calls of one session meet the
    /// same worker, as far as `affinity` has it.
    request& session(std::string id) &;

    /// How the session is bound to its worker. Default: pool_config::affinity. A request with it and without a session is
    /// refused: invalid_request.
    request& affinity(affinity_mode mode) &;

    /// The pool of a pool_manager that runs the call. Default: manager_config::default_pool. Any other pool refuses the request:
    /// invalid_request.
    request& pool(std::string name) &;

    /// Limits the whole call: queue, dispatch and execution. Default: that of the command in pool_config::commands, or else
    /// pool_config::request_timeout. 0 = no limit.
    request& timeout(duration limit) &;

    /// Longest wait for a chunk of a stream, counted while its worker may send one. Default: that of the command in
    /// pool_config::commands, or else pool_config::stream.idle_timeout. 0 = no limit. A call without a stream that has it is
    /// refused: invalid_request.
    request& idle_timeout(duration limit) &;

    /// The same as timeout(), as a moment; the earlier of the two holds.
    request& deadline(time_point moment) &;

    /// Limits the wait for a free worker. Default: that of the command in pool_config::commands, or else
    /// pool_config::queue.timeout. 0 = no limit of its own.
    request& queue_timeout(duration limit) &;

    /// True: running the call twice does no harm, so it may be sent again after a worker died with it. Default: as
    /// pool_config::commands has it, or false.
    request& idempotent(bool value) &;

    /// Adds a tool that the worker's code can call while it is at this call, or puts it in the place of the pool's of the
    /// same name. Throws error(errc::invalid_request) if `name` is none ([A-Za-z0-9][A-Za-z0-9_.-]*, at most 64
    /// characters), or the handler is empty.
    request& tool(std::string name, tool_handler handler) &;

    /// Has `handler` called when the worker's code says how far it is, on the executor of the coroutine that awaits the
    /// call or has opened the stream: with the newest report only, if they come faster than that, one at a time, and never
    /// after execute() has returned or the stream has ended. What it throws is dropped. It must not block. Each call has a
    /// copy of it; if making that throws, the call fails with errc::invalid_request.
    request& on_progress(progress_handler handler) &;

    /// Ties log lines of caller and worker together; it comes back in the reply. One is made for calls without.
    request& correlation_id(std::string id) &;

    /// Free-form facts for the worker's code, not arguments.
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
    request&& correlation_id(std::string id) && { return std::move(correlation_id(std::move(id))); }
    request&& metadata(std::string_view key, boost::json::value value) && {
        return std::move(metadata(key, std::move(value)));
    }

    template <class T>
    request&& metadata(std::string_view key, const T& value) && {
        return std::move(metadata(key, boost::json::value_from(value)));
    }

    /// What is to be called.
    const std::string& command() const noexcept { return command_; }
    const boost::json::value& args() const noexcept { return args_; }
    /// What attach() has added, in that order.
    const std::vector<blob>& attachments() const noexcept { return attachments_; }
    const std::string& session() const noexcept;
    std::optional<affinity_mode> affinity() const noexcept;
    const std::string& pool() const noexcept;
    std::optional<duration> timeout() const noexcept { return timeout_; }
    std::optional<time_point> deadline() const noexcept { return deadline_; }
    std::optional<duration> queue_timeout() const noexcept { return queue_timeout_; }
    std::optional<duration> idle_timeout() const noexcept;
    bool idempotent() const noexcept { return idempotent_.value_or(false); }
    bool has_idempotent() const noexcept { return idempotent_.has_value(); } ///< whether it was set
    const std::string& correlation_id() const noexcept;
    const boost::json::object& metadata() const noexcept;

private:
    friend struct call; // lets go of the arguments once they are encoded, and knows the extras

    /// Owns the extras, if there are any; a copy owns its own.
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

        /// They are made where there are none yet.
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
