// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/suspended_caller.hpp"
#include "worker/call.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace skep {

/// A call with one answer, whose caller is suspended meanwhile.
class unary_call final : public call, private call_sink {
public:
    explicit unary_call(request&& what) : call(std::move(what), static_cast<call_sink*>(this)) {}

    /// To be called on the strand, before anything else.
    void attach(suspended_caller&& caller) noexcept { caller_ = std::move(caller); }

    /// The answer, to be moved from. For the caller, after it has been resumed. Throws what the call has failed with.
    reply&& take() {
        if (failure_) {
            throw std::move(*failure_);
        }
        if (code_ != errc()) {
            throw_bare();
        }
        return std::move(*answer_);
    }

private:
    [[noreturn]] void throw_bare() const { throw error(code_, {}); }

    void put_answer(reply answer) noexcept override { answer_.emplace(std::move(answer)); }
    void put_failure(std::unique_ptr<error> failure) noexcept override { failure_ = std::move(failure); }
    void put_failure(errc code) noexcept override { code_ = code; }
    void wake() override { resume(std::move(caller_)); }
    void forget() noexcept override { caller_ = {}; }

    suspended_caller caller_;
    std::optional<reply> answer_;
    std::unique_ptr<error> failure_;
    errc code_{}; ///< of a failure that nothing else is known of
};

} // namespace skep
