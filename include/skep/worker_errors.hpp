// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <boost/json/value.hpp>

#include <stdexcept>
#include <string>

namespace skep {

/// Thrown by a worker's code to report an error of the caller, in contrast to an error of the worker:
///
///     throw skep::worker_error("bad_image", "not an image", {{"size", 3}});
///
/// The caller gets the code, for programs; the message, for people; and the data. Data that cannot be sent is
/// left out, and the message says so. The caller sees the type "skep.Error", or the C++ name of a derived
/// class. Every other exception counts as the worker's own failure; the caller sees its C++ type and what().
class SKEP_API worker_error : public std::runtime_error {
public:
    /// Throws std::invalid_argument unless `code` takes 1 to 128 bytes and is UTF-8.
    explicit worker_error(std::string code, const std::string& message = {}, boost::json::value data = {});
    ~worker_error() override;

    /// Return the constructor's arguments.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string code_;
    boost::json::value data_;
};

/// Thrown by a worker's code, and by worker_call::arg() and args_as(), if the command does not accept these
/// arguments. The caller gets errc::invalid_arguments.
class SKEP_API invalid_arguments : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
    ~invalid_arguments() override;
};

/// Thrown by worker_call::call_host() if the host's tool failed, or no tool has that name. Its text has all
/// details. An instance that leaves the handler becomes an error of type "skep.HostError" for the caller,
/// regardless of the cause.
class SKEP_API host_tool_error : public std::runtime_error {
public:
    /// For worker_call::call_host(), and for tests of code that catches the exception.
    host_tool_error(const std::string& tool, std::string type, std::string message, std::string code,
                    boost::json::value data);
    ~host_tool_error() override;

    /// Returns the type of the tool's exception, as the host names it; "skep.UnknownTool" if no tool has that
    /// name.
    const std::string& type() const noexcept { return type_; }
    /// Returns the message, for people.
    const std::string& message() const noexcept { return message_; }

    /// Return code and data of an error that the tool blames on its caller, the worker's code; otherwise the
    /// code is empty and the data is null.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string type_;
    std::string message_;
    std::string code_;
    boost::json::value data_;
};

} // namespace skep
