// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/dev.hpp"

#include "command/config_files.hpp"
#include "command/dev_line.hpp"
#include "command/folder_watch.hpp"
#include "command/input_lines.hpp"
#include "command/say.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/visible_text.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <stdexcept>

namespace skep {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

constexpr auto between_looks = 300ms;

/// Returns the folders of the scripts: of the files among the arguments of the launch.
std::set<fs::path> folders_of(const manager_config& config) {
    std::set<fs::path> folders;
    for (const auto& each : config.pools) {
        for (const auto& argument : each.launch.args) {
            const auto path = each.launch.working_directory / argument;
            std::error_code ec;
            if (fs::is_regular_file(path, ec)) {
                folders.insert(fs::absolute(path).parent_path());
            }
        }
    }
    return folders;
}

manager_config for_development(manager_config config) {
    for (auto& each : config.pools) {
        each.debugging();
        each.log_level = log_level::info;
        each.stop.drain_timeout = 0s; // Ctrl-C does not wait for a call
    }
    config.restart_failed_pools = false; // a change of a file does it
    for (const auto& each : config.remote) {
        say("pool " + each.options.name + ": the place on other machines is left out");
        config.default_pool = config.default_pool == each.options.name ? "" : config.default_pool;
    }
    config.remote.clear();
    return config;
}

/// Pools with their developer at stdin. One thread runs everything.
class development {
public:
    development(fs::path configuration, manager_config config)
        : configuration_(std::move(configuration)),
          folders_(folders_of(config)),
          files_(list_files(folders_, configuration_)),
          pools_(context_, for_development(std::move(config))),
          input_(context_),
          pause_(context_),
          signals_(context_, SIGINT, SIGTERM) {}

    int run() {
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) {
                close();
            }
        });
        spawn(serve());
        spawn(watch());
        context_.run();
        return status_;
    }

private:
    void spawn(asio::awaitable<void> task) {
        asio::co_spawn(context_, std::move(task), [](const std::exception_ptr& problem) {
            if (problem) {
                std::rethrow_exception(problem);
            }
        });
    }

    /// Ends the wait for a line, and the calls.
    void close() {
        is_over_ = true;
        boost::system::error_code ec;
        input_.close();
        signals_.cancel(ec);
        pause_.cancel();
        spawn(end());
    }

    asio::awaitable<void> end() {
        auto ending = pools_.shutdown();
        co_await std::move(ending);
    }

    asio::awaitable<void> serve() {
        auto starting = start();
        co_await std::move(starting);
        while (!is_over_) {
            auto reading = input_.next();
            const auto line = co_await std::move(reading);
            if (line && line->find_first_not_of(" \t\r") != line->npos) {
                auto calling = call(*line);
                co_await std::move(calling);
            } else if (!line && !is_over_) {
                status_ = has_failed_ && !input_lines::is_terminal() ? 1 : 0;
                close();
            }
        }
    }

    asio::awaitable<void> start() {
        try {
            auto starting = pools_.start();
            co_await std::move(starting);
            say("ready: type COMMAND {JSON} or COMMAND NAME=VALUE ...; workers are replaced when files "
                "change");
        } catch (const error& problem) {
            say(problem.what());
        }
    }

    asio::awaitable<void> call(std::string line) {
        has_failed_ = true;
        try {
            const auto typed = parse_dev_line(line);
            request wanted(typed.command, typed.arguments);
            wanted.pool(typed.pool);
            auto calling = pools_.stream(std::move(wanted)); // a command without chunks has its result
            auto answer = co_await std::move(calling);
            auto showing = show(std::move(answer));
            co_await std::move(showing);
            has_failed_ = false;
        } catch (const error& problem) {
            say(problem.what());
        } catch (const usage_error& problem) {
            say(problem.what());
        }
    }

    /// Prints each chunk as it arrives, then the result. Chunks without a result are the whole answer.
    static asio::awaitable<void> show(reply_stream answer) {
        bool has_chunks = false;
        for (;;) {
            auto waiting = answer.next();
            const auto piece = co_await std::move(waiting);
            if (!piece) {
                break;
            }
            print(piece->value);
            has_chunks = true;
        }
        if (!has_chunks || !answer.result().value.is_null()) {
            print(answer.result().value);
        }
    }

    static void print(const json::value& value) {
        std::cout << visible_json(json::serialize(value)) << std::endl;
    }

    asio::awaitable<void> watch() {
        while (!is_over_) {
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            pause_.expires_after(between_looks);
            co_await pause_.async_wait(token);
            auto now = list_files(folders_, configuration_);
            auto changed = changed_files(files_, now);
            files_ = std::move(now);
            if (std::erase(changed, configuration_.string()) > 0) {
                say(configuration_.string() + " has changed: run skep dev again to use it");
            }
            if (!is_over_ && !changed.empty()) {
                say(changed.front() + " has changed");
                auto replacing = replace_workers();
                co_await std::move(replacing);
            }
        }
    }

    /// Replaces the workers of each pool, and starts the pools that could not start before.
    asio::awaitable<void> replace_workers() {
        for (const auto& name : pools_.names()) {
            auto& target = pools_.get(name);
            try {
                const auto status = co_await target.status();
                auto replacing =
                    status.phase == pool_phase::running ? target.rolling_restart() : target.start();
                co_await std::move(replacing);
                say("pool " + name + " has a new worker");
            } catch (const error& problem) {
                say(problem.what());
            }
        }
    }

    asio::io_context context_{1};
    const fs::path configuration_;
    const std::set<fs::path> folders_;
    file_times files_;
    pool_manager pools_;
    input_lines input_;
    asio::steady_timer pause_;
    asio::signal_set signals_;
    bool is_over_ = false;
    bool has_failed_ = false; ///< the last call
    int status_ = 0;
};

} // namespace

int develop(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {});
    if (parsed.operands.size() != 1) {
        throw usage_error("one CONFIG is needed");
    }
    require_standard_input();
    const auto& path = parsed.operands.front();
    development session(path, read_configuration(path));
    return session.run();
}

} // namespace skep
