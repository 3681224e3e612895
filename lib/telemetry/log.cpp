// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/log.hpp"

#include "core/exception_text.hpp"

#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_channel_logger.hpp>
#include <boost/log/trivial.hpp>

namespace skep {

namespace {

namespace logging = boost::log;

using logger = logging::sources::severity_channel_logger_mt<logging::trivial::severity_level>;

logger& shared_logger() {
    static logger instance(logging::keywords::channel = "skep");
    return instance;
}

logging::trivial::severity_level to_severity(log_level level) noexcept {
    switch (level) {
    case log_level::debug: return logging::trivial::debug;
    case log_level::info: return logging::trivial::info;
    case log_level::warning: return logging::trivial::warning;
    default: return logging::trivial::error;
    }
}

} // namespace

void pool_log::operator()(log_level level, std::string_view text) const noexcept {
    if (!wants(level)) {
        return;
    }
    try {
        BOOST_LOG_SEV(shared_logger(), to_severity(level)) << "skep pool " << pool_ << ": " << text;
    } catch (...) { // a log that cannot be written must not harm the pool
    }
}

void pool_log::operator()(log_level level, std::string_view text,
                          const std::exception_ptr& problem) const noexcept {
    try {
        (*this)(level, std::string(text) + ": " + text_of(problem));
    } catch (...) { // out of memory
        (*this)(level, text);
    }
}

} // namespace skep
