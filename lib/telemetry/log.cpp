// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/log.hpp"

#include "core/text.hpp"
#include "core/visible_text.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/log/attributes/constant.hpp>
#include <boost/log/core.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_channel_logger.hpp>
#include <boost/log/trivial.hpp>

#include <cstdio>
#include <ctime>
#include <vector>

namespace skep {

namespace {

namespace json = boost::json;
namespace logging = boost::log;

using logger = logging::sources::severity_channel_logger_mt<logging::trivial::severity_level>;

logger& logger_of(std::string_view channel) {
    static logger own(logging::keywords::channel = "skep");
    static logger workers(logging::keywords::channel = "skep.worker");
    return channel == "skep" ? own : workers;
}

/// Attributes of the records that this thread makes while they live; those without a value are left out.
class record_attributes {
public:
    record_attributes() = default;
    ~record_attributes() {
        for (const auto& place : places_) {
            logging::core::get()->remove_thread_attribute(place);
        }
    }
    record_attributes(const record_attributes&) = delete;
    record_attributes& operator=(const record_attributes&) = delete;

    template <class Value>
    void add(const char* name, const Value& value) {
        if (value == Value()) {
            return;
        }
        places_.reserve(places_.size() + 1);
        const auto attribute = logging::attributes::make_constant(value);
        const auto added = logging::core::get()->add_thread_attribute(name, attribute);
        if (added.second) { // else the program has one of that name
            places_.push_back(added.first);
        }
    }

private:
    std::vector<logging::attribute_set::iterator> places_;
};

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

void write_to_boost(log_level level, const std::string& pool, std::string_view text,
                    const log_subject& about) {
    record_attributes attributes;
    attributes.add("Pool", pool);
    attributes.add("Worker", about.worker != nullptr ? to_string(*about.worker) : std::string());
    attributes.add("Pid", about.pid);
    attributes.add("Session", visible(about.session)); // sinks write attributes as text, too
    attributes.add("CorrelationID", visible(about.correlation_id));
    attributes.add("Logger", visible(about.logger));
    BOOST_LOG_SEV(logger_of(about.channel), to_severity(level))
        << "skep pool " << pool << ": " << visible(about.label) << visible(text);
}

} // namespace

std::string log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                     std::string_view text, std::string_view label) {
    return time_stamp(now) + ' ' + name_of(level) + " skep pool " + std::string(pool) + ": " +
           visible(label) + visible(text) + '\n';
}

std::string json_log_line(std::chrono::system_clock::time_point now, log_level level, std::string_view pool,
                          std::string_view text, const log_subject& about) {
    json::object line{{"at", time_stamp(now)}, {"level", name_of(level)}, {"channel", about.channel}};
    const auto add = [&line](const char* key, std::string_view value) {
        if (!value.empty()) {
            line[key] = to_utf8(value);
        }
    };
    add("pool", pool);
    add("worker", about.worker != nullptr ? to_string(*about.worker) : std::string());
    if (about.pid != 0) {
        line["pid"] = about.pid;
    }
    add("session", about.session);
    add("correlation_id", about.correlation_id);
    add("logger", about.logger);
    line["text"] = to_utf8(text);
    return visible_json(json::serialize(line)) + '\n';
}

void pool_log::operator()(log_level level, std::string_view text, const log_subject& about) const noexcept {
    if (!wants(level)) {
        return;
    }
    try {
        switch (destination_) {
        case log_destination::boost_log: write_to_boost(level, pool_, text, about); break;
        case log_destination::standard_error:
            write_line_(log_line(wall_now_(), level, pool_, text, about.label));
            break;
        case log_destination::standard_error_json:
            write_line_(json_log_line(wall_now_(), level, pool_, text, about));
            break;
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
