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

    /// To be called on the strand, before anything else.
    void attach(completion<reply>&& caller) noexcept { caller_ = std::move(caller); }

private:
    void put_answer(reply&& answer) override { caller_.end({}, std::move(answer)); }
    void put_failure(lazy_error&& failure) override { caller_.end(std::move(failure), {}); }
    void forget() noexcept override { caller_ = {}; }

    completion<reply> caller_;
};

} // namespace skep
