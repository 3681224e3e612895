// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A host to be killed:
//     doomed_host PYTHON SCRIPT MARK [start|load|stop] [plain|stray|segments] [fork] [preload] [shared] [MiB]
//
// Runs four workers with calls in flight, each with a child of its own. MARK is in the environment of all of
// them. It says so on stdout when it is where it is to be killed: before its start, under load, or as it
// begins to shut down. With `plain`, SIGTERM ends its workers at once; with `stray` they are in its own
// group, and nothing but SIGKILL ends them; with `segments` each has a segment in /dev/shm; with `fork`, a
// copy of it, forked as workers are launched or under load, lives on for a while; with `preload`, its workers
// come from a template, and each has started a process that has left its group; with `shared`, the calls
// echo 3 MiB through shared memory; with a number it has so much memory in use.

#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace asio = boost::asio;

namespace {

struct options {
    std::string phase = "load";
    std::string manner = "sdk";
    bool fork = false;
    bool preload = false;
    bool shared = false;
    std::size_t mebibytes = 0;
};

options parse(const std::vector<std::string>& words) {
    options result;
    for (const auto& word : words) {
        if (word == "plain" || word == "stray" || word == "segments") {
            result.manner = word;
        } else if (word == "fork") {
            result.fork = true;
        } else if (word == "preload") {
            result.preload = true;
        } else if (word == "shared") {
            result.shared = true;
        } else if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) {
            result.mebibytes = std::stoul(word);
        } else {
            result.phase = word;
        }
    }
    return result;
}

void announce() {
    std::cout << "now" << std::endl;
}

void rethrow(std::exception_ptr error) {
    if (error) {
        std::rethrow_exception(error);
    }
}

skep::request make_call(const options& how) {
    if (how.shared) {
        return skep::request("echo").attach(std::vector<std::byte>(3u << 20));
    }
    return skep::request("spin").arg("seconds", 0.01);
}

asio::awaitable<void> work_for_ever(skep::pool& pool, skep::request what) {
    for (;;) {
        skep::request call = what;
        co_await pool.execute(std::move(call));
    }
}

void fork_copy() {
    if (::fork() == 0) {
        ::close(STDOUT_FILENO);
        ::sleep(4);
        ::_exit(0);
    }
}

asio::awaitable<void> serve(skep::pool& pool, options how) {
    std::thread forks;
    if (how.phase == "start") {
        announce();
        forks = std::thread([&how] {
            for (int i = 0; how.fork && i < 8; ++i) {
                ::usleep(500);
                fork_copy();
            }
        });
    }
    co_await pool.start();
    if (forks.joinable()) {
        forks.join();
    }

    const auto executor = co_await asio::this_coro::executor;
    if (how.phase == "start") {
        co_return;
    }
    if (how.fork) {
        fork_copy();
    }
    if (how.phase == "stop") {
        announce();
        co_await pool.shutdown();
        co_return;
    }
    for (int i = 0; i < 4; ++i) {
        asio::co_spawn(executor, work_for_ever(pool, make_call(how)), rethrow);
    }
    announce();
}

} // namespace

int main(int count, char** words) {
    const auto how = parse({words + 4, words + count});
    std::vector<char> ballast(how.mebibytes << 20, 'x');
    asio::io_context context;
    auto config = skep::pool_config::python(words[2], words[1]);
    config.launch.environment["DOOMED"] = words[3];
    config.launch.args.push_back(how.manner);
    if (how.preload) {
        config.launch.args.push_back("preload");
        config.launch.preload = true;
        config.launch.preload_fallback = false;
    }
    config.shared.enabled = how.shared;
    config.workers = 4;
    config.min_ready = how.manner == "segments" ? 4 : 1; // then each has one before the host is killed
    skep::pool pool(context.get_executor(), std::move(config));
    asio::co_spawn(context, serve(pool, how), rethrow);
    context.run();
    ::pause(); // shut down, or idle, it still waits for its end
    return ballast.size() == 1;
}
