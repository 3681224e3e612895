// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/admin_config.hpp"

#include "core/field_check.hpp"
#include "core/text.hpp"

#include <boost/asio/ip/address.hpp>

namespace skep {

void check(const admin_options& options, config_problems& problems) {
    field_check fields(problems);
    visit_admin_fields(options, fields);
    boost::system::error_code ec;
    boost::asio::ip::make_address(options.address, ec);
    problems.expect(!ec, {"address"}, in_quotes(options.address), "must be an IP address");
    const auto& token = options.token;
    const bool is_token = token.size() >= 16 && token.size() <= 256 && is_visible_ascii(token);
    problems.expect(token.empty() || is_token, {"token"}, "(not shown)",
                    "must be empty, or 16..256 visible ASCII characters");
}

void admin_options::validate() const {
    config_problems problems;
    check(*this, problems);
    problems.raise();
}

} // namespace skep
