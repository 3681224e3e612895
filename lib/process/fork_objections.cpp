// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/fork_objections.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <utility>

namespace skep {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_objections = 32;
constexpr std::chrono::milliseconds end_of_threads{500};

std::vector<std::string> other_threads() {
    const auto main_thread = std::to_string(::getpid());
    std::vector<std::string> names;
    std::error_code ec;
    for (const auto& task : fs::directory_iterator("/proc/self/task", ec)) {
        std::string name;
        std::ifstream comm(task.path() / "comm");
        if (task.path().filename() != main_thread && std::getline(comm, name)) { // else it has ended
            names.push_back(name);
        }
    }
    return names;
}

std::vector<std::string> lasting_threads() {
    const auto last_look = std::chrono::steady_clock::now() + end_of_threads;
    auto names = other_threads();
    while (!names.empty() && std::chrono::steady_clock::now() < last_look) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
        names = other_threads();
    }
    return names;
}

std::string objection_to_threads(const std::vector<std::string>& names) {
    std::string text = std::to_string(names.size()) + (names.size() == 1 ? " thread: " : " threads: ");
    const auto shown = std::min(names.size(), most_objections);
    for (std::size_t i = 0; i < shown; ++i) {
        text += (i > 0 ? ", " : "") + names[i];
    }
    return text + "; start them in on_start";
}

/// Returns an empty text for a file that may be shared.
std::string objection_to_file(const std::string& descriptor, const std::string& target, int own) {
    if (target.starts_with("/dev/nvidia") || target.starts_with("/dev/kfd")) {
        return target + " is open: use the device in on_start";
    }
    if (target == "anon_inode:[eventpoll]" || target == "anon_inode:[io_uring]") {
        return "descriptor " + descriptor + " is " + target.substr(11) +
               ", as of an event loop: create it in on_start";
    }
    const int number = std::stoi(descriptor);
    if (target.starts_with("socket:") && number > STDERR_FILENO && number != own) {
        return "descriptor " + descriptor + " is a socket: open it in on_start";
    }
    return {};
}

} // namespace

std::vector<std::string> fork_objections(int own) {
    std::vector<std::string> objections;
    if (const auto threads = lasting_threads(); !threads.empty()) {
        objections.push_back(objection_to_threads(threads));
    }
    std::error_code ec;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd", ec)) {
        const auto target = fs::read_symlink(entry.path(), ec).string();
        auto objection = objection_to_file(entry.path().filename(), target, own);
        if (!objection.empty() && objections.size() < most_objections) {
            objections.push_back(std::move(objection));
        }
    }
    return objections;
}

} // namespace skep
