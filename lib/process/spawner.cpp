// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/spawner.hpp"

#include "core/with_detail.hpp"
#include <skep/error.hpp>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace skep {

namespace {

constexpr std::chrono::milliseconds between_hints(10);

} // namespace

/// Shared with the thread, which may outlive its spawner.
struct spawner::state {
    state(launcher process_launcher, std::shared_ptr<const host_state> host_facts)
        : launch(std::move(process_launcher)), host(std::move(host_facts)) {}

    void run();
    bool take(job& next);
    void finish_job();
    void abandon();

    struct entry {
        job work;
        std::function<void()> then;
    };

    launcher launch;
    std::shared_ptr<const host_state> host;
    pid_t process = ::getpid();
    std::thread thread;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<entry> entries;
    std::function<void()> then; ///< of the current job
    bool stopping = false;
    bool ended = false;
};

void spawner::state::run() {
    assume(host->thread);
    {
        guard watch(launch, *host);
        job next;
        while (take(next)) {
            next(watch);
            next = nullptr; // destroys the job before announcing its end
            finish_job();
        }
    }
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
}

/// Waits for the next job. Returns false after the last one.
bool spawner::state::take(job& next) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return stopping || !entries.empty(); });
    if (entries.empty()) {
        return false;
    }
    next = std::move(entries.front().work);
    then = std::move(entries.front().then);
    entries.pop_front();
    return true;
}

void spawner::state::finish_job() {
    const std::lock_guard lock(mutex);
    if (const auto notify = std::exchange(then, nullptr)) {
        try {
            notify();
        } catch (const std::exception&) { // out of memory: the waiter has a limit
        }
    }
}

/// Discards the jobs after stop() has given up waiting. Preconditions: the mutex is locked.
void spawner::state::abandon() {
    entries.clear();
    then = nullptr;
}

spawner::spawner(launcher launch, std::shared_ptr<const host_state> host)
    : launch_(std::move(launch)), host_(std::move(host)) {}

spawner::~spawner() {
    stop(duration::zero(), [] {});
}

void spawner::post(job work, std::function<void()> then) {
    if (!state_) {
        auto fresh = std::make_shared<state>(launch_, host_);
        try {
            fresh->thread = std::thread([fresh] { fresh->run(); });
        } catch (const std::system_error& problem) {
            error_info info;
            info.detail =
                "the thread that starts workers could not be created: " +
                std::string(problem.code().message()) +
                "; the limit of processes and threads is reached: raise 'ulimit -u' or the container's "
                "pids.max";
            throw error(errc::spawn_failed, std::move(info));
        }
        state_ = std::move(fresh);
    }
    if (state_->process != ::getpid()) {
        throw error(errc::spawn_failed,
                    with_detail("this process is a forked copy of the one that started the pool: make and "
                                "start pools after fork() or daemon()"));
    }
    const std::lock_guard lock(state_->mutex);
    state_->entries.push_back({std::move(work), std::move(then)});
    state_->changed.notify_all();
}

void spawner::stop(duration limit, const std::function<void()>& hasten) {
    const auto ending = std::exchange(state_, nullptr);
    if (!ending) {
        return;
    }
    if (ending->process != ::getpid()) { // a forked copy does not have the thread
        ending->thread.detach();
        return;
    }
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::unique_lock lock(ending->mutex);
    ending->stopping = true;
    ending->changed.notify_all();
    while (!ending->ended && std::chrono::steady_clock::now() < deadline) {
        lock.unlock();
        hasten();
        lock.lock();
        ending->changed.wait_for(lock, between_hints, [&] { return ending->ended; });
    }
    const bool over = ending->ended;
    if (!over) {
        ending->abandon();
    }
    lock.unlock();
    if (over) {
        ending->thread.join();
    } else {
        ending->thread.detach();
    }
}

} // namespace skep
