// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/initialization.hpp"

#include "core/config_validate.hpp"
#include "core/slot_launch.hpp"
#include "core/with_detail.hpp"
#include "worker/warm_up_calls.hpp"
#include "worker/worker.hpp"
#include <skep/awaitable.hpp>

#include <utility>

namespace skep {

namespace {

asio::awaitable<void> run_before_launch(std::shared_ptr<initialization_delegate> delegate, worker_id id,
                                        std::shared_ptr<launch_options> plan) {
    auto running = detail::checked(delegate->before_launch(std::move(id), *plan), "it");
    *plan = co_await std::move(running);
}

asio::awaitable<void> run_warm_up(std::shared_ptr<initialization_delegate> delegate, worker_id id,
                                  std::shared_ptr<warm_up_calls> calls) {
    auto running = detail::checked(delegate->warm_up(std::move(id), *calls), "it");
    co_await std::move(running);
}

[[noreturn]] void refuse_launch(std::string reason) {
    throw error(errc::initialization_failed, with_detail("before_launch: " + std::move(reason)));
}

} // namespace

asio::awaitable<launch_options> initialization::plan_launch() {
    const auto& id = core_.id;
    const auto plan = std::make_shared<launch_options>(for_slot(core_.config.launch, id.slot));
    auto body = [delegate = core_.config.initialization.delegate, id, plan] {
        return run_before_launch(delegate, id, plan);
    };
    const patient_deadline none(time_point::max(), {});
    const guest_outcome outcome = co_await guests_.run(std::move(body), none);
    if (const auto complaint = outcome.complaint(); !complaint.empty()) {
        refuse_launch(complaint);
    }
    try {
        check_launch(*plan);
    } catch (const error& objection) {
        refuse_launch(objection.what());
    }
    co_return std::move(*plan);
}

asio::awaitable<std::string> initialization::warm_up() {
    const auto calls =
        std::make_shared<warm_up_calls>(core_.context, core_.config, core_.self.shared_from_this());
    auto body = [delegate = core_.config.initialization.delegate, id = core_.id, calls] {
        return run_warm_up(delegate, id, calls);
    };
    const patient_deadline none(time_point::max(), {});
    const guest_outcome outcome = co_await guests_.run(std::move(body), none);
    calls->end();
    co_return outcome.complaint();
}

} // namespace skep
