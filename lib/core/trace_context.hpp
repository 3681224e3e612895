// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skep {

inline constexpr const char* traceparent_key = "traceparent"; ///< key in the metadata of a request
inline constexpr const char* tracestate_key = "tracestate";

/// A place in a trace, as in the "traceparent" header of W3C Trace Context:
/// https://www.w3.org/TR/trace-context/
struct trace_context {
    std::string trace_id; ///< 32 hexadecimal digits, not all 0
    std::string span_id;  ///< 16 hexadecimal digits, not all 0
    bool is_sampled = true;
};

/// Returns std::nullopt for an invalid header, so that a new trace begins.
std::optional<trace_context> parse_traceparent(std::string_view header);
std::string to_traceparent(const trace_context& place);

bool is_trace_id(std::string_view text) noexcept;
bool is_span_id(std::string_view text) noexcept;

/// Returns 16 hexadecimal digits. Preconditions: `id` is not 0.
std::string to_span_id(std::uint64_t id);

} // namespace skep
