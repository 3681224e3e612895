// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Eight callers of nodes, until the end of stdin: remote_load URL. Prints {"calls": N, "failures": [TEXT]}.

#include <skep/remote_pool.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iostream>
#include <unistd.h>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr int callers = 8;

struct load {
    asio::awaitable<void> call_often() {
        while (!is_over) {
            try {
                co_await nodes.execute(skep::request("sleep").arg("seconds", 0.01));
                ++calls;
            } catch (const skep::error& failure) {
                failures.emplace_back(failure.what());
            }
        }
        if (++ended == callers) {
            co_await nodes.shutdown();
        }
    }

    skep::remote_pool& nodes;
    bool is_over = false;
    std::size_t calls = 0;
    int ended = 0;
    boost::json::array failures{};
};

skep::remote_options patient(const char* url) {
    skep::remote_options options;
    options.nats.servers = {url};
    options.queue.timeout = 1min;
    options.request_timeout = 2min;
    return options;
}

asio::awaitable<void> start(skep::remote_pool& nodes) {
    co_await nodes.start();
}

} // namespace

int main(int, char** argv) {
    asio::io_context context(1);
    skep::remote_pool nodes(context, patient(argv[1]));
    load all{nodes};
    const auto rethrow = [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    };
    asio::posix::stream_descriptor input(context, ::dup(STDIN_FILENO));
    std::array<char, 1> nothing{};
    input.async_read_some(asio::buffer(nothing),
                          [&](boost::system::error_code, std::size_t) { all.is_over = true; });
    asio::co_spawn(context, start(nodes), rethrow);
    for (int i = 0; i < callers; ++i) {
        asio::co_spawn(context, all.call_often(), rethrow);
    }
    context.run();
    std::cout << boost::json::serialize(boost::json::object{{"calls", all.calls}, {"failures", all.failures}})
              << std::endl;
}
