// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "support/nats_server.hpp"
#include "support/run.hpp"
#include <skep/node_agent.hpp>
#include <skep/pool_manager.hpp>
#include <skep/remote_pool.hpp>

#include <boost/json/serialize.hpp>

#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

namespace skep::test {

/// Calls to Python workers, by one of the classes that make calls.
class same_calls {
public:
    virtual ~same_calls() = default;

    virtual asio::awaitable<void> start() = 0;
    virtual asio::awaitable<void> stop() = 0;
    virtual call_interface& calls() = 0;

    /// The pool that has the worker processes.
    virtual pool& workers() = 0;
};

class calls_of_pool final : public same_calls {
public:
    calls_of_pool(asio::io_context& context, const pool_config& config) : workers_(context, config) {}

    asio::awaitable<void> start() override { return workers_.start(); }
    asio::awaitable<void> stop() override { co_await workers_.shutdown(); }
    call_interface& calls() override { return workers_; }
    pool& workers() override { return workers_; }

private:
    pool workers_;
};

class calls_of_manager final : public same_calls {
public:
    calls_of_manager(asio::io_context& context, const pool_config& config)
        : manager_(context), workers_(manager_.add(config)) {}

    asio::awaitable<void> start() override { return manager_.start(); }
    asio::awaitable<void> stop() override { co_await manager_.shutdown(); }
    call_interface& calls() override { return manager_; }
    pool& workers() override { return workers_; }

private:
    pool_manager manager_;
    pool& workers_;
};

/// Over a NATS server, to a node that offers the pool.
class calls_of_remote_pool final : public same_calls {
public:
    static constexpr const char* node_name = "there";

    calls_of_remote_pool(asio::io_context& context, const pool_config& config)
        : workers_(context, config),
          node_(context.get_executor(), workers_, node_options_for(server_)),
          client_(context, client_options_for(server_, config)) {}

    asio::awaitable<void> start() override {
        co_await workers_.start();
        co_await node_.start();
        co_await client_.start();
    }
    asio::awaitable<void> stop() override {
        co_await client_.shutdown();
        co_await node_.drain();
        co_await node_.stop();
        co_await workers_.shutdown();
    }
    call_interface& calls() override { return client_; }
    pool& workers() override { return workers_; }

private:
    static node_options node_options_for(const nats_server& server) {
        node_options options;
        options.nats = server.options();
        options.name = node_name;
        options.log_level = log_level::off;
        return options;
    }

    /// The same rules for calls as in the pool.
    static remote_options client_options_for(const nats_server& server, const pool_config& config) {
        remote_options options;
        options.nats = server.options();
        options.queue = config.queue;
        options.request_timeout = config.request_timeout;
        options.stream = config.stream;
        options.retry = config.retry;
        options.affinity = config.affinity;
        options.limits = config.limits;
        options.log_level = log_level::off;
        return options;
    }

    nats_server server_;
    pool workers_;
    node_agent node_;
    remote_pool client_;
};

/// Returns an error's text without the facts that differ between two runs: process ids, addresses,
/// generations of workers, and times. And without the node, which only a remote call has.
inline std::string comparable(std::string text) {
    static const std::vector<std::pair<std::regex, std::string>> rules{
        {std::regex(std::string("node ") + calls_of_remote_pool::node_name + ", "), ""},
        {std::regex(std::string(", node ") + calls_of_remote_pool::node_name), ""},
        {std::regex("pid [0-9]+"), "pid P"},
        {std::regex("0x[0-9a-f]+"), "0xA"},
        {std::regex("/[0-9]+#[0-9]+"), "/W"},
        {std::regex(", waited [0-9.]+ m?s"), ""},
        {std::regex("[0-9.]+ m?s"), "T"},
        {std::regex(SKEP_TEST_DIR), "test"},
    };
    for (const auto& [pattern, replacement] : rules) {
        text = std::regex_replace(text, pattern, replacement);
    }
    return text;
}

inline std::string text_of(const error& failure) {
    return std::string(to_string(failure.kind())) + " | " + comparable(failure.what());
}

/// Returns a value, and the sizes of the attachments.
inline std::string text_of(const json::value& value, const std::vector<blob>& attachments) {
    auto text = json::serialize(value);
    for (const auto& each : attachments) {
        text += " +" + std::to_string(each.size());
    }
    return text;
}

inline std::string text_of(const reply& answer) {
    return text_of(answer.value, answer.attachments);
}

/// What a case works with, and the ways in which it says how a call ended.
class same_bench {
public:
    same_bench(asio::io_context& context, same_calls& kind) : context_(context), kind_(kind) {}

    asio::io_context& context() { return context_; }
    call_interface& calls() { return kind_.calls(); }
    pool& workers() { return kind_.workers(); }

    /// Returns the path of a file that is removed after the case.
    std::string file(const std::string& name) const { return folder_ / name; }

    asio::awaitable<std::string> outcome(request call) {
        auto running = calls().execute(std::move(call), as_result);
        const auto answer = co_await std::move(running);
        co_return answer ? text_of(*answer) : text_of(answer.error());
    }

    /// Returns the outcome of each call, one after the other.
    asio::awaitable<std::string> outcomes(std::vector<request> list) {
        std::string text;
        for (auto& each : list) {
            auto running = outcome(std::move(each));
            const auto next = co_await std::move(running);
            text += (text.empty() ? "" : " / ") + next;
        }
        co_return text;
    }

    /// Returns the chunks and the end of a stream. `most`: chunks that are read.
    asio::awaitable<std::string> chunks(request call, std::size_t most = 1000) {
        std::string text;
        try {
            auto opening = calls().stream(std::move(call));
            auto stream = co_await std::move(opening);
            for (std::size_t i = 0; i < most; ++i) {
                auto reading = stream.next();
                const auto piece = co_await std::move(reading);
                if (!piece) {
                    text += "result " + text_of(stream.result());
                    break;
                }
                text += text_of(piece->value, piece->attachments) + ' ';
            }
        } catch (const error& failure) {
            text += text_of(failure);
        }
        co_return text;
    }

    /// Begins a call beside the case, and waits until a worker runs it.
    asio::awaitable<std::shared_ptr<background_call>> begin_running(std::string name) {
        const auto marker = file(name);
        auto call = request("hang_until_cancelled").arg("marker", marker);
        const auto running = begin_call(context_, calls(), std::move(call));
        auto waiting = exists(name + ".begun");
        co_await std::move(waiting);
        co_return running;
    }

    /// Cancels a call, and returns its outcome.
    asio::awaitable<std::string> cancelled(std::shared_ptr<background_call> call) {
        call->cancel.emit(asio::cancellation_type::terminal);
        auto ending = is_ended(call);
        const bool has_ended = co_await std::move(ending);
        BOOST_TEST_REQUIRE(has_ended);
        co_return call->answer ? text_of(*call->answer) : text_of(*call->problem);
    }

    /// Waits until there is such a file.
    asio::awaitable<void> exists(std::string name) {
        auto is_there = [path = file(name)] { return std::filesystem::exists(path); };
        auto waiting = eventually(std::move(is_there));
        const bool is = co_await std::move(waiting);
        BOOST_TEST_REQUIRE(is, "no file " << name);
    }

private:
    asio::io_context& context_;
    same_calls& kind_;
    const scratch_folder folder_;
};

} // namespace skep::test
