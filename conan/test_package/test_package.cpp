// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/skep.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>

#include <cstdlib>
#include <iostream>

int main() {
    boost::asio::io_context context;
    const auto settings = boost::json::parse(R"({"launch": {"program": "python3"}, "workers": 2})");
    const skep::pool pool(context.get_executor(), skep::pool_config::from_json(settings));
    std::cout << "a pool that was never started: " << to_string(skep::pool_phase::created) << '\n';
    return EXIT_SUCCESS;
}
