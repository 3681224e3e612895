// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A program that sends a span to a collector that is not there.

#include <skep/otlp.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <iostream>

int main() {
    boost::asio::io_context context;
    skep::event_bus bus;
    skep::otlp_options options;
    options.port = 1;
    skep::otlp_exporter exporter(context.get_executor(), bus, options);
    bus.emit<skep::events::span>([] { return skep::events::span(); });
    boost::asio::co_spawn(context, exporter.stop(), boost::asio::detached);
    context.run();
    std::cout << "lost " << exporter.counts().lost << '\n';
}
