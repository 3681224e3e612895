// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "telemetry/log.hpp"

#include "core/text.hpp"
#include "telemetry/log_queue.hpp"

#include <memory>
#include <utility>

namespace skep {

namespace {

/// Returns a writer that enqueues records for the configured handler, or without a handler writes to standard
/// error at once.
log_handler writer_of(const pool_config& config, const pool_context& context) {
    auto write_line = [write = context.write_log_line, format = config.log_format](const log_record& record) {
        write(log_line(record, format));
    };
    if (!config.log_handler) {
        return write_line;
    }
    auto queue = std::make_shared<log_queue>(context.user_executor, config.name, config.log_handler,
                                             std::move(write_line));
    return [queue = std::move(queue)](const log_record& record) { queue->put(record); };
}

} // namespace

pool_log::pool_log(const pool_config& config, const pool_context& context)
    : pool_(config.name),
      least_(config.log_level),
      wall_now_(context.wall_now),
      write_(writer_of(config, context)) {}

log_record pool_log::record_of(log_level level, std::string_view text, const log_subject& about) const {
    log_record record;
    record.time = wall_now_();
    record.level = level;
    record.source = about.source;
    record.pool = pool_;
    if (about.worker != nullptr) {
        record.worker = *about.worker;
    }
    record.pid = about.pid;
    record.session = about.session;
    record.correlation_id = about.correlation_id;
    record.concurrent_ids.assign(about.concurrent_ids.begin(), about.concurrent_ids.end());
    record.logger = about.logger;
    record.text = text;
    return record;
}

void pool_log::operator()(log_level level, std::string_view text, const log_subject& about) const noexcept {
    if (!wants(level)) {
        return;
    }
    try {
        write_(record_of(level, text, about));
    } catch (...) { // a failed log must not harm the pool
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
