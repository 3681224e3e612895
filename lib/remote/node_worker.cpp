// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/node_worker.hpp"

#include "remote/link_greeting.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

namespace skep {

namespace {

constexpr std::size_t most_unread = 256u << 20; ///< bytes

class node_stream final : public byte_stream {
public:
    explicit node_stream(std::shared_ptr<node_worker> worker) : worker_(std::move(worker)) {}

    std::optional<std::size_t> try_write(std::span<const char> bytes) noexcept override {
        try {
            return worker_->write(bytes);
        } catch (const std::bad_alloc&) {
            return std::nullopt;
        }
    }
    asio::awaitable<void> wait_writable() override { return worker_->wait_writable(); }
    asio::awaitable<std::size_t> read(std::span<char> space) override { return worker_->read(space); }
    void hear_out() noexcept override {} // nothing comes after the end of a link
    void close() noexcept override {
        worker_->close("the client ends the link");
        worker_->forget();
    }

private:
    std::shared_ptr<node_worker> worker_;
};

/// The node, as the pool sees a process.
class node_process final : public worker_process {
public:
    explicit node_process(std::shared_ptr<node_worker> worker)
        : worker_(std::move(worker)), program_("node " + worker_->node().name) {}
    ~node_process() override { end_now(); }

    int pid() const noexcept override { return 0; }
    const std::string& program() const noexcept override { return program_; }
    asio::awaitable<void> ended() override { return worker_->ended(); }
    void terminate() noexcept override { end_now(); }
    void kill() noexcept override { end_now(); }
    void signal(int) noexcept override {}
    bool measure(std::int64_t) noexcept override { return false; }
    std::uint64_t resident_bytes(std::uint64_t) const noexcept override { return 0; }
    bool saw_oom_kill() const noexcept override { return false; }
    exit_status reap() noexcept override {
        return worker_->is_orderly() ? exit_status::exited(0) : exit_status();
    }
    asio::awaitable<void> end_group() override { co_return; }
    std::string output_tail() const override { return worker_->last_words(); }
    void add_to_tail(std::string_view text) noexcept override {
        try {
            worker_->add_to_last_words(text);
        } catch (const std::bad_alloc&) {} // left out
    }
    std::uint64_t output_lines_dropped() const noexcept override { return 0; }
    asio::awaitable<void> finish(time_point) override { co_return; }
    void abandon() noexcept override { end_now(); }
    void end_now() noexcept override { worker_->close("the client ends the link"); }

private:
    std::shared_ptr<node_worker> worker_;
    const std::string program_;
};

} // namespace

node_worker::node_worker(const strand& executor, node_links& links, std::shared_ptr<hub_driver> driver,
                         remote_link& opened_link, worker_id id, std::shared_ptr<known_node> node)
    : links_(links),
      driver_(std::move(driver)),
      link_(&opened_link),
      id_(std::move(id)),
      node_(std::move(node)),
      epoch_(node_->epoch),
      changed_(executor) {}

node_worker::~node_worker() {
    close("the client ends the link");
    forget();
}

void node_worker::handle(const link_accepted&) {
    is_accepted_ = true;
    node_->is_stranger = false;
    changed_.notify_all();
}

/// Bytes are acknowledged when they arrive, so only this limit stops a node that sends more than is read.
void node_worker::handle(const link_readable& event) {
    if (event.link->unread_bytes() > most_unread) {
        close("node " + node_->name + " sends faster than its answers are read", link_end_cause::violation);
    }
    changed_.notify_all();
}

void node_worker::record_end(link_end end) noexcept {
    last_words_ = std::move(end.detail);
    is_orderly_ = end.cause == link_end_cause::peer_closed && last_words_ == reason_of_drained_link;
    cause_ = end.cause;
    has_ended_ = true;
    links_.on_end(*this);
    changed_.notify_all();
}

asio::awaitable<bool> node_worker::accepted() {
    while (!is_accepted_ && !has_ended_) {
        co_await changed_.wait();
    }
    co_return is_accepted_ && !has_ended_;
}

void node_worker::close(std::string_view reason, link_end_cause cause) noexcept {
    if (has_ended_) {
        return;
    }
    link_end end{cause, {}};
    try {
        end.detail = reason;
        driver_->use().close(*link_, std::string(reason));
    } catch (const std::bad_alloc&) {} // the rest needs no memory
    record_end(std::move(end));
}

asio::awaitable<void> node_worker::ended() {
    while (!has_ended_) {
        co_await changed_.wait();
    }
}

std::optional<std::size_t> node_worker::write(std::span<const char> bytes) {
    if (has_ended_) {
        return std::nullopt;
    }
    auto& hub = driver_->use();
    const auto count = std::min(hub.room(*link_), bytes.size());
    if (count > 0) {
        hub.send(*link_, std::string(bytes.data(), count));
    }
    return count;
}

asio::awaitable<void> node_worker::wait_writable() {
    while (!has_ended_ && driver_->use().room(*link_) == 0) {
        co_await changed_.wait();
    }
}

asio::awaitable<std::size_t> node_worker::read(std::span<char> space) {
    while (!has_ended_ && link_->unread_bytes() == 0) {
        co_await changed_.wait();
    }
    co_return link_ == nullptr ? 0 : driver_->use().read(*link_, space);
}

void node_worker::forget() {
    if (link_ != nullptr) {
        driver_->use().forget(*std::exchange(link_, nullptr));
    }
}

worker_link node_worker::make_link() {
    worker_link made;
    made.data = std::make_unique<node_stream>(shared_from_this());
    made.process = std::make_unique<node_process>(shared_from_this());
    made.node = node_->name;
    made.is_on_trial = node_->ejection.is_ejected();
    return made;
}

} // namespace skep
