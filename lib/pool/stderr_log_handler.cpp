// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/standard_error.hpp"
#include <skep/log.hpp>

namespace skep {

log_handler stderr_log_handler(log_format format) {
    return [format](const log_record& record) { write_to_standard_error(log_line(record, format)); };
}

} // namespace skep
