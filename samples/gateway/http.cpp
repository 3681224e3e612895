// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "http.hpp"

#include <boost/json/serialize.hpp>

#include <algorithm>
#include <array>
#include <iostream>

namespace gateway {

namespace json = boost::json;
using http::status;
using skep::errc;

namespace {

struct row {
    errc code;
    http::status status;
};

/// Statuses by error code. All other codes are faults of this service: 500.
constexpr std::array table{
    row{errc::invalid_arguments, status::bad_request},
    row{errc::invalid_request, status::bad_request},
    row{errc::frame_too_large, status::payload_too_large},
    row{errc::poisonous_request, status::unprocessable_entity},
    row{errc::pool_saturated, status::too_many_requests},
    row{errc::queue_timeout, status::service_unavailable},
    row{errc::no_worker, status::service_unavailable},
    row{errc::no_node, status::service_unavailable},
    row{errc::not_started, status::service_unavailable},
    row{errc::start_failed, status::service_unavailable},
    row{errc::worker_busy, status::service_unavailable},
    row{errc::session_backend_failed, status::service_unavailable},
    row{errc::unavailable, status::service_unavailable},
    row{errc::shutting_down, status::service_unavailable},
    row{errc::timeout, status::gateway_timeout},
    row{errc::worker_lost, status::bad_gateway},
    row{errc::node_lost, status::bad_gateway},
};

} // namespace

http_response make_response(http::status status, std::string_view type, std::string body) {
    http_response response(status, 11);
    response.set(http::field::content_type, type);
    response.body() = std::move(body);
    return response;
}

http_response as_json(http::status status, const json::value& value) {
    return make_response(status, "application/json", json::serialize(value) + '\n');
}

http::status status_of(const skep::error& failure) {
    const auto code = failure.kind();
    if (code == errc::remote_error) { // the worker's code decides by skep.Error if the caller is at fault
        return is_callers_fault(failure) ? status::bad_request : status::internal_server_error;
    }
    const auto* const found =
        std::find_if(table.begin(), table.end(), [code](const row& each) { return each.code == code; });
    return found == table.end() ? status::internal_server_error : found->status;
}

json::object explanation(const skep::error& failure) {
    const auto& info = failure.info();
    const bool is_known = !info.remote_code.empty(); // by skep.Error in the worker's code
    const bool is_callers = is_callers_fault(failure);
    const auto facts = info.remote_message.empty() ? info.detail : info.remote_message;
    return {{"error", is_known ? std::string_view(info.remote_code) : to_string(failure.kind())},
            {"message", is_callers && !facts.empty() ? facts : failure.code().message()}};
}

void log_if_ours(const skep::error& failure) {
    if (status_of(failure) == status::internal_server_error) {
        std::cerr << failure.what() << '\n';
    }
}

http_response as_response(const skep::error& failure) {
    log_if_ours(failure);
    auto response = as_json(status_of(failure), explanation(failure));
    if (retryable(failure.kind())) {
        response.set(http::field::retry_after, "1");
    }
    return response;
}

} // namespace gateway
