// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/serve.hpp"

#include "command/config_files.hpp"
#include "command/node_page.hpp"
#include "command/notify_socket.hpp"
#include "command/say.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/visible_text.hpp"
#include <skep/error.hpp>
#include <skep/node_agent.hpp>
#include <skep/pool_manager.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>
#include <utility>

namespace skep {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto between_reports = 1s;

/// Pools that clients on other machines use. One thread runs everything.
class node_service {
public:
    explicit node_service(manager_config config)
        : service_manager_(context_.get_executor()),
          pools_(context_, config),
          node_(context_.get_executor(), pools_, *config.node),
          page_(context_.get_executor(), pools_, node_, config.admin),
          signals_(context_, SIGINT, SIGTERM, SIGHUP),
          pause_(context_) {}

    int run() {
        if (const auto url = page_.url(); !url.empty()) {
            say("admin page: " + url);
        }
        wait_for_signal();
        spawn(live());
        spawn(report());
        context_.run();
        return status_;
    }

private:
    /// Runs a task of the service. A failure ends the service.
    void spawn(asio::awaitable<void> task) {
        asio::co_spawn(context_, std::move(task), [this](const std::exception_ptr& problem) {
            if (problem) {
                fail(problem);
            }
        });
    }

    void fail(const std::exception_ptr& problem) {
        status_ = 1;
        try {
            std::rethrow_exception(problem);
        } catch (const std::exception& failure) {
            say(failure.what());
        }
        end();
    }

    void wait_for_signal() {
        signals_.async_wait([this](boost::system::error_code ec, int number) {
            if (ec) {
                return;
            }
            if (number == SIGHUP) {
                spawn(replace_workers());
            } else {
                end();
            }
            wait_for_signal();
        });
    }

    /// Returns as well if the end of the service stops the start.
    asio::awaitable<void> start_pools() {
        try {
            auto starting = pools_.start();
            co_await std::move(starting);
        } catch (const error&) {
            if (ends_ == 0) {
                throw;
            }
        }
    }

    asio::awaitable<void> live() {
        auto starting = start_pools();
        co_await std::move(starting);
        if (ends_ > 0) {
            co_return;
        }
        auto announcing = node_.start();
        co_await std::move(announcing);
        if (ends_ == 0) {
            is_announced_ = true;
            auto telling = tell("READY=1\n");
            co_await std::move(telling);
            say("node " + node_.name() + " is announced");
        }
    }

    /// Sends `news` and the status to the service manager. Without news, sends changes of the status only.
    asio::awaitable<void> tell(std::string news) {
        auto looking = node_.status();
        const auto found = co_await std::move(looking);
        auto text = text_of(found);
        if (!news.empty() || text != status_text_) {
            status_text_ = std::move(text);
            service_manager_.send(news + status_text_);
        }
    }

    asio::awaitable<void> replace_workers() {
        for (const auto& name : pools_.names()) {
            try {
                auto replacing = pools_.get(name).rolling_restart();
                co_await std::move(replacing);
                say("pool " + name + ": all workers are replaced");
            } catch (const error& problem) {
                say(problem.what());
            }
        }
    }

    /// The first time, lets the calls finish; the second time, cancels them.
    void end() {
        ++ends_;
        if (ends_ == 1) {
            service_manager_.send("STOPPING=1");
            spawn(end_in_order());
        } else if (ends_ == 2) {
            spawn(node_.stop());
        }
    }

    asio::awaitable<void> end_in_order() {
        if (is_announced_) {
            auto draining = node_.drain();
            co_await std::move(draining);
        }
        auto stopping = node_.stop();
        co_await std::move(stopping);
        auto ending = pools_.shutdown();
        const auto left = co_await std::move(ending);
        auto closing = page_.stop();
        co_await std::move(closing);
        status_ = left.clean() ? status_ : 1;
        is_over_ = true;
        signals_.cancel();
        pause_.cancel();
    }

    /// Tells the service manager changes of the status, and that the service lives.
    asio::awaitable<void> report() {
        const auto watchdog = service_manager_.watchdog();
        const duration between =
            watchdog ? std::min<duration>(between_reports, *watchdog / 2) : between_reports;
        while (!is_over_) {
            auto telling = tell({});
            co_await std::move(telling);
            if (watchdog) {
                service_manager_.send("WATCHDOG=1");
            }
            boost::system::error_code ec;
            auto token = asio::redirect_error(asio::use_awaitable, ec);
            pause_.expires_after(between);
            co_await pause_.async_wait(std::move(token));
        }
    }

    std::string text_of(const node_status& node) const {
        const auto of_node = "STATUS=node " + node.name + ": ";
        if (ends_ > 0 && !node.is_connected) {
            return of_node + "ends";
        }
        if (!node.is_connected) {
            return of_node + (node.problem.empty() ? "not connected" : visible(node.problem));
        }
        return of_node + (node.is_draining ? "drains, " : "") + std::to_string(node.links) + " clients, " +
               std::to_string(node.calls) + " calls";
    }

    asio::io_context context_{1};
    notify_socket service_manager_;
    pool_manager pools_;
    node_agent node_;
    node_page page_;
    asio::signal_set signals_;
    asio::steady_timer pause_;
    std::string status_text_;
    int ends_ = 0; ///< requests to end
    bool is_announced_ = false;
    bool is_over_ = false;
    int status_ = 0;
};

} // namespace

int serve(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {});
    if (parsed.operands.size() != 1) {
        throw usage_error("one CONFIG is needed");
    }
    auto config = read_configuration(parsed.operands.front());
    if (!config.node) {
        throw usage_error(parsed.operands.front() + " has no \"node\"");
    }
    if (!config.remote.empty()) {
        throw usage_error("pool " + config.remote.front().options.name +
                          " has \"remote\": a node offers the pools of its own machine only");
    }
    return node_service(std::move(config)).run();
}

} // namespace skep
