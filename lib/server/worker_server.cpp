// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include "process/host_connection.hpp"
#include "process/run_context.hpp"
#include "process/standard_error.hpp"
#include "process/template_process.hpp"
#include "server/conversation.hpp"
#include <skep/worker_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace skep {

namespace {

constexpr int exit_hook_failed = 1;
constexpr int exit_not_started_by_pool = 64;

/// Runs hooks on a context of their own: its descriptors end before the process forks workers. Throws the
/// error of a hook.
void run_preload_hooks(const std::vector<detail::async_hook>& hooks) {
    asio::io_context context(1);
    for (const auto& hook : hooks) {
        std::exception_ptr problem;
        asio::co_spawn(context, detail::checked(hook(), "an on_preload hook"),
                       [&](const std::exception_ptr& failure) { problem = failure; });
        context.run();
        context.restart();
        if (problem) {
            std::rethrow_exception(problem);
        }
    }
}

} // namespace

class worker_server::impl {
public:
    explicit impl(const worker_options& options)
        : options_(options), template_line_(take_template_line()), threads_(options.threads().value_or(0)) {
        if (options.capacity() == std::size_t(0) || options.threads() == std::size_t(0)) {
            throw std::invalid_argument("the capacity of a worker is 1 or more, and so are its threads");
        }
        if (template_line_.get() < 0) {
            connect();
        }
    }

    int run() {
        if (std::exchange(has_run_, true)) {
            throw std::logic_error("worker_server::run() was called twice");
        }
        if (template_line_.get() >= 0 && !leave_template()) {
            return exit_hook_failed;
        }
        if (!connection_) {
            write_to_standard_error("skep: " + why_not_connected_ + "\n");
            return exit_not_started_by_pool;
        }
        work_.start_hooks.insert(work_.start_hooks.begin(), work_.preload_hooks.begin(),
                                 work_.preload_hooks.end());
        const auto wait = connection_->wait;
        conversation talk(executor_, std::move(*connection_), capacity_, threads_, work_);
        std::exception_ptr problem;
        int status = 0;
        asio::co_spawn(executor_, talk.run(previous_exit_),
                       [&](const std::exception_ptr& failure, int result) {
                           problem = failure;
                           status = result;
                           context_.stop();
                       });
        run_context(context_, wait);
        if (problem) {
            std::rethrow_exception(problem);
        }
        return status;
    }

    asio::any_io_executor executor() const { return executor_; }
    const std::string& slot() const noexcept { return slot_; }
    const std::string& previous_exit() const noexcept { return previous_exit_; }

    work work_; ///< declared before the context, because remaining coroutines in the context may use it

private:
    void connect() {
        try {
            connection_ = take_host_connection();
            const auto at_once = options_.threads().value_or(std::max<std::size_t>(connection_->threads, 1));
            capacity_ = options_.capacity().value_or(at_once);
            slot_ = connection_->worker.substr(0, connection_->worker.rfind('#'));
        } catch (const not_started_by_pool& problem) { // no reason to fail yet
            why_not_connected_ = problem.what();
        }
    }

    /// Forks workers as the pool orders. Returns true in a worker, and false in the template if a hook has
    /// failed.
    bool leave_template() {
        try {
            run_preload_hooks(std::exchange(work_.preload_hooks, {}));
        } catch (...) {
            write_to_standard_error("skep: on_preload failed: " + text_of(std::current_exception()) + "\n");
            return false;
        }
        serve_template(std::move(template_line_));
        connect();
        return true;
    }

    const worker_options options_;
    unique_fd template_line_; ///< of a template only
    asio::io_context context_{1};
    strand executor_{context_.get_executor()};
    std::optional<host_connection> connection_;
    std::string why_not_connected_;
    const std::size_t threads_;
    std::size_t capacity_ = 1;
    std::string slot_;
    std::string previous_exit_;
    bool has_run_ = false;
};

worker_server::worker_server(const worker_options& options) : impl_(std::make_unique<impl>(options)) {}
worker_server::~worker_server() = default;

const std::string& worker_server::slot() const noexcept {
    return impl_->slot();
}

const std::string& worker_server::previous_exit() const noexcept {
    return impl_->previous_exit();
}

boost::asio::any_io_executor worker_server::get_executor() noexcept {
    return impl_->executor();
}

int worker_server::run() {
    return impl_->run();
}

worker_server& worker_server::add(std::string command, detail::plain_handler handler) {
    impl_->work_.add(std::move(command), std::move(handler));
    return *this;
}

worker_server& worker_server::add_async(std::string command, detail::async_handler handler) {
    impl_->work_.add(std::move(command), std::move(handler));
    return *this;
}

worker_server& worker_server::add_batch(std::string command, const batch_options& options,
                                        detail::batch_handler handler) {
    impl_->work_.add_batch(std::move(command), options, std::move(handler));
    return *this;
}

worker_server& worker_server::set_health_check(detail::async_handler check) {
    impl_->work_.set_health_check(std::move(check));
    return *this;
}

worker_server& worker_server::add_preload_hook(detail::async_hook hook) {
    impl_->work_.preload_hooks.push_back(std::move(hook));
    return *this;
}

worker_server& worker_server::add_start_hook(detail::async_hook hook) {
    impl_->work_.start_hooks.push_back(std::move(hook));
    return *this;
}

worker_server& worker_server::add_stop_hook(detail::async_hook hook) {
    impl_->work_.stop_hooks.push_back(std::move(hook));
    return *this;
}

} // namespace skep
