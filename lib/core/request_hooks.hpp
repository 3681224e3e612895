// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/progress.hpp>
#include <skep/tool.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace skep {

using tool_ptr = std::shared_ptr<const tool_handler>;
using tool_map = std::map<std::string, tool_ptr, std::less<>>;

/// What a request has beyond what travels to the worker. Few have any.
struct request_hooks {
    tool_map tools;
    progress_handler on_progress;
};

} // namespace skep
