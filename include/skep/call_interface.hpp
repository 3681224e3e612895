// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/call_operation.hpp>
#include <skep/export.hpp>
#include <skep/initiate.hpp>
#include <skep/reply.hpp>
#include <skep/reply_stream.hpp>
#include <skep/request.hpp>
#include <skep/value_as.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <exception>
#include <string>
#include <utility>

namespace skep {

namespace detail {

/// Returns the value of the answer as a T. Throws error(errc::type_mismatch) that names the call.
template <class T>
T value_of_answer(const reply& answer, std::string&& command) {
    error_info known;
    known.command = std::move(command);
    known.worker = answer.worker;
    known.attempts = answer.attempts;
    return value_as<T>(answer.value, known);
}

template <class T, class Executor>
boost::asio::awaitable<T, Executor> answer_as(boost::asio::awaitable<reply, Executor> operation,
                                              std::string command) {
    const auto answer = co_await std::move(operation);
    co_return value_of_answer<T>(answer, std::move(command));
}

/// The caller of a call, completed with the value of the answer as a T.
template <class T>
struct typed_caller : inner_caller<T> {
    void operator()(lazy_error&& failure, reply&& answer) {
        if (failure) {
            this->caller(std::move(failure), {});
            return;
        }
        try {
            this->caller(lazy_error(), value_of_answer<T>(answer, std::move(command)));
        } catch (...) {
            this->caller(lazy_error(std::current_exception()), {});
        }
    }

    std::string command;
};

struct begin_call {
    template <class Result>
    void operator()(completion<Result>&& caller, basic_call_operation<Result>&& operation) const {
        std::move(operation)(std::move(caller));
    }
};

template <class T>
struct begin_typed_call {
    void operator()(completion<T>&& caller, call_operation&& operation, std::string&& command) const {
        const auto executor = caller.get_executor();
        typed_caller<T> typed{{std::move(caller)}, std::move(command)};
        std::move(operation)(completion<reply>::of<by_parts>(std::move(typed), executor));
    }
};

} // namespace detail

/// Runs calls: the interface of pool, pool_manager and lease. Code that only makes calls takes a reference to
/// a call_interface. For tests, derive a substitute that implements get_executor() and prepare().
///
/// Completion: every function takes a completion token as its last argument, and is co_awaited without one.
/// The signature is void(std::exception_ptr, T), where T is skep::reply or the requested type; with
/// as_result, void(result<T>).
/// Executor: the handler runs on its associated executor, by default get_executor(), and never from within
/// the initiating function.
/// Cancellation: by the handler's cancellation slot. The implementation defines the effect: see
/// pool::execute.
/// Thread safety: functions may be called from several threads at once.
class SKEP_API call_interface {
public:
    virtual ~call_interface();

    /// Returns the default executor of handlers.
    virtual boost::asio::any_io_executor get_executor() const noexcept = 0;

    /// Returns a call that execute() begins later. The result may outlive this object.
    /// Throws std::bad_alloc.
    virtual call_operation prepare(request call) = 0;

    /// Returns a call, with an answer in chunks, that stream() begins later. The result may outlive this
    /// object. Unless overridden, the operation fails with invalid_request.
    /// Throws std::bad_alloc.
    virtual stream_operation prepare_stream(request call);

    /// Runs one call and returns its reply.
    /// Errors: defined by the implementation: see pool::execute.
    boost::asio::awaitable<reply> execute(request call);
    template <class CompletionToken>
    auto execute(request call, CompletionToken&& token) {
        return run(prepare(std::move(call)), std::forward<CompletionToken>(token));
    }

    /// Runs a call of `command` with `args`. An invalid command or argument is an error of the operation,
    /// like any other.
    boost::asio::awaitable<reply> execute(std::string command,
                                          boost::json::value args = boost::json::object());
    template <class CompletionToken>
    auto execute(std::string command, boost::json::value args, CompletionToken&& token) {
        return run(prepare(std::move(command), std::move(args)), std::forward<CompletionToken>(token));
    }

    /// Runs one call and returns the value of its reply as a T: see value_as. T must be
    /// default-constructible, unless the token is use_awaitable.
    /// Errors: also type_mismatch. The call itself has succeeded then, and another attempt does not help.
    template <class T>
    boost::asio::awaitable<T> execute(request call) {
        return execute<T>(std::move(call), default_token());
    }
    template <class T, class CompletionToken>
    auto execute(request call, CompletionToken&& token) {
        auto command = call.command();
        return run_as<T>(prepare(std::move(call)), std::move(command), std::forward<CompletionToken>(token));
    }

    /// Runs a call of `command` and returns the value of its reply as a T. `args`: any type that
    /// boost::json::value_from converts to a JSON object.
    template <class T, class Args = boost::json::object>
    boost::asio::awaitable<T> execute(std::string command, const Args& args = {}) {
        return execute<T>(std::move(command), args, default_token());
    }
    template <class T, class Args, class CompletionToken>
    auto execute(std::string command, const Args& args, CompletionToken&& token) {
        auto operation = prepare(command, boost::json::value_from(args));
        return run_as<T>(std::move(operation), std::move(command), std::forward<CompletionToken>(token));
    }

    /// Begins a call with an answer in chunks. Returns the stream when a worker has the call.
    /// Errors: defined by the implementation: see pool::stream.
    boost::asio::awaitable<reply_stream> stream(request call);
    template <class CompletionToken>
    auto stream(request call, CompletionToken&& token) {
        return run(prepare_stream(std::move(call)), std::forward<CompletionToken>(token));
    }

protected:
    call_interface() = default;
    call_interface(const call_interface&) = default;
    call_interface(call_interface&&) noexcept = default;
    call_interface& operator=(const call_interface&) = default;
    call_interface& operator=(call_interface&&) noexcept = default;

private:
    call_operation prepare(std::string command, boost::json::value args);

    template <class Result, class CompletionToken>
    auto run(basic_call_operation<Result> operation, CompletionToken&& token) {
        const auto executor = [this] { return get_executor(); };
        return detail::initiate<Result>(std::forward<CompletionToken>(token), executor, detail::begin_call(),
                                        std::move(operation));
    }

    template <class T, class CompletionToken>
    auto run_as(call_operation operation, std::string command, CompletionToken&& token) {
        if constexpr (detail::is_coroutine_token<std::decay_t<CompletionToken>>) {
            return detail::answer_as<T>(run(std::move(operation), token), std::move(command));
        } else {
            const auto executor = [this] { return get_executor(); };
            return detail::initiate<T>(std::forward<CompletionToken>(token), executor,
                                       detail::begin_typed_call<T>(), std::move(operation),
                                       std::move(command));
        }
    }
};

} // namespace skep
