// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"

#include "core/random_share.hpp"
#include "process/span_id.hpp"
#include "process/standard_error.hpp"
#include "process/token.hpp"

namespace skep {

pool_context make_local_context(asio::any_io_executor executor) {
    return {strand(std::move(executor)),
            std::chrono::system_clock::now,
            random_share,
            make_token,
            write_to_standard_error,
            nullptr,
            make_span_id};
}

} // namespace skep
