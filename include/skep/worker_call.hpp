// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>
#include <skep/value_as.hpp>
#include <skep/worker_errors.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skep {

class served_call;

/// What a tool of the host has returned.
struct host_reply {
    boost::json::value value;      ///< what the tool has answered
    std::vector<blob> attachments; ///< `value` refers to them as {"$attachment": index}

    /// `value` as a T: see value_as.
    template <class T>
    T as() const {
        return value_as<T>(value);
    }
};

/// One call, as the handler that answers it in a worker sees it; see worker_server. It lives until the handler has ended.
///
/// Thread safety: to be used where its handler runs. That is the server's executor; on a thread of worker_options::threads
/// everything but send() and call_host() may be called, which are for coroutines. cancelled() may be called on any thread.
class SKEP_API worker_call {
public:
    worker_call(const worker_call&) = delete;
    worker_call& operator=(const worker_call&) = delete;

    /// The call's number on this worker's connection.
    std::uint64_t id() const noexcept;
    /// The command that was called.
    const std::string& command() const noexcept;

    /// The arguments by name: always an object.
    const boost::json::value& args() const noexcept;

    /// All arguments as a T, such as a struct described by BOOST_DESCRIBE_STRUCT, or one of them. Throws invalid_arguments,
    /// which says where they do not fit; an argument that is not there is a null.
    template <class T>
    T args_as() const {
        try {
            return value_as<T>(args());
        } catch (const error& misfit) {
            refuse_arguments(misfit);
        }
    }
    template <class T>
    T arg(std::string_view name) const {
        try {
            return value_as<T>(argument(name));
        } catch (const error& misfit) {
            refuse_argument(name, misfit);
        }
    }

    /// The bytes that came with the call, in order.
    const std::vector<blob>& attachments() const noexcept;

    /// The id of the session that the call belongs to; empty if it belongs to none.
    const std::string& session() const noexcept;

    /// The id under which the call shows up in logs: the caller's own, or one that the pool has made for it.
    const std::string& correlation_id() const noexcept;

    /// What the caller attached for whoever handles the call.
    const boost::json::object& metadata() const noexcept;

    /// When the caller's time is up, and what is left of it, never negative; nothing if he waits for as long as it takes.
    std::optional<time_point> deadline() const noexcept;
    std::optional<duration> remaining() const noexcept;

    /// Whether nobody waits for the answer any more, or SIGTERM has come. The handler's coroutine is cancelled then too
    /// (terminal): this is for code that computes without awaiting anything. On any thread.
    bool cancelled() const noexcept;

    /// Adds bytes to the result, and returns what stands for them in its value: {"$attachment": index}.
    boost::json::value attach(blob bytes);

    /// Sends one chunk of a stream; `value` refers to the attachments as {"$attachment": index}. Waits while the consumer
    /// is a window behind. Chunks that follow within a millisecond share a write. One call at a time.
    /// Of a call whose caller takes no chunks, they are gathered instead, at most 10,000: if there is any, the list of them
    /// is the result, and what the handler returns is dropped.
    /// Throws operation_aborted (boost::system::system_error) once the call is cancelled; std::exception if the chunk cannot
    /// be sent: it breaks a limit of the host, or holds text that is not UTF-8, or a number that is not finite. If that
    /// leaves the handler, the call fails with skep.ResultTooLarge or skep.UnserializableResult.
    /// Cancellation (all types): the wait ends with operation_aborted, and nothing is sent.
    boost::asio::awaitable<void> send(boost::json::value value, std::vector<blob> attachments = {});
    template <class T>
    requires(!std::convertible_to<const T&, boost::json::value>) boost::asio::awaitable<void> send(
        const T& value, std::vector<blob> attachments = {}) {
        return send(boost::json::value_from(value), std::move(attachments));
    }

    /// Calls a tool of the host by name, with arguments by name, and returns its answer; see pool::register_tool. Any number
    /// may be called at a time; those beyond the host's limit wait. The call's own deadline holds for the tool too.
    /// Throws host_tool_error, operation_aborted once the call is cancelled, std::invalid_argument for args that are no
    /// object, and as send() does for what cannot be sent.
    /// Cancellation (all types): the wait ends with operation_aborted; the tool is not stopped by that.
    boost::asio::awaitable<host_reply> call_host(std::string name,
                                                 boost::json::value args = boost::json::object(),
                                                 std::vector<blob> attachments = {});

    /// Tells the caller how far the handler is: `fraction` from 0 to 1, what lies outside is moved there; `text` is cut after
    /// 4 KiB. The newest counts: the first is sent at once, those after it at most every 20 ms, the last before the answer in
    /// any case. So a loop may report as often as it likes; it never waits.
    /// Throws std::invalid_argument for a fraction that is not a number.
    void progress(double fraction, std::string_view text = {});

private:
    friend class served_call;

    explicit worker_call(served_call& call) noexcept : call_(call) {}

    const boost::json::value& argument(std::string_view name) const noexcept;
    [[noreturn]] void refuse_arguments(const error& misfit) const;
    [[noreturn]] void refuse_argument(std::string_view name, const error& misfit) const;

    served_call& call_;
};

} // namespace skep
