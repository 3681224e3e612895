// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/request_hooks.hpp"
#include "core/tool_table.hpp"
#include <skep/error.hpp>
#include <skep/request.hpp>

namespace skep {

namespace {

void check_args(const std::string& command, const boost::json::value& args) {
    if (!args.is_object()) {
        error_info info;
        info.command = command;
        info.detail = "the arguments must be a JSON object whose keys are the argument names";
        throw error(errc::invalid_request, std::move(info));
    }
}

} // namespace

// The memory that the caller has the arguments in may be gone before this.
request::request(std::string command, boost::json::value args)
    : command_(std::move(command)), args_(std::move(args), boost::json::storage_ptr()) {
    check_args(command_, args_);
}

request& request::args(boost::json::value all) & {
    check_args(command_, all);
    args_ = std::move(all);
    return *this;
}

request& request::arg(std::string_view key, boost::json::value value) & {
    args_.get_object().insert_or_assign(key, std::move(value));
    return *this;
}

request& request::attach(blob bytes) & {
    attachments_.push_back(std::move(bytes));
    return *this;
}

request& request::attach(std::string_view bytes) & {
    return attach(std::as_bytes(std::span(bytes)));
}

request& request::attach(std::span<const std::byte> bytes) & {
    return attach(blob::copy_of(bytes));
}

request& request::attach(std::span<const unsigned char> bytes) & {
    return attach(std::as_bytes(bytes));
}

request& request::session(std::string id) & {
    session_ = std::move(id);
    return *this;
}

request& request::affinity(affinity_mode mode) & {
    affinity_ = mode;
    return *this;
}

request& request::pool(std::string name) & {
    pool_ = std::move(name);
    return *this;
}

request& request::timeout(duration limit) & {
    timeout_ = limit;
    return *this;
}

request& request::deadline(time_point moment) & {
    deadline_ = moment;
    return *this;
}

request& request::queue_timeout(duration limit) & {
    queue_timeout_ = limit;
    return *this;
}

request& request::idle_timeout(duration limit) & {
    idle_timeout_ = limit;
    return *this;
}

request& request::idempotent(bool value) & {
    idempotent_ = value;
    return *this;
}

/// Copies of a request share their hooks, until one changes its own.
request_hooks& request::own_hooks() {
    auto mine = hooks_ ? std::make_shared<request_hooks>(*hooks_) : std::make_shared<request_hooks>();
    auto& changed = *mine;
    hooks_ = std::move(mine);
    return changed;
}

request& request::tool(std::string name, tool_handler handler) & {
    check_tool(errc::invalid_request, name, handler);
    auto added = std::make_shared<const tool_handler>(std::move(handler));
    own_hooks().tools.insert_or_assign(std::move(name), std::move(added));
    return *this;
}

request& request::on_progress(progress_handler handler) & {
    own_hooks().on_progress = std::move(handler);
    return *this;
}

request& request::correlation_id(std::string id) & {
    correlation_id_ = std::move(id);
    return *this;
}

request& request::metadata(std::string_view key, boost::json::value value) & {
    metadata_.insert_or_assign(key, std::move(value));
    return *this;
}

} // namespace skep
