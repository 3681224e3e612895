// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/blob.hpp>
#include <skep/error.hpp>
#include <skep/export.hpp>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <bit>
#include <cassert>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace skep {

static_assert(std::endian::native == std::endian::little, "arrays travel in little-endian order");

/// Types of the elements of an ndarray.
enum class dtype : std::uint8_t {
    boolean, ///< one byte, 0 or 1
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float16, ///< in C++ as float16_bits
    float32,
    float64,
    complex64, ///< two float32: real and imaginary part
    complex128,
};

/// Returns the name of a type on the wire, as numpy's dtype.str: "<f4" for float32.
SKEP_API std::string_view to_string(dtype type) noexcept;

/// Returns the type of that name; empty if no type has the name.
SKEP_API std::optional<dtype> to_dtype(std::string_view name) noexcept;

/// Returns the number of bytes of one element.
SKEP_API std::size_t item_size(dtype type) noexcept;

/// An element of dtype::float16: IEEE 754 binary16, not converted.
struct float16_bits {
    std::uint16_t bits = 0; ///< the value's representation

    bool operator==(const float16_bits&) const = default;
};

namespace detail {

template <class T>
constexpr std::optional<dtype> find_dtype() noexcept {
    if constexpr (std::same_as<T, bool>) {
        return dtype::boolean;
    } else if constexpr (std::same_as<T, float16_bits>) {
        return dtype::float16;
    } else if constexpr (std::same_as<T, float>) {
        return dtype::float32;
    } else if constexpr (std::same_as<T, double>) {
        return dtype::float64;
    } else if constexpr (std::same_as<T, std::complex<float>>) {
        return dtype::complex64;
    } else if constexpr (std::same_as<T, std::complex<double>>) {
        return dtype::complex128;
    } else if constexpr (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, wchar_t> &&
                         !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
                         !std::same_as<T, char32_t>) {
        constexpr auto first = std::is_signed_v<T> ? dtype::int8 : dtype::uint8;
        return static_cast<dtype>(static_cast<int>(first) + std::bit_width(sizeof(T)) - 1);
    } else {
        return {};
    }
}

} // namespace detail

/// Types of C++ that an ndarray can hold: bool, integers of 8 to 64 bits, float16_bits, float, double, and
/// std::complex of the last two.
template <class T>
concept array_element = detail::find_dtype<T>()
.has_value();

/// The dtype of a type of C++.
template <array_element T>
inline constexpr dtype dtype_of = *detail::find_dtype<T>();

/// An n-dimensional array that travels beside a call's JSON as an attachment: the type of its elements, its
/// shape, and the elements as bytes in row-major order. Copies share the bytes. To read the elements, make a
/// tensor_view; to make an array of elements, see make_ndarray.
///
/// Thread safety: as for blob.
class ndarray {
public:
    /// Extents, from the slowest dimension to the fastest; empty for a single element.
    using shape_type = std::vector<std::size_t>;

    /// The highest number of dimensions.
    static constexpr std::size_t most_dimensions = 32;

    /// Refers to the elements in `bytes`.
    /// Throws std::invalid_argument if `shape` has more than most_dimensions extents, or if the product of
    /// the extents and item_size(type) is not bytes.size().
    SKEP_API ndarray(dtype type, shape_type shape, blob bytes);

    dtype type() const noexcept { return type_; }               ///< type of the elements
    const shape_type& shape() const noexcept { return shape_; } ///< the extents
    /// Returns the number of elements.
    std::size_t size() const noexcept { return bytes_.size() / item_size(type_); }
    /// Returns the elements as bytes. They may lie at any address: see tensor_view.
    const blob& bytes() const noexcept { return bytes_; }

private:
    dtype type_;
    shape_type shape_;
    blob bytes_;
};

/// Returns an array of `elements`, without copying them.
/// `shape`: the extents; without it, the array has one dimension.
/// Throws std::invalid_argument if the product of the extents is not the number of elements.
template <array_element T>
requires(!std::same_as<T, bool>) ndarray make_ndarray(std::vector<T>&& elements, ndarray::shape_type shape) {
    const auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
    return {dtype_of<T>, std::move(shape), blob(owner, std::as_bytes(std::span<const T>(*owner)))};
}
template <array_element T>
requires(!std::same_as<T, bool>) ndarray make_ndarray(std::vector<T>&& elements) {
    const auto size = elements.size();
    return make_ndarray(std::move(elements), {size});
}

/// Returns an array with a copy of `elements`.
/// `shape`: the extents; without it, the array has one dimension.
/// Throws std::invalid_argument if the product of the extents is not the number of elements.
template <array_element T>
ndarray make_ndarray(std::span<const T> elements, ndarray::shape_type shape) {
    return {dtype_of<T>, std::move(shape), blob::copy_of(std::as_bytes(elements))};
}
template <array_element T>
ndarray make_ndarray(std::span<const T> elements) {
    return make_ndarray(elements, {elements.size()});
}

/// In a shape_rule: any extent.
inline constexpr std::ptrdiff_t any_extent = -1;

/// The shape that a caller expects of an array: {any_extent, 3} for rows of three elements. An empty rule
/// allows any shape.
class shape_rule {
public:
    shape_rule() = default;
    shape_rule(std::initializer_list<std::ptrdiff_t> extents) : extents_(extents) {}

    /// Returns the expected extents; empty if any shape is allowed.
    const std::vector<std::ptrdiff_t>& extents() const noexcept { return extents_; }

private:
    std::vector<std::ptrdiff_t> extents_;
};

namespace detail {

/// Returns the bytes of an array, aligned for its elements. Copies the bytes if they are not aligned.
/// `path`: place of the array for the error, as a JSON pointer.
/// Throws error(errc::type_mismatch) if the array has another type or shape, or a boolean is not 0 or 1.
SKEP_API blob elements_of(const ndarray& array, dtype type, const shape_rule& rule, std::string_view path,
                          const error_info& info);

} // namespace detail

/// The elements of an ndarray, as values of type T. Shares ownership of the elements: the view may outlive
/// the reply that the array came with. Copies share the elements.
///
///     const auto scores = reply.tensor<float>("scores", {skep::any_extent, 3});
///     const float first = scores(0, 2);
///
/// Cost: no copy of the elements, unless they have arrived at an address that is not aligned for T.
/// Thread safety: as for blob.
template <array_element T>
class tensor_view {
public:
    using value_type = T;
    using iterator = const T*;
    using const_iterator = const T*;

    /// Shows the elements of `array`.
    /// `rule`: the expected shape. `path`, `info`: place of the array and further members for the error.
    /// Throws error(errc::type_mismatch) if the elements are not of type T, if the shape breaks the rule, or
    /// if T is bool and an element is not 0 or 1.
    /// Complexity: constant; linear for bool, and for a copy to aligned memory.
    explicit tensor_view(const ndarray& array, const shape_rule& rule = {}, std::string_view path = {},
                         const error_info& info = {})
        : elements_(detail::elements_of(array, dtype_of<T>, rule, path, info)), shape_(array.shape()) {}

    /// Returns the first element. May be null for an empty array.
    const T* data() const noexcept { return reinterpret_cast<const T*>(elements_.data()); }
    /// Returns the number of elements.
    std::size_t size() const noexcept { return elements_.size() / sizeof(T); }
    bool empty() const noexcept { return elements_.empty(); }
    const T* begin() const noexcept { return data(); }
    const T* end() const noexcept { return data() + size(); }

    /// Returns all elements in row-major order. Valid as long as a view or a blob refers to them.
    std::span<const T> as_span() const noexcept { return {data(), size()}; }

    /// Returns the extents.
    const ndarray::shape_type& shape() const noexcept { return shape_; }

    /// Returns an element.
    /// Preconditions, checked by assert: as many indices as dimensions, each less than its extent.
    template <std::integral... Indices>
    const T& operator()(Indices... indices) const noexcept {
        assert(sizeof...(indices) == shape_.size() && "as many indices as dimensions");
        std::size_t offset = 0;
        std::size_t dimension = 0;
        (static_cast<void>(offset = next_offset(offset, dimension++, static_cast<std::size_t>(indices))),
         ...);
        return data()[offset];
    }

private:
    std::size_t next_offset(std::size_t offset, std::size_t dimension, std::size_t index) const noexcept {
        assert(index < shape_[dimension] && "an index is less than its extent");
        return offset * shape_[dimension] + index;
    }

    blob elements_;
    ndarray::shape_type shape_;
};

/// Appends the bytes of `array` to the attachments of a message. Returns the JSON that stands for the array
/// in the message's value: {"$array": {"$attachment": index}, "dtype": "<f4", "shape": [2, 3]}.
SKEP_API boost::json::value attach_to(std::vector<blob>& attachments, const ndarray& array);

/// Returns an attachment by its place in the value of a message.
/// `place`: a key of the value, or a JSON pointer (RFC 6901) such as "/images/0"; empty for the whole value.
/// `info`: further members of the error.
/// Throws error(errc::type_mismatch) if the place holds neither a reference to one of the attachments nor an
/// array.
SKEP_API blob attachment_at(const boost::json::value& value, const std::vector<blob>& attachments,
                            std::string_view place, const error_info& info = {});
SKEP_API blob attachment_at(const boost::json::object& value, const std::vector<blob>& attachments,
                            std::string_view place, const error_info& info = {});

/// Returns an array by its place in the value of a message; see attachment_at.
/// Throws error(errc::type_mismatch) if the place holds no array, or an array whose type is unknown, that has
/// more than ndarray::most_dimensions, or whose shape does not fit its bytes.
SKEP_API ndarray array_at(const boost::json::value& value, const std::vector<blob>& attachments,
                          std::string_view place, const error_info& info = {});
SKEP_API ndarray array_at(const boost::json::object& value, const std::vector<blob>& attachments,
                          std::string_view place, const error_info& info = {});

namespace detail {

/// Returns the JSON pointer of a place: see attachment_at.
SKEP_API std::string pointer_of(std::string_view place);

/// Returns a view of an array by its place in the value of a message.
template <array_element T, class Value>
tensor_view<T> tensor_at(const Value& value, const std::vector<blob>& attachments, std::string_view place,
                         const shape_rule& rule, const error_info& info = {}) {
    const auto array = array_at(value, attachments, place, info);
    return tensor_view<T>(array, rule, pointer_of(place), info);
}

} // namespace detail

} // namespace skep
