// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "fake_workers.hpp"

#include "async/latch.hpp"
#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "process/socket_stream.hpp"
#include "wire/frame.hpp"

#include <boost/asio/co_spawn.hpp>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>

namespace skep::bench {

namespace {

void write_frame(int fd, std::string_view json) {
    std::string frame;
    begin_frame(frame);
    frame += json;
    end_frame(frame, 0, frame.size());
    if (::send(fd, frame.data(), frame.size(), MSG_DONTWAIT) != static_cast<ssize_t>(frame.size())) {
        throw std::system_error(errno, std::generic_category(), "a fake worker's send");
    }
}

/// The id in {"type":"call","id":17,...
std::string_view id_in(std::string_view call) {
    constexpr std::string_view prefix = R"({"type":"call","id":)";
    if (!call.starts_with(prefix)) {
        throw std::runtime_error("a fake worker expected a call");
    }
    call.remove_prefix(prefix.size());
    return call.substr(0, call.find(','));
}

} // namespace

class fake_worker {
public:
    fake_worker(const strand& executor, const std::string& token, int data, int control)
        : ended_(executor), data_(data), control_(control) {
        write_frame(data, R"({"type":"hello","protocol":1,"token":")" + token +
                              R"(","pid":1000000,"sdk":"fake","capacity":1,"control":true,"commands":[]})");
        write_frame(data, R"({"type":"ready"})");
    }

    void answer() {
        std::array<char, 4096> room;
        const auto count = ::recv(data_.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (count > static_cast<ssize_t>(frame_header_size)) { // with capacity 1 there is one whole frame
            const std::string_view frame(room.data(), static_cast<std::size_t>(count));
            const auto id = id_in(frame.substr(frame_header_size));
            write_frame(data_.get(), R"({"type":"result","id":)" + std::string(id) + R"(,"value":null})");
        }
    }

    void end() {
        data_.reset();
        control_.reset();
        ended_.open();
    }

    latch& ended() noexcept { return ended_; }

private:
    latch ended_;
    unique_fd data_;
    unique_fd control_;
};

namespace {

class fake_process final : public worker_process {
public:
    explicit fake_process(std::shared_ptr<fake_worker> of) : worker_(std::move(of)) {}

    int pid() const noexcept override { return 1000000; }
    const std::string& program() const noexcept override { return program_; }
    asio::awaitable<void> ended() override { co_await worker_->ended().wait(); }
    void terminate() noexcept override { worker_->end(); }
    void kill() noexcept override { worker_->end(); }
    void signal(int) noexcept override {}
    bool measure(std::int64_t) noexcept override { return false; }
    std::uint64_t resident_bytes(std::uint64_t) const noexcept override { return 0; }
    bool saw_oom_kill() const noexcept override { return false; }
    exit_status reap() noexcept override { return exit_status::signalled(SIGTERM); }
    asio::awaitable<void> end_group() override { co_return; }
    std::string output_tail() const override { return {}; }
    void add_to_tail(std::string_view) noexcept override {}
    std::uint64_t output_lines_dropped() const noexcept override { return 0; }
    asio::awaitable<void> finish(time_point) override { co_return; }
    void abandon() noexcept override { worker_->end(); }
    void end_now() noexcept override { worker_->end(); }

private:
    std::shared_ptr<fake_worker> worker_;
    const std::string program_;
};

class fake_runtime final : public runtime {
public:
    using started = std::vector<std::shared_ptr<fake_worker>>;

    fake_runtime(const strand& executor, started& all) : executor_(executor), all_(all) {}

    asio::awaitable<worker_link> start(launch_order order) override {
        std::array<int, 2> data{};
        std::array<int, 2> control{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, data.data()) != 0 ||
            ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.data()) != 0) {
            throw std::system_error(errno, std::generic_category(), "socketpair");
        }
        unique_fd data_here(data[0]);
        unique_fd control_here(control[0]);
        auto data_stream = make_socket_stream(executor_, data_here);
        auto control_stream = make_socket_stream(executor_, control_here);
        all_.push_back(std::make_shared<fake_worker>(executor_, order.token, data[1], control[1]));
        co_return worker_link{std::move(data_stream), std::move(control_stream),
                              std::make_unique<fake_process>(all_.back())};
    }

    void cancel_start(const worker_id&) noexcept override {}
    void close() override {}

private:
    strand executor_;
    started& all_;
};

asio::awaitable<bool> start_pool(pool& which) {
    co_await which.start();
    co_return true;
}

} // namespace

fake_pool::fake_pool(pool_config config) {
    const auto make = [this](const pool_context& found, const pool_config&, output_handler) {
        return std::make_unique<fake_runtime>(found.executor, workers_);
    };
    const auto core =
        std::make_shared<pool_core>(make_local_context(context_.get_executor()), std::move(config), make);
    pool_ = std::make_unique<pool>(make_pool(core));
    finish(start_pool(*pool_));
}

fake_pool::~fake_pool() {
    finish(pool_->shutdown());
    pool_.reset();
    context_.restart();
    context_.run();
}

void fake_pool::answer() {
    for (const auto& each : workers_) {
        each->answer();
    }
}

std::size_t fake_pool::queued() {
    return finish(pool_->status()).queued;
}

template <class T>
T fake_pool::finish(asio::awaitable<T> operation) {
    std::optional<T> result;
    asio::co_spawn(context_, std::move(operation), [&](std::exception_ptr error, T value) {
        if (error) {
            std::rethrow_exception(error);
        }
        result = std::move(value);
    });
    context_.restart();
    while (!result) {
        context_.run_one();
    }
    return std::move(*result);
}

pool_config fake_config(std::size_t workers) {
    pool_config config;
    config.launch.program = "fake";
    config.workers = workers;
    config.start.batch_size = 1000;
    config.heartbeat.enabled = false;
    config.request_timeout = duration::zero();
    config.queue.timeout = duration::zero();
    config.queue.limit = 10'000'000;
    config.stop.drain_timeout = duration::zero();
    config.stop.shutdown_grace = duration::zero();
    config.log_level = log_level::off;
    return config;
}

} // namespace skep::bench
