// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "policy/overflow_choice.hpp"
#include <skep/call_operation.hpp>
#include <skep/completion.hpp>

#include <exception>
#include <new>
#include <utility>

namespace skep {

/// The caller of a call that may run at a second place. Begins the call there if the first place has
/// certainly not run it.
template <class Result>
struct caller_of_two : detail::inner_caller<Result> {
    void operator()(lazy_error&& failure, Result&& result) {
        if (may_run_at_other_place(failure.kind())) {
            std::move(second)(std::move(this->caller));
        } else {
            this->caller(std::move(failure), std::move(result));
        }
    }

    basic_call_operation<Result> second;
};

/// Returns a call that runs at the first place or, if that has certainly not run it, at the second.
template <class Result>
basic_call_operation<Result> with_second_place(basic_call_operation<Result> first,
                                               basic_call_operation<Result> second) {
    auto begin = [first = std::move(first), second = std::move(second)](completion<Result> caller) mutable {
        const auto executor = caller.get_executor();
        caller_of_two<Result> both{{std::move(caller)}, std::move(second)};
        try {
            caller = completion<Result>::template of<detail::by_parts>(std::move(both), executor);
        } catch (const std::bad_alloc&) {
            both.caller.fail(lazy_error(std::current_exception()));
            return;
        }
        std::move(first)(std::move(caller));
    };
    return basic_call_operation<Result>(std::move(begin));
}

} // namespace skep
