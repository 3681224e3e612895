// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/tool_table.hpp"
#include <skep/affinity.hpp>
#include <skep/progress.hpp>
#include <skep/time.hpp>

#include <boost/json/object.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skep {

/// Rarely used members of a request. Allocated separately, because most requests are moved without them.
struct request_extras {
    std::string session;
    std::optional<affinity_mode> affinity;
    std::string pool;
    std::optional<duration> idle_timeout;
    std::string batch_key;
    std::string correlation_id;
    boost::json::object metadata;
    std::vector<std::string> arrays;       ///< names of the arguments that hold arrays
    std::shared_ptr<const tool_map> tools; ///< null: no tools
    std::shared_ptr<const progress_handler> on_progress;
};

} // namespace skep
