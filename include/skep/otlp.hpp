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

/// Where spans are sent, and how.
struct otlp_options {
    /// The collector: a name or an address, without scheme and port. It is spoken to without TLS, so it is to be on
    /// this machine, or behind a proxy on it.
    std::string host = "127.0.0.1";
    unsigned short port = 4318;                 ///< the collector's
    std::string path = "/v1/traces";            ///< visible ASCII characters
    std::map<std::string, std::string> headers; ///< sent along, such as for a token; each of one line

    std::string service_name = "skep";           ///< what traces show as the service
    std::map<std::string, std::string> resource; ///< more of its attributes, such as "service.version"

    std::size_t batch = 512;                     ///< spans in one request, 1..10,000
    duration interval = std::chrono::seconds(1); ///< longest wait for a batch to fill, 10 ms..1 min
    /// Spans that wait here, and as many on their way here; those beyond are dropped. 1..1,000,000.
    std::size_t capacity = 4096;
    duration timeout = std::chrono::seconds(10); ///< of one request, 10 ms..1 min
    int attempts = 5;                            ///< of each batch, 1..100
    duration backoff = std::chrono::seconds(1);  ///< before the second, doubled before each more; 1 ms..1 min
    duration max_backoff = std::chrono::seconds(30); ///< at most, 1 ms..10 min

    /// Told why spans were lost, on the exporter's executor; exceptions that it throws are dropped.
    std::function<void(std::string_view)> on_problem;
};

/// What has become of spans.
struct otlp_counts {
    std::uint64_t sent = 0;    ///< and taken
    std::uint64_t lost = 0;    ///< the collector could not be reached, or did not take them
    std::uint64_t dropped = 0; ///< there was no room for them
};

/// Sends the spans of pools to an OpenTelemetry collector, by OTLP over HTTP with JSON
/// (https://opentelemetry.io/docs/specs/otlp/), from its construction until it is stopped or destroyed. Until then
/// calls are traced; see events::span and pool_config::tracing.
///
///     skep::otlp_options options;
///     options.service_name = "classifier";
///     skep::otlp_exporter traces(context.get_executor(), pool.events(), options);
///
/// A collector that is away, or says that it has no time (429, 502, 503, 504, with Retry-After perhaps), is asked again;
/// another refusal loses the batch.
///
/// Executor: runs on a strand of its own over the given executor, which has work until it is stopped or destroyed.
/// Thread-safety: every function may be called from any thread.
/// Lifetime: the bus may end before it; the execution context must outlive it.
class SKEP_API otlp_exporter {
public:
    /// Throws error(errc::invalid_config) if an option breaks its rule.
    otlp_exporter(boost::asio::any_io_executor executor, event_bus& bus, otlp_options options = {});

    /// Ends at once: what has not been sent is lost. On another thread than that of the executor, on_problem may still be at
    /// its last call when this returns.
    ~otlp_exporter();
    otlp_exporter(const otlp_exporter&) = delete;
    otlp_exporter& operator=(const otlp_exporter&) = delete;

    /// What has become of spans so far.
    otlp_counts counts() const noexcept;

    /// Takes no more spans, sends those that have come, without waiting to ask again, for at most options.timeout, and
    /// ends. What is not sent by then is lost. Once begun it is not cancelled with its caller. Further calls wait likewise.
    /// A name that is being looked up takes a second more; that may go on in the background.
    boost::asio::awaitable<void> stop();

private:
    class core;
    std::shared_ptr<core> core_;
};

} // namespace skep
