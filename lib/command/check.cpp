// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check.hpp"

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parser.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <vector>

namespace skep {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) {
        throw std::runtime_error("it cannot be read");
    }
    return text;
}

std::string place_in(std::string_view text, std::size_t offset) {
    const auto before = text.substr(0, offset);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const auto column = offset - (before.rfind('\n') + 1); // without a line end: npos + 1 is 0
    return "line " + std::to_string(line) + ", column " + std::to_string(column + 1);
}

json::value parse(std::string_view text) {
    json::parser parser;
    boost::system::error_code ec;
    const auto taken = parser.write_some(text.data(), text.size(), ec);
    const auto rest = text.substr(std::min(taken, text.size()));
    if (!ec && rest.find_first_not_of(" \t\r\n") != std::string_view::npos) {
        ec = json::error::extra_data;
    }
    if (ec) {
        throw std::runtime_error("it is no JSON: " + ec.message() + " at " + place_in(text, taken));
    }
    return parser.release();
}

std::vector<pool_config> pools_in(const json::value& document) {
    if (document.is_object() && document.get_object().contains("pools")) {
        return manager_config::from_json(document).pools;
    }
    return {pool_config::from_json(document)};
}

pool_config with_one_worker(pool_config config) {
    config.workers = 1;
    config.min_ready = 1;
    config.scaling = {};
    config.log_level = log_level::off; // errors contain the output of the worker
    return config;
}

asio::awaitable<void> try_worker(pool& target) {
    co_await target.start();
    co_await target.execute(request("skep.health_check"));
}

asio::awaitable<void> try_and_end(pool& target, std::exception_ptr& problem) {
    try {
        co_await try_worker(target);
    } catch (...) {
        problem = std::current_exception();
    }
    co_await target.shutdown();
}

bool check_pool(pool_config config, std::ostream& out) {
    const auto name = config.name;
    std::exception_ptr problem;
    asio::io_context context(1);
    try {
        pool tried(context, with_one_worker(std::move(config)));
        asio::co_spawn(context, try_and_end(tried, problem),
                       [&](std::exception_ptr failure) { problem = problem ? problem : failure; });
        context.run();
        if (problem) {
            std::rethrow_exception(problem);
        }
    } catch (const std::exception& failure) {
        out << "pool " << name << ": " << failure.what() << '\n';
        return false;
    }
    out << "pool " << name << ": ok, a worker came up and is well\n";
    return true;
}

} // namespace

bool check_configuration(const std::string& path, std::ostream& out) {
    std::vector<pool_config> pools;
    try {
        pools = pools_in(parse(read(path)));
    } catch (const std::exception& problem) {
        out << path << ": " << problem.what() << '\n';
        return false;
    }
    bool all_well = true;
    for (auto& each : pools) {
        all_well = check_pool(std::move(each), out) && all_well;
    }
    return all_well;
}

} // namespace skep
