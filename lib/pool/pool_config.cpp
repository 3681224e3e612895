// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/config_validate.hpp"
#include "process/usable_cpus.hpp"
#include <skep/pool_config.hpp>

namespace skep {

void pool_config::validate() const {
    check_config(*this, workers != 0 ? workers : usable_cpus());
}

} // namespace skep
