// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/leak_audit.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>

namespace skep::test {

namespace fs = std::filesystem;

namespace {

/// The fields of /proc/PID/stat: program name, state, parent, ...
std::vector<std::string> stat_of(const fs::path& process) {
    std::ifstream file(process / "stat");
    std::string text;
    std::getline(file, text, '\0'); // unlike a bare streambuf, it does not throw if the process has just gone
    const auto name_begin = text.find('(');
    const auto name_end = text.rfind(')');
    std::vector<std::string> fields;
    if (name_end == std::string::npos) {
        return fields;
    }
    fields.push_back(text.substr(name_begin + 1, name_end - name_begin - 1));
    std::istringstream rest(text.substr(name_end + 2));
    for (std::string field; rest >> field;) {
        fields.push_back(field);
    }
    return fields;
}

struct child {
    pid_t pid = 0;
    bool is_guard = false;
};

std::vector<child> all_children() {
    std::vector<child> result;
    for (const auto& entry : fs::directory_iterator("/proc")) {
        const auto name = entry.path().filename().string();
        if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
            continue;
        }
        const auto fields = stat_of(entry.path());
        const bool is_child = fields.size() > 2 && fields[2] == std::to_string(::getpid());
        if (is_child) {
            result.push_back({std::stoi(name), fields[0] == "skep-guard"});
        }
    }
    return result;
}

std::vector<pid_t> children_that(bool are_guards) {
    std::vector<pid_t> result;
    for (const auto& child : all_children()) {
        if (child.is_guard == are_guards) {
            result.push_back(child.pid);
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

} // namespace

std::vector<pid_t> children() {
    return children_that(false);
}

std::vector<pid_t> guards() {
    return children_that(true);
}

std::size_t children_and_guards() {
    return all_children().size();
}

std::size_t threads() {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

std::set<std::string> descriptors() {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
        std::error_code ec;
        const auto target = fs::read_symlink(entry.path(), ec).string();
        if (target.find("/proc/") != 0) { // the listing itself
            result.insert(entry.path().filename().string() + " -> " + target);
        }
    }
    return result;
}

bool is_alive(pid_t pid) {
    const auto fields = stat_of("/proc/" + std::to_string(pid));
    return fields.size() > 1 && fields[1] != "Z" && fields[1] != "X";
}

leak_audit::leak_audit() {
    // Sanitizers start a thread of their own with the first. A joined one may be listed a moment longer.
    pid_t warm_up = 0;
    std::thread([&warm_up] { warm_up = ::gettid(); }).join();
    while (fs::exists("/proc/self/task/" + std::to_string(warm_up))) {
        std::this_thread::yield();
    }
    descriptors_ = descriptors();
    threads_ = threads();
    children_ = children();
    guards_ = guards();
}

leak_audit::~leak_audit() {
    // A thread that was joined may be listed a moment longer. The thread of an abandoned pool is not joined,
    // and has descriptors until its end.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (threads() != threads_ && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
    }
    BOOST_CHECK_EQUAL(threads(), threads_);
    for (const auto& open : descriptors()) {
        BOOST_CHECK_MESSAGE(descriptors_.count(open) == 1, "leaked descriptor " << open);
    }
    const auto now = children();
    BOOST_CHECK_EQUAL_COLLECTIONS(now.begin(), now.end(), children_.begin(), children_.end());
    BOOST_TEST((guards() == guards_), "a guard is left");
}

} // namespace skep::test
