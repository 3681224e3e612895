// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The programs of "Use several threads" in lib/pool/README.md.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>

#include <exception>

namespace {

boost::asio::awaitable<void> serve(skep::pool& workers) {
    co_await workers.execute("serve");
}

void ignore_end(const std::exception_ptr&) {}

int run_on_four_threads(skep::pool_config config) {
    auto main = [](skep::pool& workers, skep::context_group& contexts) -> boost::asio::awaitable<void> {
        for (int i = 0; i < 100; ++i) {
            boost::asio::co_spawn(contexts.next(), serve(workers), ignore_end);
        }
        co_await serve(workers);
    };
    return skep::run(std::move(config), main, skep::threads(4));
}

boost::asio::awaitable<void> live(skep::pool& workers, skep::context_group& contexts) {
    co_await workers.start();
    for (int i = 0; i < 100; ++i) {
        boost::asio::co_spawn(contexts.next(), serve(workers), ignore_end);
    }
    co_await serve(workers);
    co_await workers.shutdown();
}

void run_in_contexts_of_ones_own(skep::pool_config config) {
    skep::context_group contexts(skep::threads(4));
    skep::pool workers(contexts.first(), std::move(config));
    auto on_end = [&](const std::exception_ptr&) { contexts.stop(); };
    boost::asio::co_spawn(contexts.first(), live(workers, contexts), on_end);
    contexts.run(); // until contexts.stop()
}

} // namespace

int main() {
    const auto config = skep::pool_config::python("worker.py");
    run_in_contexts_of_ones_own(config);
    return run_on_four_threads(config);
}
