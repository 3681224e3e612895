// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/request.hpp>

#include <string_view>

namespace skep {

enum class call_kind { plain, streamed };

/// Refuses a request with an option that has no effect on a call of that kind in that pool.
/// Throws error(errc::invalid_request), whose text names the option.
void refuse_options_without_effect(const request& call, std::string_view pool, call_kind kind);

} // namespace skep
