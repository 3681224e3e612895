// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "async/guest_group.hpp"

#include "core/text.hpp"
#include <skep/awaitable.hpp>

namespace skep {

std::string guest_outcome::complaint() const {
    return !has_ended ? "it did not end in time" : problem ? text_of(problem) : "";
}

guest_group::guest_group(const strand& executor)
    : executor_(executor), tasks_(executor, [](std::exception_ptr) {}) {}

asio::awaitable<guest_outcome> guest_group::run(body guest_body, patient_deadline deadline) {
    const auto mine = std::make_shared<guest>(executor_, std::move(guest_body));
    awaited_.push_back(*mine);
    auto task = tasks_.spawn(mine, live(mine));
    try {
        co_await mine->end_signal.wait_until(deadline);
    } catch (...) { // the waiter is cancelled, and so is the guest
        mine->unlink();
        task.cancel();
        throw;
    }
    mine->unlink();
    if (!mine->has_ended) {
        task.cancel();
    }
    guest_outcome result{mine->has_ended, mine->problem};
    co_return result;
}

asio::awaitable<void> guest_group::live(std::shared_ptr<guest> new_guest) {
    try {
        co_await detail::checked(new_guest->run(), "it");
    } catch (...) {
        new_guest->problem = std::current_exception();
    }
    new_guest->has_ended = true;
    new_guest->end_signal.open();
}

void guest_group::cancel() {
    for (auto& each : awaited_) {
        each.end_signal.open();
    }
    tasks_.cancel();
}

} // namespace skep
