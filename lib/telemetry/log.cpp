// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/log.hpp"

#include "core/exception_text.hpp"

#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_channel_logger.hpp>
#include <boost/log/trivial.hpp>

#include <array>
#include <cstdio>
#include <ctime>

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

const char* name_of(log_level level) noexcept {
    switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    default: return "error";
    }
}

/// A worker must not be able to forge lines, or to tell a terminal what to do.
void append_visibly(std::string& line, char c) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') {
        line += "\\n";
    } else if ((code < ' ' && c != '\t') || code == 0x7F) {
        std::array<char, 5> escaped{};
        std::snprintf(escaped.data(), escaped.size(), "\\x%02x", code);
        line += escaped.data();
    } else {
        line += c;
    }
}

std::string time_stamp(std::chrono::system_clock::time_point moment) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
    const auto rest = std::chrono::floor<std::chrono::milliseconds>(moment - seconds);
    const auto time = std::chrono::system_clock::to_time_t(seconds);
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    char day_and_time[32];
    std::strftime(day_and_time, sizeof day_and_time, "%Y-%m-%dT%H:%M:%S", &parts);
    char stamp[48];
    std::snprintf(stamp, sizeof stamp, "%s.%03dZ", day_and_time, static_cast<int>(rest.count()));
    return stamp;
}

} // namespace

std::string log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                     std::string_view text) {
    auto line = time_stamp(now) + ' ' + name_of(level) + " skep pool " + std::string(pool) + ": ";
    for (const char c : text) {
        append_visibly(line, c);
    }
    return line + '\n';
}

void pool_log::operator()(log_level level, std::string_view text) const noexcept {
    if (!wants(level)) {
        return;
    }
    try {
        if (to_ == log_destination::boost_log) {
            BOOST_LOG_SEV(shared_logger(), to_severity(level)) << "skep pool " << pool_ << ": " << text;
        } else {
            write_line_(log_line(wall_now_(), level, pool_, text));
        }
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
