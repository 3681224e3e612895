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

constexpr auto calm = 1s; // before each trouble, to show the pool at work
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
        {"a worker sends garbage", request("lie"), errc::worker_lost, "exceeds the limit"},
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
        return "answered by " + to_string(happened.victim);
    }
    const auto message = make_error_code(*happened.outcome).message();
    return "sent to " + std::to_string(happened.attempts) +
           (happened.attempts == 1 ? " worker, " : " workers, ") +
           "failed: " + message.substr(0, message.find(';')); // cuts the advice off
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
    monitor_.tell("call:    " + describe(happened));
    const auto is_replaced = [&] { return monitor_.is_replaced(happened.victim); };
    co_await wait_until(is_replaced);
    happened.whole_after = std::chrono::steady_clock::now() - begun;
    happened.found_after = monitor_.departure_of(happened.victim).at - begun;
    const auto is_gone = [&] { return monitor_.latest().retiring == 0; };
    co_await wait_until(is_gone); // the exit status is known afterwards
    judge(what, last_failure_of(before, happened.victim.slot), happened);
    monitor_.tell("found:   " + happened.found);
    monitor_.tell("healed:  after " + seconds(happened.whole_after));
    if (happened.outcome == skep::errc::poisonous_request) {
        incident again;
        co_await provoke(what.call, again);
        monitor_.tell("again:   " + describe(again));
        happened.as_expected =
            happened.as_expected && again.outcome == happened.outcome && again.attempts == 0;
    }
    incidents_.push_back(std::move(happened));
}

asio::awaitable<void> troublemaker::provoke(skep::request call, incident& happened) {
    try {
        const auto answer = co_await pool_.execute(std::move(call));
        happened.victim = answer.worker;
    } catch (const skep::error& problem) {
        if (problem.code() == skep::errc::cancelled) throw;
        happened.outcome = problem.kind();
        happened.attempts = problem.info().attempts;
        happened.victim = problem.info().worker.value_or(skep::worker_id());
    }
}

asio::awaitable<void> troublemaker::wait_until(std::function<bool()> done) {
    const auto executor = co_await asio::this_coro::executor;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    asio::steady_timer timer(executor);
    while (!done()) {
        if (std::chrono::steady_clock::now() > deadline) {
            throw std::runtime_error("the pool has not healed within " + seconds(patience));
        }
        timer.expires_after(10ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
}

void troublemaker::judge(const trouble& what, const std::string& failure_before, incident& happened) const {
    const auto& status = monitor_.latest();
    const auto failure = last_failure_of(status, happened.victim.slot);
    // A planned recycling is no failure, so last_failure stays unchanged.
    happened.found = failure != failure_before ? failure : monitor_.departure_of(happened.victim).reason;
    if (status.last_failure && status.last_failure->worker == happened.victim) {
        happened.stacks = status.last_failure->stacks;
    }
    const bool is_evident = happened.found.find(what.evidence) != std::string::npos;
    const bool has_stacks = happened.stacks.find(" in hang") != std::string::npos;
    happened.as_expected =
        happened.outcome == what.outcome && is_evident && (what.outcome != skep::errc::timeout || has_stacks);
}

bool troublemaker::is_satisfied() const {
    const auto is_fine = [](const incident& each) { return each.as_expected; };
    return incidents_.size() == troubles().size() &&
           std::all_of(incidents_.begin(), incidents_.end(), is_fine);
}
