// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "call/call.hpp"

#include <exception>
#include <utility>

namespace skep {

/// A call with one answer, whose caller is suspended meanwhile.
class unary_call final : public call, private call_sink {
public:
    using waiting_caller = basic_suspended_caller<std::exception_ptr, reply>;

    explicit unary_call(request&& new_request)
        : call(std::move(new_request), static_cast<call_sink*>(this)) {}

    /// To be called on the strand, before anything else.
    void attach(waiting_caller&& caller) noexcept { caller_ = std::move(caller); }

private:
    void put_answer(reply&& answer) override { end({}, std::move(answer)); }
    void put_failure(claim_failure&& failure) override { end(std::move(failure), {}); }
    void forget() noexcept override { caller_ = {}; }

    void end(claim_failure&& failure, reply&& answer) {
        resume(std::move(caller_), std::move(failure), std::move(answer));
    }

    waiting_caller caller_;
};

} // namespace skep
