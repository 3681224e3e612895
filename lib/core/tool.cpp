// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_path.hpp"
#include "core/text.hpp"
#include "core/tool_table.hpp"
#include "core/with_detail.hpp"
#include <skep/error.hpp>

namespace skep {

namespace {

[[noreturn]] void refuse(errc code, std::string_view name, const std::string& problem) {
    throw error(code, with_detail("a tool named " + in_quotes(name) + ": " + problem));
}

} // namespace

tool_error::tool_error(std::string code, const std::string& message, boost::json::value data)
    : std::runtime_error(message), code_(std::move(code)), data_(std::move(data)) {}

void check_tool(errc code, std::string_view name, const tool_handler& handler) {
    if (!is_name(name)) {
        refuse(code, name, std::string("its name ") + name_rule);
    }
    if (!handler) {
        refuse(code, name, "its handler is empty");
    }
}

void tool_table::add(std::string name, tool_handler handler) {
    check_tool(errc::invalid_config, name, handler);
    auto added = std::make_shared<const tool_handler>(std::move(handler));
    const std::lock_guard lock(guard_);
    const auto [place, is_new] = tools_.try_emplace(std::move(name), std::move(added));
    if (!is_new) {
        refuse(errc::invalid_config, place->first, "there is one already");
    }
}

tool_ptr tool_table::find(std::string_view name) const {
    const std::lock_guard lock(guard_);
    const auto found = tools_.find(name);
    return found == tools_.end() ? nullptr : found->second;
}

std::vector<std::string> tool_table::names() const {
    const std::lock_guard lock(guard_);
    std::vector<std::string> names;
    for (const auto& each : tools_) {
        names.push_back(each.first);
    }
    return names;
}

} // namespace skep
