// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/export.hpp>

#include <boost/json/value.hpp>

#include <stdexcept>
#include <string>

namespace skep {

/// Thrown by a worker's code to say that the caller is at fault, and not the worker:
///
///     throw skep::worker_error("bad_image", "not an image", {{"size", 3}});
///
/// The caller gets the code, for programs to tell errors apart, the message, for people to read, and the data. Data that
/// cannot be sent is left out, and the message says so. The caller sees the type "skep.Error", and of a derived class its
/// C++ name. Every other exception counts as the worker's own failure, and travels as its C++ type and what().
class SKEP_API worker_error : public std::runtime_error {
public:
    /// Throws std::invalid_argument unless `code` takes 1 to 128 bytes and is UTF-8.
    explicit worker_error(std::string code, const std::string& message = {}, boost::json::value data = {});
    ~worker_error() override;

    /// As they were given to the constructor.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string code_;
    boost::json::value data_;
};

/// Thrown by a worker's code, and by worker_call::arg() and args_as(): the command does not take these arguments. The
/// caller gets errc::invalid_arguments.
class SKEP_API invalid_arguments : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
    ~invalid_arguments() override;
};

/// Thrown by worker_call::call_host(): the host's tool has failed, or there is none of that name. what() tells it all. For
/// the caller, one that leaves the handler is an error of the type "skep.HostError", whoever was at fault.
class SKEP_API host_tool_error : public std::runtime_error {
public:
    /// For worker_call::call_host(), and for tests of what catches it.
    host_tool_error(const std::string& tool, std::string type, std::string message, std::string code,
                    boost::json::value data);
    ~host_tool_error() override;

    /// Of the tool's exception, as the host names it; "skep.UnknownTool" if there is no such tool.
    const std::string& type() const noexcept { return type_; }
    /// What it says, for people.
    const std::string& message() const noexcept { return message_; }

    /// By which the tool says that its caller, the worker's code, is at fault; else empty, and the data null.
    const std::string& code() const noexcept { return code_; }
    const boost::json::value& data() const noexcept { return data_; }

private:
    std::string type_;
    std::string message_;
    std::string code_;
    boost::json::value data_;
};

} // namespace skep
