// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "trouble.hpp"

#include "../common.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto calm = 1s; // before each trouble, so that one can see the pool at work
constexpr auto patience = 15s;

std::vector<trouble> troubles() {
    using skep::errc;
    using skep::request;
    const auto leak = request("spring_a_leak").arg("bytes_per_call", 4 << 20);
    const auto poison = request("parse").arg("document", "poison").idempotent(true);
    const auto hang = request("hang").timeout(1s);
    return {
        {"a worker leaks 4 MiB per call", leak, {}, "its soft limit"},
        {"a worker freezes", request("freeze"), errc::worker_lost, "no answer to"},
        {"a worker sends garbage", request("lie"), errc::worker_lost, "longer than the limit"},
        {"an input crashes workers", poison, errc::poisonous_request, "Segmentation fault"},
        {"a worker hangs in a call", hang, errc::timeout, "given up"},
        {"a worker falls ill", request("fall_ill"), {}, "failed its health check"},
    };
}

const skep::worker_status* find_slot(const skep::pool_status& status, std::uint32_t slot) {
    const auto& all = status.workers;
    const auto found = std::find_if(all.begin(), all.end(), [slot](const skep::worker_status& each) {
        return each.id.slot == slot && !each.retiring;
    });
    return found == all.end() ? nullptr : &*found;
}

std::string last_failure_of(const skep::pool_status& status, std::uint32_t slot) {
    const auto* const found = find_slot(status, slot);
    return found == nullptr ? "" : found->last_failure;
}

std::string describe(const incident& happened) {
    if (!happened.outcome) {
        return "the call was answered by " + to_string(happened.victim);
    }
    const auto workers = happened.attempts == 1 ? " worker" : " workers";
    return "the call, sent to " + std::to_string(happened.attempts) + workers +
           ", failed: " + make_error_code(*happened.outcome).message();
}

} // namespace

asio::awaitable<void> troublemaker::run() {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor);
    for (const auto& each : troubles()) {
        timer.expires_after(calm);
        co_await timer.async_wait(asio::use_awaitable);
        co_await make(each);
    }
    timer.expires_after(calm);
    co_await timer.async_wait(asio::use_awaitable);
}

asio::awaitable<void> troublemaker::make(trouble what) {
    const auto before = monitor_.latest();
    incident happened;
    happened.title = what.title;
    monitor_.tell("trouble: " + what.title);
    const auto begun = std::chrono::steady_clock::now();
    co_await provoke(what.call, happened);
    monitor_.tell(describe(happened));
    co_await wait_until_whole(happened);
    happened.whole_after = std::chrono::steady_clock::now() - begun;
    co_await wait_until_gone(happened.victim);
    note_findings(happened, begun, last_failure_of(before, happened.victim.slot));
}
