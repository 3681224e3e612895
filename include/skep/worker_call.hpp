// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/export.hpp>
#include <skep/tensor_view.hpp>
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

/// The answer of a host tool.
struct host_reply {
    boost::json::value value;      ///< the answer
    std::vector<blob> attachments; ///< `value` refers to them as {"$attachment": index}

    /// Converts `value` to a T: see value_as.
    template <class T>
    T as() const {
        return value_as<T>(value);
    }

    /// Return bytes, an array, or the elements of an array by their place in `value`: see reply::attachment.
    blob attachment(std::string_view place) const { return attachment_at(value, attachments, place); }
    ndarray array(std::string_view place) const { return array_at(value, attachments, place); }
    template <array_element T>
    tensor_view<T> tensor(std::string_view place, const shape_rule& rule = {}) const {
        return detail::tensor_at<T>(value, attachments, place, rule);
    }
};

/// One call, seen by its handler in a worker; see worker_server. Valid until the handler has ended.
///
/// Thread safety: used where the handler runs, which is normally the server's executor. On a thread of
/// worker_options::threads, everything except send() and call_host() may be called; these two are for
/// coroutines. cancelled() may be called from any thread.
class SKEP_API worker_call {
public:
    worker_call(const worker_call&) = delete;
    worker_call& operator=(const worker_call&) = delete;

    /// Returns the number of the call on this worker's connection.
    std::uint64_t id() const noexcept;
    /// Returns the command.
    const std::string& command() const noexcept;

    /// Returns the arguments by name: always an object.
    const boost::json::value& args() const noexcept;

    /// Convert all arguments, or one argument, to a T, such as a struct described by BOOST_DESCRIBE_STRUCT. A
    /// missing argument is a null.
    /// Throw invalid_arguments with the place that does not fit.
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

    /// Returns the bytes that came with the call, in order. The bytes of arrays are among them.
    const std::vector<blob>& attachments() const noexcept;

    /// Return an array, or the elements of an array, by their place in the arguments: the argument's name, or
    /// a JSON pointer such as "/images/0". `rule`: the expected shape; see shape_rule.
    /// Throw invalid_arguments with place and rule if something else is there: see array_at and tensor_view.
    ndarray array(std::string_view place) const;
    template <array_element T>
    tensor_view<T> tensor(std::string_view place, const shape_rule& rule = {}) const {
        const auto found = array(place);
        try {
            return tensor_view<T>(found, rule, detail::pointer_of(place));
        } catch (const error& misfit) {
            refuse_arguments(misfit);
        }
    }

    /// Returns the id of the call's session; empty if the call has none.
    const std::string& session() const noexcept;

    /// Returns the id of the call in logs: the caller's own, or an id that the pool has generated.
    const std::string& correlation_id() const noexcept;

    /// Returns the caller's metadata: see request::metadata.
    const boost::json::object& metadata() const noexcept;

    /// Return the caller's deadline, and the time until then, never negative. Empty if the caller has no
    /// deadline.
    std::optional<time_point> deadline() const noexcept;
    std::optional<duration> remaining() const noexcept;

    /// Returns true if the caller no longer waits for the answer, or SIGTERM has arrived. For code that
    /// computes without awaiting: the coroutine of the handler is also cancelled (terminal).
    /// Thread safety: may be called from any thread.
    bool cancelled() const noexcept;

    /// Adds bytes to the result. Returns the reference for the result's value: {"$attachment": index}. Do not
    /// return other data of this form beside bytes: it would pass for a reference.
    boost::json::value attach(blob bytes);

    /// Adds an array to the result. Returns the JSON that stands for the array in the result's value.
    boost::json::value attach(const ndarray& array);

    /// Sends one chunk of a stream. `value` refers to the attachments as {"$attachment": index}, and must not
    /// hold other data of this form beside attachments. Waits while the consumer is a window behind. Chunks
    /// sent within a millisecond share a write. At most one send() of a call at a time.
    /// If the caller takes no chunks, the worker collects up to 10,000 of them. The list of the chunks is
    /// then the result of the call, and the handler's return value is dropped with its bytes. A list in which
    /// data of one chunk would refer to an attachment of another fails with skep.UnserializableResult.
    /// Throws operation_aborted (boost::system::system_error) once the call is cancelled. Throws
    /// std::exception if the chunk cannot be sent: it exceeds a limit of the host, or holds text that is not
    /// UTF-8 or a number that is not finite. If this exception leaves the handler, the call fails with
    /// skep.ResultTooLarge or skep.UnserializableResult.
    /// Cancellation (all types): the wait ends with operation_aborted, and the chunk is not sent.
    boost::asio::awaitable<void> send(boost::json::value value, std::vector<blob> attachments = {});
    template <class T>
    requires(!std::convertible_to<const T&, boost::json::value>) boost::asio::awaitable<void> send(
        const T& value, std::vector<blob> attachments = {}) {
        return send(boost::json::value_from(value), std::move(attachments));
    }

    /// Sends an array as one chunk of a stream. For arrays inside of other values, see attach_to.
    boost::asio::awaitable<void> send(const ndarray& array);

    /// Calls a tool of the host and returns its answer; see pool::register_tool. Any number of tools at a
    /// time; calls beyond the host's limit wait. The deadline of the call also applies to the tool.
    /// `args`: an object with the arguments by name.
    /// Throws host_tool_error; operation_aborted once the call is cancelled; std::invalid_argument if `args`
    /// is not an object; the exceptions of send() for data that cannot be sent.
    /// Cancellation (all types): the wait ends with operation_aborted; the tool continues.
    boost::asio::awaitable<host_reply> call_host(std::string name,
                                                 boost::json::value args = boost::json::object(),
                                                 std::vector<blob> attachments = {});

    /// Reports the handler's progress to the caller. Never waits, so a loop may report as often as it likes.
    /// The first report is sent at once, further reports at most every 20 ms, newest first; the last report
    /// is always sent, before the answer.
    /// `fraction`: 0..1; values outside are clamped. `text`: cut after 4 KiB.
    /// Throws std::invalid_argument if `fraction` is not a number.
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
