// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/reference_keys.hpp"
#include "core/request_extras.hpp"
#include <skep/error.hpp>
#include <skep/request.hpp>

#include <cstddef>
#include <utility>

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

/// Returns empty extras for a request without extras. A call asks some 25 times.
[[gnu::always_inline]] inline const request_extras& extras_of(const request_extras* own_extras) noexcept {
    static const request_extras none;
    return own_extras != nullptr ? *own_extras : none;
}

/// Drops the bytes of an argument that was an array or a list of arrays. The attachments stay, and are empty.
void drop_bytes(const boost::json::value& argument, std::vector<blob>& attachments) {
    if (const auto* const list = argument.if_array()) {
        for (const auto& each : *list) {
            drop_bytes(each, attachments);
        }
    } else {
        attachments[argument.at(array_key).at(attachment_key).to_number<std::size_t>()] = blob();
    }
}

} // namespace

request::extras_ptr::extras_ptr(const extras_ptr& other)
    : held_(other.held_ != nullptr ? new request_extras(*other.held_) : nullptr) {}

request_extras& request::extras_ptr::own() {
    if (held_ == nullptr) {
        held_ = new request_extras;
    }
    return *held_;
}

void request::extras_ptr::destroy() noexcept {
    delete held_;
}

// Copies the arguments: the caller's memory resource may be destroyed before the request.
request::request(std::string command, boost::json::value args)
    : command_(std::move(command)), args_(std::move(args), boost::json::storage_ptr()) {
    check_args(command_, args_);
}

request& request::args(boost::json::value all) & {
    check_args(command_, all);
    if (extras_.get() != nullptr) {
        for (const auto& name : std::exchange(extras_.own().arrays, {})) {
            drop_bytes(args_.get_object().at(name), attachments_);
        }
    }
    args_ = std::move(all);
    return *this;
}

request& request::arg(std::string_view key, boost::json::value value) & {
    if (extras_.get() != nullptr && std::erase(extras_.own().arrays, key) > 0) {
        drop_bytes(args_.get_object().at(key), attachments_);
    }
    args_.get_object().insert_or_assign(key, std::move(value));
    return *this;
}

request& request::arg(std::string_view key, const ndarray& array) & {
    return set_array_arg(key, attach_to(attachments_, array));
}

request& request::set_array_list(std::string_view key, const std::vector<ndarray>& arrays) {
    boost::json::array list;
    for (const auto& array : arrays) {
        list.push_back(attach_to(attachments_, array));
    }
    return set_array_arg(key, std::move(list));
}

request& request::set_array_arg(std::string_view key, boost::json::value value) {
    arg(key, std::move(value));
    extras_.own().arrays.emplace_back(key);
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
    extras_.own().session = std::move(id);
    return *this;
}

request& request::affinity(affinity_mode mode) & {
    extras_.own().affinity = mode;
    return *this;
}

request& request::pool(std::string name) & {
    extras_.own().pool = std::move(name);
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
    extras_.own().idle_timeout = limit;
    return *this;
}

request& request::idempotent(bool value) & {
    idempotent_ = value;
    return *this;
}

request& request::tool(std::string name, tool_handler handler) & {
    check_tool(errc::invalid_request, name, handler);
    auto added = std::make_shared<const tool_handler>(std::move(handler));
    auto& tools = extras_.own().tools; // shared by copies of the request
    auto mine = tools ? std::make_shared<tool_map>(*tools) : std::make_shared<tool_map>();
    mine->insert_or_assign(std::move(name), std::move(added));
    tools = std::move(mine);
    return *this;
}

request& request::on_progress(progress_handler handler) & {
    extras_.own().on_progress =
        handler ? std::make_shared<const progress_handler>(std::move(handler)) : nullptr;
    return *this;
}

request& request::batch_key(std::string key) & {
    extras_.own().batch_key = std::move(key);
    return *this;
}

request& request::correlation_id(std::string id) & {
    extras_.own().correlation_id = std::move(id);
    return *this;
}

request& request::metadata(std::string_view key, boost::json::value value) & {
    extras_.own().metadata.insert_or_assign(key, std::move(value));
    return *this;
}

const std::string& request::session() const noexcept {
    return extras_of(extras_.get()).session;
}

const std::vector<std::string>& request::arrays() const noexcept {
    return extras_of(extras_.get()).arrays;
}

std::optional<affinity_mode> request::affinity() const noexcept {
    return extras_of(extras_.get()).affinity;
}

const std::string& request::pool() const noexcept {
    return extras_of(extras_.get()).pool;
}

std::optional<duration> request::idle_timeout() const noexcept {
    return extras_of(extras_.get()).idle_timeout;
}

const std::string& request::batch_key() const noexcept {
    return extras_of(extras_.get()).batch_key;
}

const std::string& request::correlation_id() const noexcept {
    return extras_of(extras_.get()).correlation_id;
}

const boost::json::object& request::metadata() const noexcept {
    return extras_of(extras_.get()).metadata;
}

} // namespace skep
