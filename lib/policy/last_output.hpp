// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The choice of the output that explains a worker's end. Usually the last bytes of the output do. After a
// fatal error of Python, the account of that error does: its first line names the error, and the stacks of
// all threads follow. An account may exceed the usual limit, and has limits of its own.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skep {

inline constexpr std::size_t most_account_kept = 64u << 10;   ///< bytes
inline constexpr std::size_t most_account_quoted = 16u << 10; ///< bytes
inline constexpr std::size_t most_before_account = 1u << 10;  ///< bytes of other output, kept and quoted

/// Returns the number of bytes at the beginning of `output` that are no longer needed. Keeps `limit` bytes,
/// or an account that is longer. Keeps nothing if `limit` is 0.
std::size_t surplus_of(std::string_view output, std::size_t limit) noexcept;

/// Returns the account of the last fatal error in `output`, with the thread that crashed before the others;
/// empty without a fatal error. An account that is too long loses its least useful parts: first parts that
/// are no stack, such as the list of extension modules, then stacks of threads that did not crash, then the
/// outer calls of the thread that crashed.
std::string fatal_error_in(std::string_view output);

/// Returns the part of `output` for the text of an error: all of it, or the account and the lines before it.
std::string quoted_output(std::string_view output);

} // namespace skep
