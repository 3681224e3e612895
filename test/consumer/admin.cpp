// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A program that shows a pool that has not been started: its metrics, and its page.

#include <skep/admin.hpp>
#include <skep/prometheus.hpp>
#include <skep/skep.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>
#include <prometheus/text_serializer.h>
#include <sstream>
#include <thread>

int main() {
    boost::asio::io_context context;
    skep::pool pool(context, skep::pool_config::python("worker.py"));
    const skep::prometheus_collector collector(pool);
    const skep::admin_server admin(context.get_executor(), pool);
    const auto work = boost::asio::make_work_guard(context);
    std::jthread runner([&context] { context.run(); });
    std::istringstream text(prometheus::TextSerializer().Serialize(collector.Collect()));
    context.stop();
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("skep_pool_can_serve")) {
            std::cout << line << '\n';
        }
    }
}
