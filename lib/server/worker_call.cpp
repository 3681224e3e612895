// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/clock.hpp"
#include "server/served_call.hpp"
#include <skep/worker_call.hpp>

#include <algorithm>

namespace skep {

namespace json = boost::json;

std::uint64_t worker_call::id() const noexcept {
    return call_.message().id;
}

const std::string& worker_call::command() const noexcept {
    return call_.message().command;
}

const json::value& worker_call::args() const noexcept {
    return call_.message().args;
}

const std::vector<blob>& worker_call::attachments() const noexcept {
    return call_.message().attachments;
}

const std::string& worker_call::session() const noexcept {
    return call_.message().session;
}

const std::string& worker_call::correlation_id() const noexcept {
    return call_.message().correlation_id;
}

const json::object& worker_call::metadata() const noexcept {
    return call_.message().metadata;
}

std::optional<time_point> worker_call::deadline() const noexcept {
    return call_.deadline();
}

std::optional<duration> worker_call::remaining() const noexcept {
    const auto end = call_.deadline();
    return end ? std::optional(std::max(duration::zero(), *end - clock::now())) : std::nullopt;
}

bool worker_call::cancelled() const noexcept {
    return call_.is_cancelled();
}

json::value worker_call::attach(blob bytes) {
    return call_.attach(std::move(bytes));
}

json::value worker_call::attach(const ndarray& array) {
    return call_.attach(array);
}

ndarray worker_call::array(std::string_view place) const {
    try {
        return array_at(args(), attachments(), place);
    } catch (const error& misfit) {
        refuse_arguments(misfit);
    }
}

boost::asio::awaitable<void> worker_call::send(const ndarray& array) {
    std::vector<blob> attachments;
    auto value = attach_to(attachments, array);
    return call_.send(std::move(value), std::move(attachments));
}

boost::asio::awaitable<void> worker_call::send(json::value value, std::vector<blob> attachments) {
    return call_.send(std::move(value), std::move(attachments));
}

boost::asio::awaitable<host_reply> worker_call::call_host(std::string name, json::value args,
                                                          std::vector<blob> attachments) {
    return call_.call_host(std::move(name), std::move(args), std::move(attachments));
}

void worker_call::progress(double fraction, std::string_view text) {
    call_.progress(fraction, text);
}

const json::value& worker_call::argument(std::string_view name) const noexcept {
    static const json::value none;
    const auto* const found = args().get_object().if_contains(name);
    return found != nullptr ? *found : none;
}

void worker_call::refuse_arguments(const error& misfit) const {
    throw invalid_arguments("'" + command() + "' does not take these arguments: " + misfit.info().detail);
}

void worker_call::refuse_argument(std::string_view name, const error& misfit) const {
    throw invalid_arguments("'" + command() + "' does not take the argument '" + std::string(name) +
                            "': " + (argument(name).is_null() ? "missing" : misfit.info().detail));
}

} // namespace skep
