// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/timer.hpp"
#include "runtime/pool_context.hpp"
#include <skep/call_interface.hpp>
#include <skep/pool_config.hpp>

#include <memory>
#include <string>

namespace skep {

class worker;
class warm_up_call;

/// Runs calls on one worker before the worker serves its pool. Calls beyond the worker's places are
/// pipelined.
class warm_up_calls final : public call_interface, public std::enable_shared_from_this<warm_up_calls> {
public:
    warm_up_calls(const pool_context& context, const pool_config& config,
                  const std::shared_ptr<worker>& subject);

    boost::asio::any_io_executor get_executor() const noexcept override { return executor_; }
    call_operation prepare(request new_request) override;

    /// Refuses all further calls.
    void end() noexcept { worker_.reset(); }

private:
    static boost::asio::awaitable<reply> run(std::shared_ptr<warm_up_calls> self, request new_request);
    void send(warm_up_call& new_call);
    void abandon(warm_up_call& sent_call);

    const strand executor_;
    const errc lost_code_; ///< of a call whose worker is lost
    const limit_options limits_;
    const affinity_mode affinity_; ///< of calls without a mode of their own
    const std::string pool_;       ///< its name
    const worker_id id_;
    std::weak_ptr<worker> worker_;
};

} // namespace skep
