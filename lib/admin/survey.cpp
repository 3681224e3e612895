// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/survey.hpp"

#include "async/latch.hpp"

#include <chrono>
#include <exception>
#include <optional>
#include <set>
#include <utility>

namespace skep {

using namespace std::chrono_literals;

namespace {

constexpr auto longest_wait = 1s;
constexpr auto fresh_enough = 200ms;

/// While a turn lives, other coroutines wait.
class turn {
public:
    turn(bool& is_taken, condition_variable& end_signal) noexcept
        : is_taken_(is_taken), end_signal_(end_signal) {
        is_taken_ = true;
    }
    ~turn() {
        is_taken_ = false;
        end_signal_.notify_all();
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;

private:
    bool& is_taken_;
    condition_variable& end_signal_;
};

} // namespace

/// A query to each pool.
struct survey::inquiry {
    explicit inquiry(const strand& executor) : all_answered(executor) {}

    struct answer {
        std::string pool;
        std::string place;
        std::optional<pool_metrics> metrics;
    };

    void add(std::size_t place, std::optional<pool_metrics> metrics) {
        answers[place].metrics = std::move(metrics);
        count_answer();
    }

    void count_answer() {
        if (--open == 0) {
            all_answered.open();
        }
    }

    findings result() {
        findings found;
        found.unable = unable_places();
        found.node = std::move(node);
        for (auto& each : answers) {
            if (each.metrics) {
                each.metrics->status.name = each.pool;
                found.pools.push_back(std::move(*each.metrics));
            } else {
                found.silent.push_back(each.pool);
            }
        }
        return found;
    }

    /// A place can serve if one of its pools can.
    std::vector<std::string> unable_places() const {
        std::set<std::string> able;
        for (const auto& each : answers) {
            if (each.metrics && can_serve(each.metrics->status)) {
                able.insert(each.place);
            }
        }
        std::vector<std::string> unable;
        for (const auto& each : answers) {
            if (!able.contains(each.place)) {
                unable.push_back("pool " + each.pool + (each.metrics ? " cannot serve" : " does not answer"));
            }
        }
        return unable;
    }

    std::vector<answer> answers; ///< in the order of the pools
    std::optional<node_status> node;
    std::size_t open = 0;
    latch all_answered;
};

asio::awaitable<findings_ptr> survey::collect() {
    while (is_looking_) { // another coroutine is asking; its result is shared
        co_await has_looked_.wait();
    }
    if (newest_ && clock::now() - seen_at_ < fresh_enough) {
        co_return newest_;
    }
    const turn looking(is_looking_, has_looked_);
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
    std::erase_if(asked_, [](const auto& each) { return each.second.expired(); });
    auto questions = pools_.metrics([this](const std::string& name) { return asked_.contains(name); });
    for (auto& [name, place_of_calls, question] : questions) {
        const auto place = mine->answers.size();
        mine->answers.push_back({name, place_of_calls, {}});
        if (!question) { // its last query is open
            continue;
        }
        ++mine->open;
        try {
            const auto is_open = std::make_shared<const bool>(true);
            asked_[name] = is_open;
            auto on_answer = [weak = std::weak_ptr(mine), place,
                              is_open](std::optional<pool_metrics> metrics) {
                if (const auto asker = weak.lock()) {
                    asker->add(place, std::move(metrics));
                }
            };
            answers_->ask(question->where, std::move(question->work), std::move(on_answer));
        } catch (const std::exception&) { // out of memory
            --mine->open;
        }
    }
    ask_node(mine);
    return mine;
}

/// A node whose executor is busy is left out, as a pool is.
void survey::ask_node(const std::shared_ptr<inquiry>& target) {
    auto question = node_asked_.expired() ? pools_.node() : std::nullopt;
    if (!question) {
        return;
    }
    const auto is_open = std::make_shared<const bool>(true);
    node_asked_ = is_open;
    auto on_answer = [weak = std::weak_ptr(target), is_open](std::optional<node_status> status) {
        if (const auto asker = weak.lock()) {
            asker->node = std::move(status);
            asker->count_answer();
        }
    };
    ++target->open;
    try {
        answers_->ask(question->where, std::move(question->work), std::move(on_answer));
    } catch (const std::exception&) { // out of memory
        --target->open;
    }
}

} // namespace skep
