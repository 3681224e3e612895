// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/error.hpp>
#include <skep/request.hpp>

namespace skep {

request::request(std::string command, boost::json::value args) : command_(std::move(command)) {
    this->args(std::move(args));
}

request& request::args(boost::json::value all) & {
    if (!all.is_object()) {
        error_info info;
        info.command = command_;
        info.detail = "the arguments must be a JSON object whose keys are the argument names";
        throw error(errc::invalid_request, std::move(info));
    }
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

request& request::idempotent(bool value) & {
    idempotent_ = value;
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
