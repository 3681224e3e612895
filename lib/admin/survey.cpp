// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/survey.hpp"

#include "async/gate.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <utility>

namespace skep {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_wait = 1s;
constexpr auto fresh_enough = 200ms;

/// Sets a flag while it lives.
class flag_guard {
public:
    explicit flag_guard(bool& flag) noexcept : flag_(flag) { flag_ = true; }
    ~flag_guard() { flag_ = false; }
    flag_guard(const flag_guard&) = delete;
    flag_guard& operator=(const flag_guard&) = delete;

private:
    bool& flag_;
};

} // namespace

/// One question to each pool.
struct survey::inquiry {
    explicit inquiry(const strand& executor) : all_answered(executor) {}

    struct answer {
        std::string pool;
        std::optional<pool_metrics> metrics;
    };

    void take(std::size_t place, const std::exception_ptr& problem, pool_metrics metrics) {
        if (!problem) {
            answers[place].metrics = std::move(metrics);
        }
        if (--open == 0) {
            all_answered.open();
        }
    }

    findings result() {
        findings found;
        for (auto& each : answers) {
            if (each.metrics) {
                found.pools.push_back(std::move(*each.metrics));
            } else {
                found.silent.push_back(each.pool);
            }
        }
        return found;
    }

    std::vector<answer> answers; ///< in the order of the pools
    std::size_t open = 0;
    gate all_answered;
};

asio::awaitable<findings_ptr> survey::look() {
    timer pause(executor_);
    while (is_looking_) { // for another one, who is given the same
        pause.expires_after(5ms);
        co_await pause.async_wait(asio::use_awaitable);
    }
    if (newest_ && clock::now() - seen_at_ < fresh_enough) {
        co_return newest_;
    }
    const flag_guard looking(is_looking_);
    const auto changes = changes_;
    const auto mine = ask_all();
    if (mine->open > 0) {
        co_await mine->all_answered.wait_until(clock::now() + longest_wait);
    }
    const auto found = std::make_shared<const findings>(mine->result());
    if (changes_ == changes) {
        newest_ = found;
        seen_at_ = clock::now();
    }
    co_return found;
}

std::shared_ptr<survey::inquiry> survey::ask_all() {
    auto mine = std::make_shared<inquiry>(executor_);
    auto questions = pools_.metrics(*asked_);
    for (auto& [name, question] : questions) {
        const auto place = mine->answers.size();
        mine->answers.push_back({name, {}});
        if (!question) { // it has not answered the last one
            continue;
        }
        asked_->insert(name);
        ++mine->open;
        try {
            auto on_answer = [mine, place, name = name, asked = asked_](const std::exception_ptr& problem,
                                                                        pool_metrics metrics) {
                asked->erase(name);
                mine->take(place, problem, std::move(metrics));
            };
            asio::co_spawn(executor_, std::move(*question), std::move(on_answer));
        } catch (const std::exception&) { // out of memory
            asked_->erase(name);
            --mine->open;
        }
    }
    return mine;
}

} // namespace skep
