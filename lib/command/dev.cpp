// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/dev.hpp"

#include "command/config_files.hpp"
#include "command/dev_line.hpp"
#include "command/folder_watch.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/visible_text.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
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
constexpr std::size_t longest_line = 16u << 20;

/// Returns the folders of the files among the arguments of the launch: those of scripts.
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
    return config;
}

void say(const std::string& text) {
    std::cerr << "skep: " << visible(text, line_feeds::keep) << std::endl;
}

/// Writes all that is known about an error.
void show_error(const error& problem) {
    say(problem.what() +
        (problem.info().remote_traceback.empty() ? "" : '\n' + problem.info().remote_traceback));
}

/// Pools with their developer at stdin. One thread runs everything.
class development {
public:
    explicit development(manager_config config)
        : folders_(folders_of(config)),
          files_(list_files(folders_)),
          pools_(context_, for_development(std::move(config))),
          input_(context_),
          pause_(context_),
          signals_(context_, SIGINT, SIGTERM) {}

    int run() {
        open_input();
        signals_.async_wait([this](boost::system::error_code ec, int) {
            if (!ec) {
                close();
            }
        });
        spawn(serve());
        spawn(watch());
        context_.run();
        return 0;
    }

private:
    void spawn(asio::awaitable<void> task) {
        asio::co_spawn(context_, std::move(task), [](const std::exception_ptr& problem) {
            if (problem) {
                std::rethrow_exception(problem);
            }
        });
    }

    void open_input() {
        boost::system::error_code ec;
        input_.assign(0, ec);
        if (ec) {
            throw std::runtime_error("cannot read standard input: " + ec.message());
        }
    }

    /// Ends the wait for a line, and the calls.
    void close() {
        is_over_ = true;
        boost::system::error_code ec;
        input_.close(ec);
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
            std::string line = co_await read_line();
            if (!is_over_ && line.find_first_not_of(" \t\r") != line.npos) {
                auto calling = call(std::move(line));
                co_await std::move(calling);
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
            show_error(problem);
        }
    }

    asio::awaitable<std::string> read_line() {
        boost::system::error_code ec;
        auto buffer = asio::dynamic_buffer(received_, longest_line);
        auto token = asio::redirect_error(asio::use_awaitable, ec);
        const std::size_t size = co_await asio::async_read_until(input_, buffer, '\n', token);
        if (ec && !is_over_) {
            close();
            co_return std::string();
        }
        std::string line = received_.substr(0, size == 0 ? 0 : size - 1);
        received_.erase(0, size);
        co_return line;
    }

    asio::awaitable<void> call(std::string line) {
        try {
            const auto typed = parse_dev_line(line);
            request wanted(typed.command, typed.arguments);
            wanted.pool(typed.pool);
            auto calling = pools_.execute(std::move(wanted));
            const auto answer = co_await std::move(calling);
            std::cout << visible_json(json::serialize(answer.value)) << std::endl;
        } catch (const error& problem) {
            show_error(problem);
        } catch (const usage_error& problem) {
            say(problem.what());
        }
    }

    asio::awaitable<void> watch() {
        while (!is_over_) {
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            pause_.expires_after(between_looks);
            co_await pause_.async_wait(token);
            auto now = list_files(folders_);
            const auto changed = changed_files(files_, now);
            files_ = std::move(now);
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
                show_error(problem);
            }
        }
    }

    asio::io_context context_{1};
    const std::set<fs::path> folders_;
    file_times files_;
    pool_manager pools_;
    asio::posix::stream_descriptor input_;
    asio::steady_timer pause_;
    asio::signal_set signals_;
    std::string received_;
    bool is_over_ = false;
};

} // namespace

int develop(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {});
    if (parsed.operands.size() != 1) {
        throw usage_error("one CONFIG is needed");
    }
    development session(read_configuration(parsed.operands.front()));
    return session.run();
}

} // namespace skep
