// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <mutex>
#include <vector>

namespace skep {

namespace asio = boost::asio;

/// An object that must end when its execution context is destroyed.
class context_bound {
public:
    /// Ends the object. The coroutines of `context` no longer run.
    virtual void end_now(const asio::execution_context& context) noexcept = 0;

protected:
    ~context_bound() = default;
};

/// Ends the processes and threads of pools that are alive when their execution context is destroyed, and the
/// waits unknown to the services of the context. An execution context destroys suspended coroutines without
/// running them, in its own order and not always all of them, so their destructors are not reliable.
class context_guard : public asio::execution_context::service {
public:
    explicit context_guard(asio::execution_context& owner) : service(owner) {}

    /// Guards `new_member` as long as it lives.
    static void enroll(const asio::any_io_executor& executor,
                       const std::shared_ptr<context_bound>& new_member);

    static inline asio::execution_context::id id;

private:
    void shutdown() noexcept override;

    std::mutex mutex_;
    std::vector<std::weak_ptr<context_bound>> bound_;
};

} // namespace skep
