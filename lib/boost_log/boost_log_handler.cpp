// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/visible_text.hpp"
#include "telemetry/log_label.hpp"
#include <skep/boost_log.hpp>

#include <boost/log/attributes/constant.hpp>
#include <boost/log/core.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_channel_logger.hpp>
#include <boost/log/trivial.hpp>

#include <vector>

namespace skep {

namespace {

namespace logging = boost::log;

using logger = logging::sources::severity_channel_logger_mt<logging::trivial::severity_level>;

logger& logger_of(log_source source) {
    static logger pools(logging::keywords::channel = "skep");
    static logger workers(logging::keywords::channel = "skep.worker");
    return source == log_source::pool ? pools : workers;
}

/// Sets attributes of the records of this thread during its lifetime. Leaves out empty values.
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
        if (added.second) { // otherwise the program uses that name
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

void write_record(const log_record& record) {
    record_attributes attributes;
    attributes.add("Pool", record.pool);
    attributes.add("Worker", record.worker ? to_string(*record.worker) : std::string());
    attributes.add("Pid", record.pid);
    attributes.add("Session", visible(record.session)); // sinks write attributes as text, too
    attributes.add("CorrelationID", visible(record.correlation_id));
    attributes.add("Logger", visible(record.logger));
    BOOST_LOG_SEV(logger_of(record.source), to_severity(record.level))
        << "skep pool " << record.pool << ": " << visible(log_label(record)) << visible(record.text);
}

} // namespace

log_handler boost_log_handler() {
    return write_record;
}

} // namespace skep
