// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"

#include "core/random_share.hpp"
#include "process/own_thread.hpp"
#include "process/process_generation.hpp"
#include "process/span_id.hpp"
#include "process/standard_error.hpp"
#include "process/token.hpp"

#include <utility>

namespace skep {

pool_context make_local_context(asio::any_io_executor executor) {
    return {strand(executor), std::move(executor), std::chrono::system_clock::now,
            random_share,     make_token,          write_to_standard_error,
            nullptr,          make_span_id};
}

/// The service of the user's strands is older than that of the threads, which is shut down first: answers to
/// callers on strands need the former until the thread has ended.
void move_to_own_thread(pool_context& context, wait_mode wait) {
    context.executor = strand(start_own_thread(context.user_executor, wait));
    context.thread_owner = process_generation();
}

} // namespace skep
