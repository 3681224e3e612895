// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/kept_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution/relationship.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <concepts>
#include <type_traits>
#include <utility>
#include <variant>

namespace skep {

namespace asio = boost::asio;

/// The executor below a strand: of an io_context, of an io_context that lives as long as its executors, or
/// any other, type-erased. An io_context is called directly: the virtual functions of an any_io_executor
/// would take a fifth of the host's time for a call.
/// `Io`: the executor of an io_context, with or without outstanding work.
template <class Io>
class basic_pool_executor {
    using kept = kept_executor<Io>;
    using base = std::variant<Io, kept, asio::any_io_executor>;

public:
    basic_pool_executor(const Io& inner) noexcept : inner_(inner) {}
    basic_pool_executor(const kept& inner) noexcept : inner_(inner) {}

    /// The executor of an io_context is recognised behind the erased type. A template, because a
    /// pool_executor converts to the erased type as well.
    template <std::same_as<asio::any_io_executor> Erased>
    basic_pool_executor(const Erased& executor) noexcept : inner_(recognise(executor)) {}

    asio::execution_context& query(asio::execution::context_t property) const noexcept {
        return visit(
            [&](const auto& inner) -> asio::execution_context& { return asio::query(inner, property); });
    }

    template <class Property>
    requires asio::can_query_v<const Io&, Property> &&
        asio::can_query_v<const asio::any_io_executor&, Property>
    auto query(const Property& property) const noexcept -> typename Property::polymorphic_query_result_type {
        return visit([&](const auto& inner) -> typename Property::polymorphic_query_result_type {
            return asio::query(inner, property);
        });
    }

    /// blocking, relationship and outstanding_work; any_io_executor decides about what it was made of.
    template <class Property>
    requires asio::can_require_v<const Io&, Property> &&
        asio::can_prefer_v<const asio::any_io_executor&, Property>
    auto require(const Property& property) const {
        using io = std::decay_t<decltype(asio::require(std::declval<const Io&>(), property))>;
        using other = basic_pool_executor<io>;
        return visit([&](const auto& inner) { return other(asio::prefer(inner, property)); });
    }

    template <class Function>
    void execute(Function&& function) const {
        visit([&](const auto& inner) { inner.execute(std::forward<Function>(function)); });
    }

    // Without a visit of the variant for an io_context; and the copies of std::variant are not noexcept.
    basic_pool_executor(const basic_pool_executor& other) noexcept : inner_(pass(other.inner_)) {}
    basic_pool_executor(basic_pool_executor&& other) noexcept : inner_(pass(std::move(other.inner_))) {}
    basic_pool_executor& operator=(const basic_pool_executor&) noexcept = default;
    basic_pool_executor& operator=(basic_pool_executor&&) noexcept = default;
    ~basic_pool_executor() = default;

    friend bool operator==(const basic_pool_executor& left, const basic_pool_executor& right) noexcept {
        return left.inner_ == right.inner_;
    }

private:
    static base recognise(const asio::any_io_executor& executor) noexcept {
        if (const auto* const io = executor.target<Io>()) {
            return *io;
        }
        return executor;
    }

    template <class Base>
    static base pass(Base&& other) noexcept {
        if (std::holds_alternative<Io>(other)) {
            return std::get<Io>(std::forward<Base>(other));
        }
        if (std::holds_alternative<kept>(other)) {
            return std::get<kept>(std::forward<Base>(other));
        }
        return std::forward<Base>(other);
    }

    template <class Visitor>
    decltype(auto) visit(Visitor&& visitor) const {
        if (const auto* const io = std::get_if<Io>(&inner_)) {
            return visitor(*io);
        }
        if (const auto* const own = std::get_if<kept>(&inner_)) {
            return visitor(*own);
        }
        return visitor(*std::get_if<asio::any_io_executor>(&inner_));
    }

    base inner_;
};

using pool_executor = basic_pool_executor<asio::io_context::executor_type>;

} // namespace skep
