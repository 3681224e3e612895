// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that are forked from a template, which has loaded their model once: a start, a crash, a new model.

#include <skep/skep.hpp>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <unistd.h>

namespace asio = boost::asio;
namespace fs = std::filesystem;
using std::chrono::steady_clock;

namespace {

/// A file that holds the model, and is removed at the end.
class model_file {
public:
    model_file() : path_((fs::temp_directory_path() / "skep-model.XXXXXX").string()) {
        ::close(::mkstemp(path_.data()));
        write("1");
    }
    ~model_file() { fs::remove(path_); }
    model_file(const model_file&) = delete;
    model_file& operator=(const model_file&) = delete;

    void write(const std::string& version) const { std::ofstream(path_) << version; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

std::string milliseconds_since(steady_clock::time_point begin) {
    const auto took = std::chrono::round<std::chrono::milliseconds>(steady_clock::now() - begin);
    return std::to_string(took.count()) + " ms";
}

asio::awaitable<void> ask(skep::pool& pool) {
    skep::request call("describe");
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << to_string(answer.worker) << ": " << answer.value.as_string().c_str() << '\n';
}

asio::awaitable<void> lose_and_regain_worker(skep::pool& pool) {
    auto starts = pool.events().subscribe<skep::events::worker_ready>();
    const auto begin = steady_clock::now();
    skep::request call("crash");
    try {
        co_await pool.execute(std::move(call));
    } catch (const skep::error& problem) {
        std::cout << problem.code().message() << '\n';
    }
    const auto start = co_await starts.next();
    std::cout << to_string(start->worker) << " is ready " << milliseconds_since(begin) << " after the call\n";
}

asio::awaitable<void> show(skep::pool& pool, const model_file& model) {
    const auto status = co_await pool.status();
    std::cout << "process " << status.preload->pid << " has loaded the model once, for "
              << status.preload->forks << " workers\n";
    co_await ask(pool);

    std::cout << "\na worker crashes\n";
    co_await lose_and_regain_worker(pool);
    co_await ask(pool);

    std::cout << "\na new model\n";
    model.write("2");
    co_await pool.rolling_restart();
    co_await ask(pool);
}

} // namespace

int main() try {
    const model_file model;
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.launch.args.push_back(model.path());
    config.launch.preload = true;
    config.workers = 8;
    config.min_ready = 8;
    config.restart.initial_backoff = std::chrono::milliseconds(1); // a start costs little
    config.log_level = skep::log_level::off;                       // hides the crash
    return skep::run(std::move(config), [&](skep::pool& pool) { return show(pool, model); });
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
