// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/errc.hpp>
#include <skep/tool.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

using tool_ptr = std::shared_ptr<const tool_handler>;
using tool_map = std::map<std::string, tool_ptr, std::less<>>;

/// The tools of a pool. Thread safety: callable from any thread.
class tool_table {
public:
    /// Throws error(invalid_config) if the name violates its rule or is taken, or if the handler is empty.
    void add(std::string name, tool_handler handler);

    /// Returns null if not found.
    tool_ptr find(std::string_view name) const;

    /// Returns the names of all tools.
    std::vector<std::string> names() const;

private:
    mutable std::mutex guard_;
    tool_map tools_;
};

/// Throws error(code) unless name and handler are valid for a tool.
void check_tool(errc code, std::string_view name, const tool_handler& handler);

} // namespace skep
