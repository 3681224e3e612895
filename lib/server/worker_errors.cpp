// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include <skep/worker_errors.hpp>

#include <cstddef>
#include <utility>

namespace skep {

namespace {

constexpr std::size_t longest_code = 128;

std::string valid_code(std::string code) {
    if (code.empty() || code.size() > longest_code || !is_utf8(code)) {
        throw std::invalid_argument("the code of a worker_error takes 1 to 128 bytes of UTF-8");
    }
    return code;
}

std::string tool_text(const std::string& tool, const std::string& type, const std::string& message) {
    return "the host's tool '" + tool + "' failed: " + type + ": " + message;
}

} // namespace

worker_error::worker_error(std::string code, const std::string& message, boost::json::value data)
    : std::runtime_error(message.empty() ? code : message),
      code_(valid_code(std::move(code))),
      data_(std::move(data)) {}

worker_error::~worker_error() = default;

invalid_arguments::~invalid_arguments() = default;

host_tool_error::host_tool_error(const std::string& tool, std::string type, std::string message,
                                 std::string code, boost::json::value data)
    : std::runtime_error(tool_text(tool, type, message)),
      type_(std::move(type)),
      message_(std::move(message)),
      code_(std::move(code)),
      data_(std::move(data)) {}

host_tool_error::~host_tool_error() = default;

} // namespace skep
