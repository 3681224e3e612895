// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/telemetry/README.md quotes.

#include <skep/otlp.hpp>
#include <skep/skep.hpp>

#include <boost/json/serialize.hpp>

#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace telemetry_guide {

boost::asio::awaitable<void> read_ends(skep::pool& pool) {
    auto ends = pool.events().subscribe<skep::events::worker_terminated>();
    while (const auto end = co_await ends.next())
        std::cout << to_string(end->worker) << ": " << end->reason << '\n';
}

void watch(skep::pool& pool, boost::asio::any_io_executor executor) {
    auto watching = pool.events().listen(
        executor, [](const skep::event& any) { std::cout << skep::to_json(any) << '\n'; });
}

void trace(std::string header) {
    skep::request call("predict");
    call.metadata("traceparent", header); // as it came with the HTTP request, say, and tracestate likewise
}

void export_traces(skep::pool& pool, boost::asio::any_io_executor executor) {
    skep::otlp_options options;
    options.service_name = "classifier";
    skep::otlp_exporter traces(executor, pool.events(), options); // to 127.0.0.1:4318
}

void service_log(std::string_view level, const std::string& author, const std::string& call,
                 const std::string& line);

void log_to_service(skep::pool_config& config) {
    config.log_level = skep::log_level::info;
    config.log_handler = [](const skep::log_record& record) {
        const auto author = record.worker ? to_string(*record.worker) + " " + record.logger : record.pool;
        std::istringstream text(record.text); // a traceback, for example, has several lines
        for (std::string line; std::getline(text, line);) {
            service_log(to_string(record.level), author, record.correlation_id, line);
        }
    };
}

} // namespace telemetry_guide
