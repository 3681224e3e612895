// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/awaitable.hpp>
#include <skep/time.hpp>
#include <skep/worker_call.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/json/conversion.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_from.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace skep {

/// Limits of a command's batches: see handler_registry::on_batch. The pool's configuration may change them.
struct batch_options {
    std::size_t most = 32; ///< most calls of a batch, 1..65,536
    duration wait{};       ///< longest wait for more calls, 0..10 s; 0 = the worker takes the waiting calls
};

/// The calls of a batch, in the order of their arrival.
using batch_calls = std::span<worker_call* const>;

/// The outcome of one call of a batch: a result, or the error of this call alone.
class batch_result {
public:
    /// Constructs a result. `value`: any type that boost::json::value_from converts.
    template <class T>
    requires(!std::derived_from<std::remove_cvref_t<T>, batch_result> &&
             !std::derived_from<std::remove_cvref_t<T>, std::exception> &&
             !std::same_as<std::remove_cvref_t<T>, std::exception_ptr> &&
             boost::json::has_value_from<std::remove_cvref_t<T>>::value) batch_result(T&& value)
        : outcome_(boost::json::value_from(std::forward<T>(value))) {}

    /// Construct an error, such as a worker_error, as if the handler of a single call had thrown it.
    /// The second throws std::invalid_argument for null.
    template <std::derived_from<std::exception> Exception>
    batch_result(Exception error) : outcome_(std::make_exception_ptr(std::move(error))) {}
    batch_result(std::exception_ptr error) : outcome_(std::move(error)) {
        if (!this->error()) {
            throw std::invalid_argument("the error of a call is null");
        }
    }

    /// Returns the error; null for a result.
    std::exception_ptr error() const noexcept {
        const auto* const found = std::get_if<std::exception_ptr>(&outcome_);
        return found != nullptr ? *found : nullptr;
    }

    /// Return the result.
    /// Throw std::bad_variant_access for an error.
    const boost::json::value& value() const { return std::get<boost::json::value>(outcome_); }
    boost::json::value& value() { return std::get<boost::json::value>(outcome_); }

private:
    std::variant<boost::json::value, std::exception_ptr> outcome_;
};

namespace detail {

using async_batch_handler = std::function<boost::asio::awaitable<std::vector<batch_result>>(batch_calls)>;
using plain_batch_handler = std::function<std::vector<batch_result>(batch_calls)>;
using batch_handler = std::variant<plain_batch_handler, async_batch_handler>;

template <class Results>
concept batch_results = std::ranges::input_range<Results> &&
    std::constructible_from<batch_result, std::ranges::range_value_t<Results>>;

template <batch_results Results>
std::vector<batch_result> to_results(Results results) {
    if constexpr (std::same_as<Results, std::vector<batch_result>>) {
        return results;
    } else {
        std::vector<batch_result> converted;
        for (auto&& each : results) {
            if constexpr (std::ranges::view<Results>) { // the elements belong to the handler
                converted.emplace_back(std::ranges::range_value_t<Results>(each));
            } else {
                converted.emplace_back(std::ranges::range_value_t<Results>(std::move(each)));
            }
        }
        return converted;
    }
}

template <batch_results Results>
boost::asio::awaitable<std::vector<batch_result>> to_results(boost::asio::awaitable<Results> results) {
    auto running = checked(std::move(results), "the handler");
    auto values = co_await std::move(running);
    co_return to_results(std::move(values));
}

} // namespace detail

} // namespace skep
