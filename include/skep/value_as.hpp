// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/error.hpp>
#include <skep/export.hpp>

#include <boost/describe/members.hpp>
#include <boost/describe/modifiers.hpp>
#include <boost/json/conversion.hpp>
#include <boost/json/value.hpp>
#include <boost/json/value_to.hpp>
#include <boost/mp11/algorithm.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace skep {

namespace detail {

/// A place in a value that does not fit, as a JSON pointer (RFC 6901), and the problem.
struct misfit {
    std::string path;
    std::string problem;
};

/// Returns the misfit relative to the enclosing object or array.
SKEP_API misfit under(std::string_view key, misfit inner);

/// Returns the misfit that an exception of the conversion describes.
SKEP_API misfit misfit_of(const boost::json::value& value, const std::exception& problem);

[[noreturn]] SKEP_API void throw_misfit(const misfit& mismatch, error_info info);

template <class T>
std::optional<misfit> find_misfit(const boost::json::value& value);

template <class T>
concept optional_like = std::same_as<T, std::optional<typename T::value_type>>;

template <class T>
concept list_like = boost::json::is_sequence_like<T>::value && !boost::json::is_string_like<T>::value &&
                    !std::same_as<T, boost::json::object>;

template <class T>
using members_of =
    boost::describe::describe_members<T, boost::describe::mod_public | boost::describe::mod_inherited>;

template <class T>
std::optional<misfit> misfit_in_members(const boost::json::object& object) {
    std::optional<misfit> found;
    boost::mp11::mp_for_each<members_of<T>>([&](auto member) {
        using type = std::remove_cvref_t<decltype(std::declval<T&>().*member.pointer)>;
        if (found) {
            return;
        }
        const auto* const value = object.if_contains(member.name);
        if (value == nullptr) {
            found = misfit{std::string("/") + member.name, "missing"};
        } else if (auto inner = find_misfit<type>(*value)) {
            found = under(member.name, std::move(*inner));
        }
    });
    return found;
}

template <class T>
std::optional<misfit> misfit_in_values(const boost::json::object& object) {
    for (const auto& [key, value] : object) {
        if (auto inner = find_misfit<std::remove_cvref_t<typename T::mapped_type>>(value)) {
            return under(key, std::move(*inner));
        }
    }
    return {};
}

template <class T>
std::optional<misfit> misfit_in_elements(const boost::json::array& array) {
    for (std::size_t i = 0; i < array.size(); ++i) {
        if (auto inner = find_misfit<std::remove_cvref_t<typename T::value_type>>(array[i])) {
            return under(std::to_string(i), std::move(*inner));
        }
    }
    return {};
}

template <class T>
std::optional<misfit> misfit_in_tuple(const boost::json::array& array) {
    std::optional<misfit> found;
    boost::mp11::mp_for_each<boost::mp11::mp_iota_c<std::tuple_size_v<T>>>([&](auto index) {
        if (found || index >= array.size()) {
            return;
        }
        if (auto inner = find_misfit<std::tuple_element_t<index, T>>(array[index])) {
            found = under(std::to_string(index), std::move(*inner));
        }
    });
    return found;
}

/// Returns true if there is a conversion to T, or to the elements of T.
template <class T>
constexpr bool has_conversion() {
    namespace json = boost::json;
    if constexpr (json::is_described_class<T>::value) {
        return true;
    } else if constexpr (optional_like<T>) {
        return has_conversion<typename T::value_type>();
    } else if constexpr (json::is_map_like<T>::value) {
        return has_conversion<std::remove_cvref_t<typename T::mapped_type>>();
    } else if constexpr (list_like<T>) {
        return has_conversion<std::remove_cvref_t<typename T::value_type>>();
    } else {
        return json::has_value_to<T>::value;
    }
}

/// Returns the first misfit in the members or elements of `value`.
template <class T>
std::optional<misfit> misfit_inside(const boost::json::value& value) {
    namespace json = boost::json;
    if constexpr (optional_like<T>) {
        return find_misfit<typename T::value_type>(value);
    } else if constexpr (json::is_described_class<T>::value) {
        return value.is_object() ? misfit_in_members<T>(value.get_object()) : std::nullopt;
    } else if constexpr (json::is_map_like<T>::value) {
        return value.is_object() ? misfit_in_values<T>(value.get_object()) : std::nullopt;
    } else if constexpr (list_like<T>) {
        return value.is_array() ? misfit_in_elements<T>(value.get_array()) : std::nullopt;
    } else if constexpr (json::is_tuple_like<T>::value) {
        return value.is_array() ? misfit_in_tuple<T>(value.get_array()) : std::nullopt;
    } else {
        return {};
    }
}

/// Returns the innermost misfit; empty if the value can be converted.
template <class T>
std::optional<misfit> find_misfit(const boost::json::value& value) {
    try {
        static_cast<void>(boost::json::value_to<T>(value));
        return {};
    } catch (const std::exception& problem) {
        auto inner = misfit_inside<T>(value);
        return inner ? std::move(inner) : misfit_of(value, problem);
    }
}

} // namespace detail

/// Converts `value` to a T by boost::json::value_to: numbers, text, containers, std::optional, structs
/// described by BOOST_DESCRIBE_STRUCT, and types with their own tag_invoke.
/// `info`: further members of the error.
/// Throws error(errc::type_mismatch) with the place that does not fit, as a JSON pointer (RFC 6901), and the
/// reason.
/// Thread safety: may be called from any thread.
template <class T>
T value_as(const boost::json::value& value, const error_info& info = {}) {
    constexpr bool has_conversion = detail::has_conversion<T>();
    static_assert(has_conversion,
                  "skep: to read a struct T from JSON, describe it: BOOST_DESCRIBE_STRUCT(T, (), "
                  "(members...)); other types need a tag_invoke for boost::json::value_to_tag<T>");
    if constexpr (has_conversion) { // otherwise Boost.JSON would fail as well, less clearly
        try {
            return boost::json::value_to<T>(value);
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const std::exception& problem) {
            const auto inner = detail::misfit_inside<T>(value);
            detail::throw_misfit(inner ? *inner : detail::misfit_of(value, problem), info);
        }
    }
}

} // namespace skep
