// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "call/call.hpp"
#include <skep/completion.hpp>

#include <utility>

namespace skep {

/// A call with one answer.
class unary_call : public call, private call_sink {
public:
    explicit unary_call(request&& new_request)
        : call(std::move(new_request), static_cast<call_sink*>(this)) {}

    /// Attaches the caller. To be called first, on the strand. The call stays alive until its caller is
    /// completed.
    void attach(completion<reply>&& caller) noexcept {
        caller_ = std::move(caller);
        self_ = this;
    }

private:
    void put_answer(reply&& answer) override { end({}, std::move(answer)); }
    void put_failure(lazy_error&& failure) override { end(std::move(failure), {}); }

    void forget() noexcept override {
        const auto self = std::move(self_);
        caller_ = {};
    }

    void end(lazy_error&& failure, reply&& answer) noexcept {
        const auto self = std::move(self_);
        caller_.end(std::move(failure), std::move(answer));
    }

    completion<reply> caller_;
    boost::intrusive_ptr<unary_call> self_; ///< while the caller waits
};

} // namespace skep
