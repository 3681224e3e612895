// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/reply.hpp>
#include <skep/request.hpp>
#include <skep/value_as.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <string>
#include <utility>

namespace skep {

namespace detail {

template <class T>
boost::asio::awaitable<T> answer_as(boost::asio::awaitable<reply> operation, std::string command) {
    const auto answer = co_await std::move(operation);
    error_info known;
    known.command = std::move(command);
    known.worker = answer.worker;
    known.attempts = answer.attempts;
    co_return value_as<T>(answer.value, known);
}

} // namespace detail

/// Whatever runs calls: a pool, and whatever stands for one or several. Code that only makes calls needs no more than a
/// reference to this, and can be tested with a substitute.
class SKEP_API call_interface {
public:
    virtual ~call_interface();

    /// Runs one call and returns its answer. Throws skep::error; which codes, and what cancelling does when, is up to who
    /// implements it: see pool::execute. May be called from several threads at once.
    virtual boost::asio::awaitable<reply> execute(request call) = 0;

    /// The same for a command and its arguments. What is wrong with these comes from the wait, like every other error.
    boost::asio::awaitable<reply> execute(std::string command,
                                          boost::json::value args = boost::json::object());

    /// The same, and the answer's value as a T: see value_as. Throws error(errc::type_mismatch) too: the call itself has
    /// succeeded then, so that doing it again would not help.
    template <class T>
    boost::asio::awaitable<T> execute(request call) {
        auto command = call.command();
        return detail::answer_as<T>(execute(std::move(call)), std::move(command));
    }

    /// The same for a command and its arguments: whatever boost::json::value_from makes a JSON object of.
    template <class T, class Args = boost::json::object>
    boost::asio::awaitable<T> execute(std::string command, const Args& args = {}) {
        auto name = command;
        return detail::answer_as<T>(execute(std::move(command), boost::json::value_from(args)),
                                    std::move(name));
    }

protected:
    call_interface() = default;
    call_interface(const call_interface&) = default;
    call_interface(call_interface&&) noexcept = default;
    call_interface& operator=(const call_interface&) = default;
    call_interface& operator=(call_interface&&) noexcept = default;
};

} // namespace skep
