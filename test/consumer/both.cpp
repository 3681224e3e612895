// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A host whose worker is the same program, linked with skep::skep and skep::worker; prints the worker's
// greeting: host_and_worker [PROGRAM], where PROGRAM is another program, to be the worker instead.

#include "worker/serve.hpp"
#include <skep/skep.hpp>

#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string_view>

boost::asio::awaitable<void> greet(skep::pool& pool) {
    auto call = skep::request("greet").arg("name", "consumer");
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << answer.as<std::string>() << '\n';
}

/// The types of the errors, and their category, must be there once in the program.
boost::asio::awaitable<void> expect_refusals(skep::pool& pool) {
    auto refused = skep::request("refuse");
    auto without_name = skep::request("greet");
    try {
        co_await pool.execute(std::move(refused));
        throw std::logic_error("the call of 'refuse' has an answer");
    } catch (const skep::error& problem) {
        if (problem.code() != skep::errc::remote_error || problem.info().remote_code != "closed") {
            throw;
        }
    }
    try {
        co_await pool.execute(std::move(without_name));
        throw std::logic_error("the call of 'greet' without a name has an answer");
    } catch (const skep::error& problem) {
        if (problem.code() != make_error_code(skep::errc::invalid_arguments)) {
            throw;
        }
    }
}

boost::asio::awaitable<void> use(skep::pool& pool) {
    co_await greet(pool);
    co_await expect_refusals(pool);
}

int main(int count, char** arguments) try {
    if (count > 1 && arguments[1] == std::string_view("--worker")) {
        return serve();
    }
    skep::pool_config config;
    config.workers = 1;
    if (count > 1) {
        config.launch.program = arguments[1];
    } else {
        config.launch.program = std::filesystem::read_symlink("/proc/self/exe");
        config.launch.args = {"--worker"};
    }
    return skep::run(std::move(config), use);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
