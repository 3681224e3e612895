// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>
#include <skep/reply.hpp>
#include <skep/request.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <string>

namespace skep {

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

protected:
    call_interface() = default;
    call_interface(const call_interface&) = default;
    call_interface(call_interface&&) noexcept = default;
    call_interface& operator=(const call_interface&) = default;
    call_interface& operator=(call_interface&&) noexcept = default;
};

} // namespace skep
