// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/call_operations.hpp"

#include "call/call_ties.hpp"

#include <boost/asio/this_coro.hpp>

#include <exception>

namespace skep {

namespace {

/// Off the strand, so that callers on several threads do it side by side, and a request that cannot be sent is refused at
/// once, however long the queue.
void prepare(call& new_call, const pool_core& core, const asio::any_io_executor& caller) noexcept {
    try {
        tie(new_call, caller);
        core.begin_trace(new_call);
        new_call.encode(core.config().limits);
    } catch (...) { // a handler of the user's may throw as it is copied
        new_call.refusal = std::current_exception();
        new_call.cut_names();
    }
}

/// Null unless the process is a forked copy.
std::exception_ptr refusal_if_forked(const pool_core& core) noexcept {
    try {
        core.refuse_if_forked();
    } catch (...) { // or there is no memory for the error
        return std::current_exception();
    }
    return nullptr;
}

template <class Call, class Caller>
void begin_call(const core_ptr& core, const boost::intrusive_ptr<Call>& new_call, Caller&& caller) {
    enter_strand(
        core, std::move(caller),
        [new_call = new_call](pool_core& target, asio::cancellation_type type) {
            target.parts().calls.cancel(*new_call, type);
        },
        [new_call = new_call](pool_core& target, Caller&& caller) {
            new_call->attach(std::move(caller));
            target.submit(*new_call);
        });
}

/// One coroutine, which its answer or failure is put into: nothing runs, and nothing is thrown, before its caller goes on. It
/// keeps the call, whose request is its caller's to free.
asio::awaitable<reply> run_plain_call(core_ptr core, unary_ptr new_call) {
    auto start = [core = std::move(core), new_call](unary_call::waiting_caller&& caller) {
        if (auto refusal = refusal_if_forked(*core)) {
            resume(std::move(caller), std::move(refusal), reply());
            return;
        }
        prepare(*new_call, *core, caller.executor());
        begin_call(core, new_call, std::move(caller));
    };
    return suspend<std::exception_ptr, reply>(std::move(start), std::move(new_call));
}

asio::awaitable<reply> run_watched_call(core_ptr core, unary_ptr new_call) {
    const progress_scope progress(new_call);
    auto answer = co_await run_plain_call(std::move(core), new_call);
    co_return answer;
}

} // namespace

asio::awaitable<reply> run_call(core_ptr core, unary_ptr new_call) {
    return is_watched(*new_call) ? run_watched_call(std::move(core), std::move(new_call))
                                 : run_plain_call(std::move(core), std::move(new_call));
}

asio::awaitable<reply_stream> run_stream(core_ptr core, stream_ptr stream) {
    core->refuse_if_forked();
    const auto caller = co_await asio::this_coro::executor;
    prepare(*stream, *core, caller);
    auto opened = stream_reader::open(core, stream); // first: a stream that nobody can read must not begin
    auto start = [core, stream](suspended_caller&& caller) { begin_call(core, stream, std::move(caller)); };
    auto suspension = suspend(std::move(start));
    co_await std::move(suspension);
    stream->check_opened();
    co_return opened;
}

stream_ptr make_stream(const pool_core& core, request call) {
    const auto& options = core.config().stream;
    const stream_credit window{static_cast<std::int64_t>(options.window),
                               static_cast<std::int64_t>(options.window_bytes)};
    const auto idle_timeout = call.idle_timeout().value_or(options.idle_timeout);
    return stream_ptr(new stream_call(std::move(call), core.executor(), window, idle_timeout));
}

} // namespace skep
