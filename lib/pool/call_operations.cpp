// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/call_operations.hpp"

#include "call/call_ties.hpp"
#include "call/unary_call.hpp"
#include "core/request_check.hpp"

#include <exception>

namespace skep {

namespace {

/// Off the strand: callers on several threads prepare in parallel, and an unsendable request is refused at
/// once, regardless of the queue's length.
void prepare(call& new_call, const pool_core& core, const asio::any_io_executor& caller,
             call_kind kind) noexcept {
    try {
        tie(new_call, caller);
        core.begin_trace(new_call);
        refuse_options_without_effect(new_call.req, core.config().name, kind);
        new_call.encode(core.config().limits);
    } catch (...) { // a user's handler may throw when copied
        new_call.refusal = std::current_exception();
        new_call.cut_names();
    }
}

/// Makes the call a call of the lease.
void tie_to(call& new_call, claim_ptr&& lease) {
    if (lease) {
        new_call.ties = std::make_unique<call_ties>();
        new_call.ties->lease = std::move(lease);
    }
}

/// The caller of a call with progress. No progress follows the answer.
struct watching_caller : detail::inner_caller<reply> {
    void operator()(lazy_error&& failure, reply&& answer) {
        progress.close();
        caller(std::move(failure), std::move(answer));
    }

    progress_scope progress;
};

/// Wraps `caller` so that no progress follows the answer. Without memory, fails the caller and returns an
/// empty completion.
completion<reply> watch(completion<reply>&& caller, const call_ptr& watched_call, const pool_core& core) {
    const auto executor = caller.get_executor();
    watching_caller watching{{std::move(caller)}, progress_scope(watched_call)};
    try {
        return completion<reply>::of<detail::by_parts>(std::move(watching), executor);
    } catch (const std::bad_alloc&) {
        watching.caller.fail(core.exhausted());
        return {};
    }
}

/// Returns the function that ends a call on the strand when its caller is cancelled.
template <class Call>
auto canceller(const boost::intrusive_ptr<Call>& waiting_call) {
    return [waiting_call](pool_core& target, asio::cancellation_type type) {
        target.parts().calls.cancel(*waiting_call, type);
    };
}

stream_ptr make_stream(const pool_core& core, request&& new_request) {
    const auto& options = core.config().stream;
    const stream_credit window{static_cast<std::int64_t>(options.window),
                               static_cast<std::int64_t>(options.window_bytes)};
    const auto idle_timeout = new_request.idle_timeout().value_or(options.idle_timeout);
    return stream_ptr(new stream_call(std::move(new_request), core.executor(), window, idle_timeout));
}

/// Runs nothing and throws nothing before begin() has received the caller.
class pool_call final : public unary_call, public call_operation::body {
public:
    pool_call(core_ptr&& core, request&& new_request)
        : unary_call(std::move(new_request)), core_(std::move(core)) {}

private:
    void begin(completion<reply>&& caller) override {
        const boost::intrusive_ptr<pool_call> self(this, false);
        const auto core = std::move(core_);
        if (is_refused(caller, *core)) {
            return;
        }
        prepare(*this, *core, caller.get_executor(), call_kind::plain);
        if (is_watched(*this)) {
            caller = watch(std::move(caller), self, *core);
        }
        if (caller) {
            forward_cancellation(caller, core, canceller(self));
            attach(std::move(caller));
            auto arrive = [core = core, posted = posted_call(self)]() mutable {
                if (const auto arrived = posted.take()) {
                    core->guard([&] {
                        arrived->wait();
                        core->submit(*arrived);
                    });
                }
            };
            execute_with_retry(core->executor(), std::move(arrive));
        }
    }

    void discard() noexcept override { const boost::intrusive_ptr<pool_call> last(this, false); }

    core_ptr core_; ///< null after begin()
};

/// Begins a stream. The caller receives the stream once a worker has the call.
void open_stream(const core_ptr& core, completion<reply_stream>&& caller, request&& new_request,
                 claim_ptr&& lease) {
    stream_ptr stream;
    reply_stream opened; // first: a stream without a reader must not begin
    const auto make = [&] {
        stream = make_stream(*core, std::move(new_request));
        tie_to(*stream, std::move(lease));
        opened = stream_reader::stream_of(std::make_shared<pool_stream_reader>(core, stream));
    };
    if (is_refused(caller, *core, make)) {
        return;
    }
    prepare(*stream, *core, caller.get_executor(), call_kind::streamed);
    auto attach = [stream, opened = std::move(opened)](completion<reply_stream>&& owner) mutable {
        stream->attach(std::move(owner), std::move(opened));
    };
    enter_strand(
        core, std::move(caller), canceller(stream),
        [stream, attach = std::move(attach)](pool_core& target, completion<reply_stream>&& caller) mutable {
            attach(std::move(caller));
            target.submit(*stream);
        });
}

} // namespace

call_operation make_call(core_ptr core, request&& new_request, claim_ptr lease) {
    boost::intrusive_ptr<pool_call> made(new pool_call(std::move(core), std::move(new_request)));
    tie_to(*made, std::move(lease));
    return call_operation(made.detach());
}

stream_operation make_stream_call(core_ptr core, request&& new_request, claim_ptr lease) {
    return stream_operation([core = std::move(core), new_request = std::move(new_request),
                             lease = std::move(lease)](completion<reply_stream> caller) mutable {
        const auto target = std::move(core); // the function may outlive the pool's execution context
        open_stream(target, std::move(caller), std::move(new_request), std::move(lease));
    });
}

} // namespace skep
