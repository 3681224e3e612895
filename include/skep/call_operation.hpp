// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/completion.hpp>
#include <skep/export.hpp>
#include <skep/reply.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace skep {

/// A call that has not begun: see call_interface::prepare. Completes with a Result. Move-only. Begins at most
/// once; may be destroyed unbegun.
template <class Result>
class basic_call_operation {
public:
    /// The implementation of a call. begin() and discard() destroy the object.
    class body {
    public:
        /// Runs the call. Completes `caller` with the outcome.
        virtual void begin(completion<Result>&& caller) = 0;

        /// Drops the call without running it.
        virtual void discard() noexcept = 0;

    protected:
        ~body() = default;
    };

    /// Takes ownership of `owned`.
    explicit basic_call_operation(body* owned) noexcept : body_(owned) {}

    /// Constructs a call that runs `function(completion<Result>)`, once. The function completes its argument,
    /// at once or later, and must not throw.
    template <class Function>
    requires std::is_invocable_v<Function&, completion<Result>>
    explicit basic_call_operation(Function function)
        : body_(new function_body<Function>(std::move(function))) {}

    /// Returns a call that fails with `cause`.
    static basic_call_operation failing(const std::exception_ptr& cause) {
        return basic_call_operation([failure = lazy_error(cause)](completion<Result> caller) mutable {
            caller.fail(std::move(failure));
        });
    }

    /// Begins the call. Completes `caller` with the outcome.
    void operator()(completion<Result>&& caller) && { body_.release()->begin(std::move(caller)); }

private:
    struct discard_body {
        void operator()(body* owned) const noexcept { owned->discard(); }
    };

    template <class Function>
    class function_body final : public body {
    public:
        explicit function_body(Function&& function) : function_(std::move(function)) {}

        void begin(completion<Result>&& caller) override {
            const std::unique_ptr<function_body> self(this);
            function_(std::move(caller));
        }
        void discard() noexcept override { delete this; }

    private:
        friend std::default_delete<function_body>;

        Function function_;
    };

    std::unique_ptr<body, discard_body> body_;
};

class reply_stream;

using call_operation = basic_call_operation<reply>;          ///< a call that has one answer
using stream_operation = basic_call_operation<reply_stream>; ///< a call whose answer comes in chunks

} // namespace skep
