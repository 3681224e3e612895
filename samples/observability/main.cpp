// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A pool under load with the admin page, until Ctrl-C. To add the page to a service, copy the two lines of
// serve().

#include <skep/admin.hpp>
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr const char* usage =
    "usage: observability [--workers N] [--port N] [--token TEXT] [--python PROGRAM]\n"
    "  --workers N       processes, 1 to 256 (default: 4)\n"
    "  --port N          of the admin page (default: 8090; 0: any)\n"
    "  --token TEXT      lets the page restart, suspend and resize (16 characters or more)\n"
    "  --python PROGRAM  interpreter (default: python3)\n";

struct options {
    std::size_t workers = 4;
    skep::admin_options admin;
    std::string python = "python3";
};

std::size_t parse_number(const std::string& name, const std::string& text, std::size_t least,
                         std::size_t most) {
    char* end = nullptr;
    const auto number = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || number < least || number > most) {
        throw std::invalid_argument(name + " must be a number from " + std::to_string(least) + " to " +
                                    std::to_string(most) + ", not '" + text + "'");
    }
    return number;
}

options parse(const std::vector<std::string>& args) {
    options chosen;
    chosen.admin.port = 8090;
    for (std::size_t i = 0; i < args.size(); i += 2) {
        const auto& name = args[i];
        const std::string value = i + 1 < args.size() ? args[i + 1] : "";
        if (name == "--workers") {
            chosen.workers = parse_number(name, value, 1, 256);
        } else if (name == "--port") {
            chosen.admin.port = static_cast<unsigned short>(parse_number(name, value, 0, 65'535));
        } else if (name == "--token") {
            chosen.admin.token = value;
        } else if (name == "--python" && !value.empty()) {
            chosen.python = value;
        } else {
            throw std::invalid_argument("unknown option '" + name + "', or one without a value");
        }
    }
    return chosen;
}

skep::pool_config configure(const options& chosen) {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py", chosen.python);
    config.name = "models";
    config.workers = chosen.workers;
    config.queue.limit = 4 * chosen.workers;
    config.start.batch_size = 16;
    config.recycle.calls = 2000;
    config.log_level = skep::log_level::error; // the page shows the rest
    return config;
}

/// Simulates one user: various calls, with pauses in between.
asio::awaitable<void> use(skep::pool& pool, unsigned seed) {
    std::minstd_rand random(seed);
    asio::steady_timer thinking(co_await asio::this_coro::executor);
    const std::string id = "user-" + std::to_string(seed % 16);
    for (;;) {
        const auto choice = random() % 100;
        const char* command = choice < 70 ? "predict" : choice < 95 ? "embed" : "train";
        auto call = skep::request(command).arg("seed", random() % 1000).session(id).idempotent(true);
        try {
            co_await pool.execute(std::move(call));
        } catch (const skep::error& problem) {
            if (problem.kind() == skep::errc::cancelled || problem.kind() == skep::errc::shutting_down) {
                co_return;
            }
        }
        thinking.expires_after(std::chrono::milliseconds(random() % 200));
        co_await thinking.async_wait(asio::use_awaitable);
    }
}

asio::awaitable<void> serve(skep::pool& pool, options chosen) {
    const auto executor = co_await asio::this_coro::executor;
    const skep::admin_server admin(executor, pool, chosen.admin);
    std::cout << "the admin page is at " << admin.url() << std::endl;
    for (unsigned i = 1; i < 3 * chosen.workers; ++i) {
        asio::co_spawn(executor, use(pool, i), [](const std::exception_ptr&) {}); // ends with the pool
    }
    co_await use(pool, 0);
}

} // namespace

int main(int argc, char** argv) {
    try {
        const auto chosen = parse({argv + 1, argv + argc});
        return skep::run(configure(chosen), [&](skep::pool& pool) { return serve(pool, chosen); });
    } catch (const std::invalid_argument& problem) {
        std::cerr << "observability: " << problem.what() << '\n' << usage;
        return 2;
    } catch (const std::exception& problem) {
        std::cerr << "observability: " << problem.what() << '\n';
        return 1;
    }
}
