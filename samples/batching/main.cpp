// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A model and a writer of texts under load, each with and without batches: batching [CALLERS [SECONDS]]

#include "../common.hpp"
#include <skep/skep.hpp>

#include <chrono>
#include <cstddef>
#include <iomanip>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace asio = boost::asio;
using steady = std::chrono::steady_clock;
using std::chrono::duration;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t width = 1024;      // of the model
constexpr std::size_t vocabulary = 1024; // of the writer
constexpr std::size_t text_length = 24;  // in tokens

struct load {
    std::size_t callers = 64;
    duration<double> length{3};
};

/// Makes a request and checks the answer.
using request_maker = asio::awaitable<void> (*)(skep::pool& pool, std::size_t caller);

asio::awaitable<void> embed(skep::pool& pool, std::size_t caller) {
    const std::vector<float> numbers(width, static_cast<float>(caller));
    auto call = skep::request("embed").attach(std::as_bytes(std::span(numbers)));
    const auto answer = co_await pool.execute(std::move(call));
    answer.tensor<float>("", {width}); // throws unless the answer has this type and shape
}

asio::awaitable<void> read_text(skep::pool& pool, std::size_t caller) {
    auto call = skep::request("write").arg("prompt", caller % vocabulary).arg("tokens", text_length);
    auto text = co_await pool.stream(std::move(call));
    std::size_t tokens = 0;
    while (const auto token = co_await text.next()) {
        ++tokens;
    }
    if (tokens != text_length) {
        throw std::runtime_error("a text has " + std::to_string(tokens) + " tokens");
    }
}

/// Makes one request after the other.
asio::awaitable<void> keep_calling(skep::pool& pool, request_maker make, std::size_t caller,
                                   steady::time_point end, skep::histogram& times) {
    auto began = steady::now();
    while (began < end) {
        co_await make(pool, caller);
        const auto now = steady::now();
        times.record(now - began);
        began = now;
    }
}

/// Returns the mean number of calls of a batch, 0 without batches.
double mean_batch(const skep::pool_metrics& metrics) {
    double calls = 0;
    double batches = 0;
    for (const auto& [command, each] : metrics.batches) {
        calls += static_cast<double>(each.calls);
        batches += static_cast<double>(each.wait_time.count());
    }
    return batches > 0 ? calls / batches : 0;
}

double milliseconds(skep::duration time) {
    return duration<double, std::milli>(time).count();
}

void print(const skep::histogram& times, duration<double> took, double batch) {
    std::cout << std::fixed << std::setprecision(0) << std::setw(10)
              << static_cast<double>(times.count()) / took.count() << std::setprecision(1) << std::setw(10)
              << milliseconds(times.quantile(0.5)) << std::setw(10) << milliseconds(times.quantile(0.99));
    if (batch > 0) {
        std::cout << std::setw(17) << batch;
    }
    std::cout << '\n';
}

/// Lets the callers work, and prints one row of the table.
asio::awaitable<void> measure(skep::pool& pool, request_maker make, const load& given) {
    co_await make(pool, 0); // the first call is slower
    skep::histogram times;
    const auto began = steady::now();
    const auto end = began + std::chrono::duration_cast<steady::duration>(given.length);
    std::vector<asio::awaitable<void>> callers;
    for (std::size_t i = 0; i < given.callers; ++i) {
        callers.push_back(keep_calling(pool, make, i, end, times));
    }
    co_await run_together(std::move(callers));
    const auto took = steady::now() - began;
    const auto metrics = co_await pool.metrics();
    print(times, took, mean_batch(metrics));
}

int row(const std::string& title, skep::pool_config config, request_maker make, const load& given) {
    std::cout << std::left << std::setw(30) << title << std::right << std::flush;
    config.workers = 1;
    config.queue.timeout = 0s; // every caller waits its turn
    return skep::run(std::move(config), [&](skep::pool& pool) { return measure(pool, make, given); });
}

load load_of(const std::vector<std::string>& args) {
    load given;
    if (!args.empty()) {
        given.callers = std::stoul(args.at(0));
    }
    if (args.size() > 1) {
        given.length = duration<double>(std::stod(args.at(1)));
    }
    if (args.size() > 2 || given.callers < 1 || given.callers > 1000 || given.length <= 0s) {
        throw std::invalid_argument("usage: batching [CALLERS [SECONDS]], at most 1000 callers");
    }
    return given;
}

int compare(const load& given) {
    auto model = skep::pool_config::python(SAMPLE_DIR "/model.py");
    auto single_model = model;
    single_model.commands["embed"].batch = 1; // no batches, whatever the script says
    auto writer = skep::pool_config::python(SAMPLE_DIR "/writer.py");
    auto single_writer = writer;
    single_writer.launch.environment["SLOTS"] = "1";

    std::cout << given.callers << " callers, " << given.length.count() << " s each\n"
              << std::setw(40) << "requests/s" << std::setw(10) << "p50 ms" << std::setw(10) << "p99 ms"
              << std::setw(17) << "calls per batch" << '\n';
    int status = row("model, one call at a time", single_model, embed, given);
    if (status == 0) { // 130 after Ctrl-C
        status = row("model, batches of up to 32", model, embed, given);
    }
    if (status == 0) {
        status = row("writer, one text at a time", single_writer, read_text, given);
    }
    if (status == 0) {
        status = row("writer, up to 32 at a time", writer, read_text, given);
    }
    return status;
}

} // namespace

int main(int argc, char** argv) try {
    return compare(load_of(std::vector<std::string>(argv + 1, argv + argc)));
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
