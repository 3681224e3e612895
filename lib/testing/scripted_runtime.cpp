// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "testing/scripted_runtime.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace skep::testing {

namespace {

constexpr int first_pid = 5'000'000; // beyond the pids of Linux: names no real process

/// A scripted worker, as the pool sees a process.
class scripted_process final : public worker_process {
public:
    explicit scripted_process(std::shared_ptr<scripted_worker> worker) : worker_(std::move(worker)) {}

    int pid() const noexcept override { return worker_->pid(); }
    const std::string& program() const noexcept override { return program_; }
    asio::awaitable<void> ended() override { return worker_->wait_for_end(); }
    void terminate() noexcept override { worker_->terminate(); }
    void kill() noexcept override { worker_->end(exit_status::signalled(SIGKILL)); }
    void signal(int) noexcept override {}
    bool measure(std::int64_t) noexcept override { return true; }
    std::uint64_t resident_bytes(std::uint64_t) const noexcept override { return 0; }
    bool saw_oom_kill() const noexcept override { return false; }
    exit_status reap() noexcept override { return worker_->status(); }
    asio::awaitable<void> end_group() override { co_return; }
    std::string output_tail() const override { return worker_->output(); }
    void add_to_tail(std::string_view text) noexcept override { worker_->add_output(text); }
    std::uint64_t output_lines_dropped() const noexcept override { return 0; }
    asio::awaitable<void> finish(time_point) override { co_return; }
    void abandon() noexcept override { kill(); }
    void end_now() noexcept override { kill(); }

private:
    std::shared_ptr<scripted_worker> worker_;
    const std::string program_; ///< none
};

} // namespace

std::shared_ptr<scripted_worker> script::find(const worker_id& id) const noexcept {
    for (const auto& each : workers) {
        auto worker = each.lock();
        if (worker && worker->id() == id && !worker->has_ended()) {
            return worker;
        }
    }
    return nullptr;
}

scripted_runtime::scripted_runtime(const strand& executor, std::size_t capacity,
                                   std::shared_ptr<script> behaviour)
    : executor_(executor), capacity_(capacity), script_(std::move(behaviour)) {}

asio::awaitable<worker_link> scripted_runtime::start(launch_order order) {
    std::erase_if(script_->workers, [](const auto& each) { return each.expired(); });
    const auto pid = first_pid + static_cast<int>(script_->started++);
    auto data = std::make_shared<memory_channel>(executor_);
    auto control = std::make_shared<memory_channel>(executor_);
    auto worker = std::make_shared<scripted_worker>(executor_, std::move(order), pid, capacity_,
                                                    std::shared_ptr<const work>(script_, &script_->functions),
                                                    data, control);
    script_->workers.push_back(worker);
    worker->start();
    worker_link link;
    link.data = make_host_end(std::move(data));
    link.control = make_host_end(std::move(control));
    link.process = std::make_unique<scripted_process>(std::move(worker));
    co_return link;
}

} // namespace skep::testing
