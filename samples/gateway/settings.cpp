// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "settings.hpp"

#include <charconv>
#include <stdexcept>

namespace gateway {

namespace {

constexpr const char* sample_config = SAMPLE_DIR "/gateway.json";

int parse_number(const std::string& name, const std::string& text, int most) {
    int number = -1;
    const auto* const end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end || number < 0 || number > most) {
        throw std::invalid_argument(name + " must be a number from 0 to " + std::to_string(most) + ", not '" +
                                    text + "'");
    }
    return number;
}

boost::asio::ip::address parse_address(const std::string& text) {
    boost::system::error_code ec;
    const auto address = boost::asio::ip::make_address(text, ec);
    if (ec) {
        throw std::invalid_argument("--address must be an IP address, not '" + text + "'");
    }
    return address;
}

} // namespace

const char* const usage =
    "usage: gateway [--address A] [--port N] [--admin-address A] [--admin-port N] [--grace SECONDS] "
    "[CONFIG]\n"
    "  --address A        where the service listens (default: 127.0.0.1)\n"
    "  --port N           of the service (default: 8080; 0: any)\n"
    "  --admin-address A  where the admin page, /healthz and /metrics are (default: 127.0.0.1)\n"
    "  --admin-port N     of these (default: 8081; 0: any)\n"
    "  --grace SECONDS    for requests to be answered at the end (default: 10)\n"
    "  CONFIG             of the pools (default: the sample's gateway.json)\n";

settings settings_from(const std::vector<std::string>& args) {
    settings chosen;
    auto address = boost::asio::ip::make_address("127.0.0.1");
    unsigned short port = 8080;
    chosen.admin.port = 8081;
    std::string config = sample_config;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const auto& name = args[i];
        if (!name.starts_with("--")) {
            config = name;
            continue;
        }
        const std::string value = ++i < args.size() ? args[i] : "";
        if (name == "--address") {
            address = parse_address(value);
        } else if (name == "--port") {
            port = static_cast<unsigned short>(parse_number(name, value, 65'535));
        } else if (name == "--admin-port") {
            chosen.admin.port = static_cast<unsigned short>(parse_number(name, value, 65'535));
        } else if (name == "--admin-address") {
            chosen.admin.address = value;
        } else if (name == "--grace") {
            chosen.grace = std::chrono::seconds(parse_number(name, value, 3600));
        } else {
            throw std::invalid_argument("unknown option '" + name + "'");
        }
    }
    chosen.where = {address, port};
    chosen.pools = skep::manager_config::from_file(config);
    return chosen;
}

} // namespace gateway
