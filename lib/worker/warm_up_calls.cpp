// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/warm_up_calls.hpp"

#include "async/latch.hpp"
#include "core/clock.hpp"
#include "core/request_check.hpp"
#include "worker/worker.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace skep {

/// A warm-up call. The caller waits at a latch.
class warm_up_call final : public call, private call_sink {
public:
    warm_up_call(request&& new_request, const strand& executor)
        : call(std::move(new_request), static_cast<call_sink*>(this)), end_signal_(executor) {}

    /// Returns the time at which the caller stops waiting, if the call is sent at `now`.
    time_point limit(time_point now) const {
        return std::min(after_limit(now, req.timeout().value_or(duration::zero())),
                        req.deadline().value_or(time_point::max()));
    }

    /// Returns false if the call's time is over.
    asio::awaitable<bool> wait() { return end_signal_.wait_until(limit(submitted)); }

    /// `lost_code`: of the failure if the worker was lost.
    reply result(const worker_id& id, errc lost_code) {
        if (failure_) {
            throw failure_.to_error();
        }
        if (!answer_) {
            throw error_of(lost_code, id);
        }
        return std::move(*answer_);
    }

    error error_of(errc code, const worker_id& id, std::string detail = {}) const {
        error_info info;
        info.detail = std::move(detail);
        info.pool = id.pool;
        info.worker = id;
        info.command = req.command();
        info.attempts = attempts;
        return error(code, std::move(info));
    }

private:
    void put_answer(reply&& answer) override {
        answer_ = std::move(answer);
        end_signal_.open();
    }
    void put_failure(lazy_error&& failure) override {
        failure_ = std::move(failure);
        end_signal_.open();
    }
    void put_loss() noexcept override { end_signal_.open(); }
    void forget() noexcept override {}

    latch end_signal_;
    std::optional<reply> answer_;
    lazy_error failure_;
};

warm_up_calls::warm_up_calls(const pool_context& context, const pool_config& config,
                             const std::shared_ptr<worker>& subject)
    : executor_(context.executor),
      lost_code_(context.lost_code()),
      limits_(config.limits),
      affinity_(config.affinity.mode),
      pool_(config.name),
      id_(subject->id()),
      worker_(subject) {}

call_operation warm_up_calls::prepare(request new_request) {
    auto running = run(shared_from_this(), std::move(new_request));
    return call_operation(
        [executor = executor_, running = std::move(running)](completion<reply> caller) mutable {
            asio::co_spawn(executor, std::move(running), std::move(caller));
        });
}

asio::awaitable<reply> warm_up_calls::run(std::shared_ptr<warm_up_calls> self, request new_request) {
    const boost::intrusive_ptr<warm_up_call> mine(new warm_up_call(std::move(new_request), self->executor_));
    self->send(*mine);
    bool is_answered = false;
    auto problem = errc::timeout;
    try {
        is_answered = co_await mine->wait();
    } catch (const boost::system::system_error&) { // the wait was cancelled
        problem = errc::cancelled;
    }
    if (is_answered) {
        co_return mine->result(self->id_, self->lost_code_);
    }
    self->abandon(*mine);
    throw mine->error_of(problem, self->id_);
}

void warm_up_calls::send(warm_up_call& new_call) {
    const auto to = worker_.lock();
    if (!to || to->life().is_over()) {
        throw new_call.error_of(errc::cancelled, id_, "the warm-up that it belongs to is over");
    }
    if (new_call.has_session() && new_call.req.affinity().value_or(affinity_) != affinity_mode::hint) {
        throw new_call.error_of(
            errc::invalid_request, id_,
            "a warm-up call has no session that is strictly bound: that is of another worker");
    }
    refuse_options_without_effect(new_call.req, pool_, call_kind::plain);
    new_call.encode(limits_);
    new_call.deadline = std::min(new_call.limit(clock::now()), to->life().deadline());
    to->calls().assign_private(new_call);
}

void warm_up_calls::abandon(warm_up_call& sent_call) {
    if (const auto at = worker_.lock(); at && !at->life().is_over()) {
        at->calls().abandon_private(sent_call);
        at->calls().cancel(sent_call);
    }
}

} // namespace skep
