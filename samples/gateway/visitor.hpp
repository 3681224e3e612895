// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"

#include <string>

namespace gateway {

/// Who asks, known by a cookie.
struct visitor {
    std::string secret;  ///< the cookie: 32 hexadecimal digits, which nobody can guess
    std::string session; ///< made of that: operators see it, and it is to let nobody be another visitor
    bool is_new = false; ///< is to be given the cookie
};

/// By the request's cookie, if that has the form of ours.
visitor visitor_of(const http_request& request);

/// The header Set-Cookie.
std::string cookie_of(const visitor& who);

} // namespace gateway
