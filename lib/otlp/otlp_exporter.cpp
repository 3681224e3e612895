// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/run_to_end.hpp"
#include "otlp/exporter_core.hpp"

#include <boost/asio/post.hpp>

#include <exception>
#include <utility>

namespace skep {

otlp_exporter::otlp_exporter(boost::asio::any_io_executor executor, event_bus& bus, otlp_options options)
    : core_(std::make_shared<core>(executor, std::move(options))) {
    core_->begin(bus);
}

otlp_exporter::~otlp_exporter() {
    core_->abort();
    core_->end();
    try {
        asio::post(core_->executor(), [core = core_] { core->cancel(); });
    } catch (const std::exception&) {} // out of memory: the exporter ends after sending its spans
}

otlp_counts otlp_exporter::counts() const noexcept {
    return core_->counts();
}

boost::asio::awaitable<void> otlp_exporter::stop() {
    const auto stopped = core_;
    auto finish = [](std::shared_ptr<core> ending) -> boost::asio::awaitable<void> {
        ending->end();
        co_await ending->finish();
    };
    auto finishing = run_to_end(stopped->executor(), finish(stopped));
    co_await std::move(finishing);
}

} // namespace skep
