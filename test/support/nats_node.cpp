// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_nats_node URL NAME FILE: a node, until SIGTERM. Appends the number of each call that begins to FILE.

#include "support/nats_node.hpp"

#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

namespace {

namespace asio = boost::asio;

asio::awaitable<void> serve(skep::test::nats_node& node) {
    asio::signal_set terminate(co_await asio::this_coro::executor, SIGTERM);
    co_await node.start();
    co_await terminate.async_wait(asio::use_awaitable);
    co_await node.stop();
}

} // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        return EXIT_FAILURE;
    }
    skep::nats_options options;
    options.servers = {arguments[1]};
    const int log = ::open(arguments[3], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    asio::io_context context(1);
    skep::test::nats_node node(context, options, arguments[2], [log](int number) {
        const auto line = std::to_string(number) + "\n";
        if (::write(log, line.data(), line.size()) < 0) {
            std::abort();
        }
    });
    asio::co_spawn(context, serve(node), [](const std::exception_ptr& problem) {
        if (problem) {
            std::rethrow_exception(problem);
        }
    });
    context.run();
}
