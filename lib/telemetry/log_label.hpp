// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/log.hpp>

#include <string>

namespace skep {

/// Returns the label of a worker's text in a log for people: "pool/0#1 stderr [correlation ids]: ". Empty for
/// messages of the pool.
inline std::string log_label(const log_record& record) {
    if (record.source == log_source::pool || !record.worker) {
        return std::string();
    }
    auto label = to_string(*record.worker);
    if (!record.logger.empty()) {
        label += " " + record.logger;
    }
    auto ids = record.correlation_id;
    for (const auto& id : record.concurrent_ids) {
        ids += (ids.empty() ? "" : " ") + id;
    }
    return label + (ids.empty() ? ": " : " [" + ids + "]: ");
}

} // namespace skep
