// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

inline constexpr const char* traceparent_key = "traceparent"; ///< in the metadata of a request
inline constexpr const char* tracestate_key = "tracestate";

/// A place in a trace, as the header "traceparent" of W3C Trace Context says it: https://www.w3.org/TR/trace-context/
struct trace_context {
    std::string trace_id; ///< 32 hexadecimal digits, not all 0
    std::string span_id;  ///< 16 of them
    bool is_sampled = true;
};

/// Nothing if it is no such header, so that a trace begins anew.
std::optional<trace_context> parse_traceparent(std::string_view header);
std::string to_traceparent(const trace_context& place);

bool is_trace_id(std::string_view text) noexcept;
bool is_span_id(std::string_view text) noexcept;

/// 16 digits; `id` is not 0.
std::string to_span_id(std::uint64_t id);

} // namespace skep
