// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Reads the Python standard library with a pool of Python workers, on one thread. To start a program of your
// own, copy from:
//     survey.cpp   calls, several in flight, errors, cancellation
//     main.cpp     configuration, and an orderly end in all cases: finished, failed or interrupted

#include "report.hpp"
#include "survey.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <charconv>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr const char* usage = "usage: quickstart [--python PROGRAM] [--workers N]\n"
                              "  --python PROGRAM  interpreter, a name in PATH or a path (default: python3)\n"
                              "  --workers N       processes, 1 to 256 (default: 4)\n";

constexpr int exit_failure = 1;
constexpr int exit_usage = 2;
constexpr int exit_signal = 128; // plus the signal's number, as in shells

struct usage_error : std::runtime_error {
    using runtime_error::runtime_error;
};

struct options {
    std::string python = "python3";
    std::size_t workers = 4;
};

std::size_t parse_workers(const std::string& text) {
    std::size_t count = 0;
    const auto* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, count);
    if (result.ec != std::errc() || result.ptr != end || count < 1 || count > 256) {
        throw usage_error("--workers must be a number from 1 to 256, not '" + text + "'");
    }
    return count;
}

options parse(const std::vector<std::string>& args) {
    options chosen;
    for (std::size_t i = 0; i < args.size(); i += 2) {
        const auto& name = args[i];
        if (name != "--python" && name != "--workers") {
            throw usage_error("unknown option '" + name + "'");
        }
        if (i + 1 == args.size() || args[i + 1].empty()) {
            throw usage_error(name + " needs a value");
        }
        if (name == "--python") {
            chosen.python = args[i + 1];
        } else {
            chosen.workers = parse_workers(args[i + 1]);
        }
    }
    return chosen;
}

skep::pool_config configure(const options& chosen, screen& output) {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py", chosen.python);
    config.name = "quickstart";
    config.workers = chosen.workers;
    config.queue.timeout = 0s; // the survey bounds its calls itself, so a long wait is no overload
    config.log_level = skep::log_level::error; // the survey reports the loss of a worker
    config.output.handler = [&output](const skep::output_line& line) {
        output.line(to_string(line.worker) + (line.is_stderr ? " stderr: " : " prints: ") +
                    std::string(line.text));
    };
    return config;
}

/// Handles SIGINT and SIGTERM. The first signal cancels operations started with slot(); later signals have no
/// effect.
class stop_signals {
public:
    stop_signals(asio::io_context& context, screen& output)
        : set_(context, SIGINT, SIGTERM), screen_(output) {
        wait();
    }

    asio::cancellation_slot slot() { return stop_.slot(); }

    /// Returns the number of the first signal.
    std::optional<int> received() const noexcept { return received_; }

    /// Stops waiting for signals, so that the context runs out of work.
    void close() {
        closed_ = true;
        set_.cancel();
    }

private:
    void wait() {
        set_.async_wait([this](const boost::system::error_code& failed, int number) {
            if (failed || closed_) {
                return;
            }
            wait();
            handle(number);
        });
    }

    void handle(int number) {
        if (received_) {
            screen_.line("still stopping ...");
            return;
        }
        received_ = number;
        screen_.line(std::string(strsignal(number)) + ": stopping ...");
        stop_.emit(asio::cancellation_type::terminal);
    }

    asio::signal_set set_;
    asio::cancellation_signal stop_;
    screen& screen_;
    std::optional<int> received_;
    bool closed_ = false;
};

/// The outcome of a run.
struct outcome {
    findings found;
    std::string problem; ///< reason of an early end; empty if the survey finished
    skep::pool_status before_shutdown;
    skep::shutdown_report shutdown;
};

/// Runs the survey and cleans up. Only the survey can be cancelled.
asio::awaitable<outcome> run(skep::pool_config config, screen& output, asio::cancellation_slot stop) {
    const auto executor = co_await asio::this_coro::executor;
    skep::pool pool(executor, std::move(config));
    survey job(pool, output);
    outcome end;
    try {
        auto stoppable = asio::bind_cancellation_slot(stop, asio::use_awaitable);
        co_await asio::co_spawn(executor, job.run(), std::move(stoppable));
    } catch (const std::exception& problem) {
        end.problem = problem.what();
    }
    output.end_progress();
    end.found = job.result();
    end.before_shutdown = co_await pool.status();
    end.shutdown = co_await pool.shutdown();
    co_return end;
}

int conclude(const outcome& end, std::optional<int> signal) {
    if (!end.found.paths.empty()) {
        print_packages(end.found);
        print_exceptions(end.found);
    }
    if (end.before_shutdown.phase != skep::pool_phase::created) {
        print_status(end.before_shutdown);
        print_shutdown(end.shutdown);
    }
    if (signal) {
        std::cout << "\ninterrupted: " << end.found.done() << " of " << end.found.paths.size()
                  << " modules were done\n";
        return exit_signal + *signal;
    }
    if (!end.problem.empty()) {
        std::cerr << "quickstart: " << end.problem << '\n';
        return exit_failure;
    }
    return verify(end.found) ? 0 : exit_failure;
}

int run_quickstart(const options& chosen) {
    asio::io_context context(1);
    screen output;
    stop_signals signals(context, output);
    std::optional<outcome> end;
    std::exception_ptr failure;
    const auto on_end = [&](std::exception_ptr problem, outcome result) {
        failure = problem;
        end = std::move(result);
        signals.close();
    };
    asio::co_spawn(context, run(configure(chosen, output), output, signals.slot()), on_end);
    context.run();
    if (failure) {
        std::rethrow_exception(failure);
    }
    return conclude(*end, signals.received());
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run_quickstart(parse(std::vector<std::string>(argv + 1, argv + argc)));
    } catch (const usage_error& problem) {
        std::cerr << "quickstart: " << problem.what() << '\n' << usage;
        return exit_usage;
    } catch (const std::exception& problem) {
        std::cerr << "quickstart: " << problem.what() << '\n';
        return exit_failure;
    }
}
