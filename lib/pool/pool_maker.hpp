// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "pool/pool_core.hpp"
#include <skep/pool_manager.hpp>

#include <memory>

namespace skep {

/// Makes the pools of a pool_manager: process pools on this machine, unless a derived class makes others.
class pool_maker {
public:
    virtual ~pool_maker() = default;

    virtual pool make(const asio::any_io_executor& executor, pool_config config, pool_membership membership);

    /// Makes a manager that gets its pools from `maker`.
    static std::unique_ptr<pool_manager> make_manager(asio::any_io_executor executor, manager_config config,
                                                      std::shared_ptr<pool_maker> maker);
};

} // namespace skep
