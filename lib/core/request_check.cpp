// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/request_check.hpp"

#include "core/config_path.hpp"
#include "core/with_detail.hpp"

#include <string>

namespace skep {

void refuse_options_without_effect(const request& call, std::string_view pool, call_kind kind) {
    const auto refuse = [&](std::string reason) {
        auto info = with_detail(std::move(reason));
        info.command = call.command();
        throw error(errc::invalid_request, std::move(info));
    };
    if (!call.pool().empty() && call.pool() != pool) {
        refuse("the request is for pool " + in_quotes(call.pool()) + ", and this is pool " + in_quotes(pool));
    }
    if (call.affinity() && call.session().empty()) {
        refuse("affinity has no effect without a session: set session(), or leave affinity() out");
    }
    if (call.idle_timeout() && kind == call_kind::plain) {
        refuse("idle_timeout has an effect on streams only: begin the call by stream(), or limit it by "
               "timeout()");
    }
}

} // namespace skep
