// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/call_operations.hpp"

#include "pool/call_ties.hpp"

#include <boost/asio/this_coro.hpp>

namespace skep {

namespace {

/// Off the strand, so that callers on several threads do it side by side, and a request that cannot be sent is refused at
/// once, however long the queue.
void prepare(call& fresh, const pool_core& core, const asio::any_io_executor& caller) {
    try {
        tie(fresh, caller);
        core.begin_trace(fresh);
        fresh.encode(core.limits());
    } catch (const error& refusal) {
        fresh.refusal = std::make_unique<error>(refusal);
    } catch (const std::exception& problem) { // out of memory
        error_info info;
        info.detail = problem.what();
        fresh.refusal = std::make_unique<error>(errc::invalid_request, std::move(info));
    }
}

template <class Call>
void begin_call(const core_ptr& core, const boost::intrusive_ptr<Call>& mine, suspended_caller&& caller) {
    take_to_strand(
        core, std::move(caller),
        [mine = mine](pool_core& target, asio::cancellation_type type) { target.cancel(*mine, type); },
        [mine = mine](pool_core& target, suspended_caller&& waiting) {
            mine->attach(std::move(waiting));
            target.submit(*mine);
        });
}

} // namespace

asio::awaitable<reply> run_call(core_ptr core, unary_ptr mine) {
    const auto caller = co_await asio::this_coro::executor;
    prepare(*mine, *core, caller);
    const progress_scope progress(mine);
    auto start = [core = std::move(core), mine](suspended_caller&& caller) {
        begin_call(core, mine, std::move(caller));
    };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    co_return mine->take();
}

asio::awaitable<reply_stream> run_stream(core_ptr core, stream_ptr mine) {
    const auto caller = co_await asio::this_coro::executor;
    prepare(*mine, *core, caller);
    auto opened = stream_reader::open(core, mine); // first: a stream that nobody can read must not begin
    auto start = [core, mine](suspended_caller&& caller) { begin_call(core, mine, std::move(caller)); };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    mine->check_opened();
    co_return opened;
}

stream_ptr make_stream(const pool_core& core, request call) {
    const auto& options = core.streams();
    const stream_credit window{static_cast<std::int64_t>(options.window),
                               static_cast<std::int64_t>(options.window_bytes)};
    const auto idle_timeout = call.idle_timeout().value_or(options.idle_timeout);
    return stream_ptr(new stream_call(std::move(call), core.executor(), window, idle_timeout));
}

} // namespace skep
