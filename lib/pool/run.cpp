// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/signal_dispositions.hpp"
#include <skep/awaitable.hpp>
#include <skep/run.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <exception>
#include <utility>

namespace skep {

namespace {

namespace asio = boost::asio;

using pool_main = std::function<asio::awaitable<void>(pool&, context_group&)>;

constexpr std::chrono::seconds for_last_answers(1);

// Signals within this time count as one: timeout(1) signals its child, and then the child's whole group.
constexpr std::chrono::milliseconds for_the_same_signal(200);

constexpr int exit_status_after_interrupt = 130;

/// A pool, its main coroutine, and the effect of signals on both. All in the first context.
class program {
public:
    program(pool_config config, threads number, pool_main main)
        : main_(std::move(main)),
          contexts_(number, config.wait),
          pool_(contexts_.first(), std::move(config)),
          signals_(contexts_.first()),
          repeats_(contexts_.first()) {
        for (std::size_t i = 0; i < signal_dispositions::numbers.size(); ++i) {
            if (!old_dispositions_.ignores(i)) {
                signals_.add(signal_dispositions::numbers[i]);
            }
        }
    }

    int run() {
        signals_.async_wait([this](boost::system::error_code ec, int number) {
            if (!ec) {
                on_signal(number);
            }
        });
        auto on_end = [this](const std::exception_ptr& problem) { on_main_ended(problem); };
        asio::co_spawn(contexts_.first(), start_and_run_main(),
                       asio::bind_cancellation_slot(stop_main_.slot(), on_end));
        contexts_.run(); // until the pool has stopped
        contexts_.restart();
        contexts_.run_for(for_last_answers);
        stop_main_.emit(asio::cancellation_type::terminal);
        contexts_.restart();
        contexts_.poll();
        if (problem_) {
            std::rethrow_exception(problem_);
        }
        return signal_ == SIGINT ? exit_status_after_interrupt : 0;
    }

private:
    asio::awaitable<void> start_and_run_main() {
        const auto filter = asio::enable_total_cancellation();
        co_await asio::this_coro::reset_cancellation_state(filter);
        co_await pool_.start();
        auto running = detail::checked(main_(pool_, contexts_), "the main of skep::run");
        co_await std::move(running);
    }

    void on_signal(int number) {
        signal_ = number;
        repeats_.expires_after(for_the_same_signal);
        repeats_.async_wait([this](boost::system::error_code ec) {
            if (!ec) {
                restore_signals();
            }
        });
        stop_main_.emit(asio::cancellation_type::total);
        shut_down();
    }

    void on_main_ended(const std::exception_ptr& problem) {
        problem_ = signal_ == 0 ? problem : nullptr;
        shut_down();
    }

    void shut_down() {
        if (!std::exchange(shutting_down_, true)) {
            asio::co_spawn(contexts_.first(), pool_.shutdown(),
                           [this](const std::exception_ptr&, const shutdown_report&) {
                               restore_signals();
                               contexts_.stop();
                           });
        }
    }

    void restore_signals() {
        boost::system::error_code ec;
        signals_.clear(ec);
        signals_.cancel(ec);
        repeats_.cancel();
        old_dispositions_.restore();
    }

    // The order matters: coroutine frames left behind by main end with the contexts, and may refer to
    // captures of main.
    signal_dispositions old_dispositions_;
    pool_main main_;
    asio::cancellation_signal stop_main_;
    context_group contexts_;
    pool pool_;
    asio::signal_set signals_;
    asio::steady_timer repeats_; ///< timer for repeats of the first signal
    bool shutting_down_ = false;
    int signal_ = 0;
    std::exception_ptr problem_;
};

} // namespace

int run(pool_config config, std::function<asio::awaitable<void>(pool&)> main) {
    auto with_pool = [main = std::move(main)](pool& workers, context_group&) { return main(workers); };
    return run(std::move(config), std::move(with_pool), threads(1));
}

int run(pool_config config, std::function<asio::awaitable<void>(pool&, context_group&)> main,
        threads number) {
    program whole(std::move(config), number, std::move(main));
    return whole.run();
}

} // namespace skep
