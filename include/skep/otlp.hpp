// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Traces of pools for an OpenTelemetry collector. Needs the library skep::otlp beside skep::skep.

#pragma once

#include <skep/event_bus.hpp>
#include <skep/export.hpp>
#include <skep/time.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace skep {

/// Destination of the spans, and limits.
struct otlp_options {
    /// Name or address of the collector, without scheme and port. The connection has no TLS: use a collector
    /// on this machine, or a proxy on this machine.
    std::string host = "127.0.0.1";
    unsigned short port = 4318;                 ///< port of the collector
    std::string path = "/v1/traces";            ///< visible ASCII characters
    std::map<std::string, std::string> headers; ///< extra HTTP headers, such as a token; one line each

    std::string service_name = "skep";           ///< name of the service in traces
    std::map<std::string, std::string> resource; ///< its other attributes, such as "service.version"

    std::size_t batch = 512;                     ///< most spans per request, 1..10,000
    duration interval = std::chrono::seconds(1); ///< longest wait for a batch to fill, 10 ms..1 min
    /// Spans that wait in the exporter, and as many on their way to it; further spans are dropped.
    /// 1..1,000,000.
    std::size_t capacity = 4096;
    duration timeout = std::chrono::seconds(10);     ///< per request, 10 ms..1 min
    int attempts = 5;                                ///< attempts per batch, 1..100
    duration backoff = std::chrono::seconds(1);      ///< before the second attempt, then doubled, 1 ms..1 min
    duration max_backoff = std::chrono::seconds(30); ///< longest wait between attempts, 1 ms..10 min

    /// Called with the reason when spans were lost, on the exporter's executor. Exceptions are dropped.
    std::function<void(std::string_view)> on_problem;
};

/// Counts of spans by outcome.
struct otlp_counts {
    std::uint64_t sent = 0;    ///< accepted by the collector
    std::uint64_t lost = 0;    ///< the collector was unreachable, or rejected the spans
    std::uint64_t dropped = 0; ///< no room in the exporter
};

/// Sends the spans of pools to an OpenTelemetry collector, by OTLP over HTTP with JSON
/// (https://opentelemetry.io/docs/specs/otlp/). Works from its construction until it is stopped or destroyed.
/// During that time calls are traced; see events::span and pool_config::tracing.
///
///     skep::otlp_options options;
///     options.service_name = "classifier";
///     skep::otlp_exporter traces(context.get_executor(), pool.events(), options);
///
/// If the collector is unreachable or busy (429, 502, 503, 504, possibly with Retry-After), the exporter
/// tries again. Any other refusal loses the batch.
///
/// Executor: runs on its own strand over the given executor. The executor has work until the exporter is
/// stopped or destroyed.
/// Thread safety: every function may be called from any thread.
/// Lifetime: the bus may be destroyed before the exporter; the execution context must outlive the exporter.
class SKEP_API otlp_exporter {
public:
    /// Starts to export the spans of `bus`.
    /// Throws error(errc::invalid_config) if an option breaks its rule.
    otlp_exporter(boost::asio::any_io_executor executor, event_bus& bus, otlp_options options = {});

    /// Ends at once and loses all unsent spans. If it runs on another thread than the executor, a last call
    /// of on_problem may still be in progress when it returns.
    ~otlp_exporter();
    otlp_exporter(const otlp_exporter&) = delete;
    otlp_exporter& operator=(const otlp_exporter&) = delete;

    /// Returns the counts of spans so far.
    otlp_counts counts() const noexcept;

    /// Stops the exporter: accepts no more spans, sends the present spans without further retries, for at
    /// most options.timeout, and ends. Spans that are unsent by then are lost. If the name of the host is
    /// being looked up, stop() takes up to one second more; the look-up may continue in the background.
    /// Further calls wait for the same end.
    /// Cancellation: none once stop() has begun.
    boost::asio::awaitable<void> stop();

private:
    class core;
    std::shared_ptr<core> core_;
};

} // namespace skep
