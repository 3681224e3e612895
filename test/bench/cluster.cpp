// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "cluster.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace skep::bench {

namespace {

using boost::asio::ip::tcp;

constexpr auto patience = std::chrono::seconds(20);

unsigned free_port() {
    boost::asio::io_context context(1);
    const tcp::acceptor probe(context, {boost::asio::ip::address_v4::loopback(), 0});
    return probe.local_endpoint().port();
}

bool listens(unsigned port) {
    boost::asio::io_context context(1);
    tcp::socket socket(context);
    boost::system::error_code failure;
    const auto number = static_cast<unsigned short>(port);
    socket.connect({boost::asio::ip::address_v4::loopback(), number}, failure);
    return !failure;
}

std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> found;
    const auto threads = "/proc/" + std::to_string(parent) + "/task";
    for (const auto& thread : std::filesystem::directory_iterator(threads)) {
        std::ifstream list(thread.path() / "children");
        for (pid_t child = 0; list >> child;) {
            found.push_back(child);
        }
    }
    return found;
}

seconds cpu_of_children(pid_t parent) {
    seconds sum{};
    for (const auto child : children_of(parent)) {
        sum += cpu_time(child);
    }
    return sum;
}

} // namespace

companion::companion(std::vector<std::string> command) {
    command.insert(command.begin(), {"/usr/bin/setpriv", "--pdeathsig", "TERM"});
    std::vector<char*> words;
    words.reserve(command.size() + 1);
    for (auto& word : command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    ::posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    const int problem = ::posix_spawn(&pid_, words[0], &actions, nullptr, words.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (problem != 0) {
        throw std::system_error(problem, std::generic_category(), command[0]);
    }
}

companion::~companion() {
    if (pid_ != 0) {
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
}

companion::companion(companion&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}

cpu_times operator-(const cpu_times& end, const cpu_times& begin) {
    return {end.client - begin.client, end.server - begin.server, end.node - begin.node,
            end.worker - begin.worker};
}

figures cpu_of_one(const cpu_times& sum, double calls) {
    const auto share = [calls](seconds time) { return time.count() * 1e6 / calls; };
    return {{"client_us", share(sum.client)},
            {"server_us", share(sum.server)},
            {"node_us", share(sum.node)},
            {"worker_us", share(sum.worker)},
            {"all_us", share(sum.client + sum.server + sum.node + sum.worker)}};
}

cpu_times local_cpu() {
    return {cpu_time(), {}, {}, cpu_of_children(::getpid())};
}

cluster::cluster()
    : port_(free_port()),
      url_("nats://127.0.0.1:" + std::to_string(port_)),
      server_(
          {SKEP_NATS_SERVER, "--addr", "127.0.0.1", "--port", std::to_string(port_), "--log", "/dev/null"}) {
    const auto end = now() + patience;
    while (!listens(port_)) {
        if (now() > end) {
            throw std::runtime_error(std::string(SKEP_NATS_SERVER) + " does not listen");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

void cluster::add(const std::string& mode, const std::vector<std::string>& pairs) {
    std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe"), mode, "url=" + url_};
    command.insert(command.end(), pairs.begin(), pairs.end());
    others_.emplace_back(std::move(command));
}

double cluster::resident_bytes() const {
    double sum = 0;
    for (const auto& other : others_) {
        sum += bench::resident_bytes(other.pid());
    }
    return sum;
}

cpu_times cluster::cpu() const {
    cpu_times sum{cpu_time(), cpu_time(server_.pid()), {}, {}};
    for (const auto& other : others_) {
        sum.node += cpu_time(other.pid());
        sum.worker += cpu_of_children(other.pid());
    }
    return sum;
}

} // namespace skep::bench
