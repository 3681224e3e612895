// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <string>
#include <string_view>

namespace skep {

// The subjects of the bus, of one domain. See PROTOCOL.md.

/// The nodes tell their load here.
inline std::string load_subject(std::string_view domain) {
    return "skep." + std::string(domain) + ".load";
}

/// Each node answers a message here with its load.
inline std::string who_subject(std::string_view domain) {
    return "skep." + std::string(domain) + ".who";
}

/// Operators send their requests to a node here.
inline std::string admin_subject(std::string_view domain, std::string_view node) {
    return "skep." + std::string(domain) + ".admin." + std::string(node);
}

/// A client asks all nodes here which of them has a session.
inline std::string home_subject(std::string_view domain) {
    return "skep." + std::string(domain) + ".home";
}

/// A node's end of a link.
inline std::string link_subject(std::string_view domain, std::string_view node, std::string_view link) {
    return "skep." + std::string(domain) + ".node." + std::string(node) + "." + std::string(link);
}

} // namespace skep
