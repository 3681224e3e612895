// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "http.hpp"

#include <string>

namespace gateway {

/// A client, identified by a cookie.
struct visitor {
    std::string secret;  ///< the cookie: 32 random hexadecimal digits
    std::string session; ///< a digest of the cookie: operators see it, but cannot use it as a cookie
    bool is_new = false; ///< the response must set the cookie
};

/// Returns the visitor with the request's cookie; a new visitor if the cookie is missing or malformed.
visitor visitor_of(const http_request& request);

/// Returns the value of the header Set-Cookie.
std::string cookie_of(const visitor& who);

} // namespace gateway
