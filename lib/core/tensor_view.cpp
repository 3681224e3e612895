// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/reference_keys.hpp"
#include <skep/tensor_view.hpp>
#include <skep/value_as.hpp>

#include <boost/json/array.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace skep {

namespace json = boost::json;

namespace {

constexpr std::string_view dtype_key = "dtype";
constexpr std::string_view shape_key = "shape";
constexpr std::size_t array_members = 3;
constexpr std::size_t most_bytes = std::numeric_limits<std::ptrdiff_t>::max();

struct dtype_facts {
    std::string_view name;
    std::size_t item_size;
};

/// In the order of dtype.
constexpr std::array<dtype_facts, 14> all_dtypes{{
    {"|b1", 1},
    {"|i1", 1},
    {"<i2", 2},
    {"<i4", 4},
    {"<i8", 8},
    {"|u1", 1},
    {"<u2", 2},
    {"<u4", 4},
    {"<u8", 8},
    {"<f2", 2},
    {"<f4", 4},
    {"<f8", 8},
    {"<c8", 8},
    {"<c16", 16},
}};

const dtype_facts& facts_of(dtype type) noexcept {
    return all_dtypes[static_cast<std::size_t>(type)];
}

template <class Extents>
std::string shape_text(const Extents& extents) {
    using extent_type = typename Extents::value_type;
    std::string text = "[";
    for (const auto extent : extents) {
        text += text.size() == 1 ? "" : ", ";
        const bool is_any = std::is_signed_v<extent_type> && extent == static_cast<extent_type>(any_extent);
        text += is_any ? "any" : std::to_string(extent);
    }
    return text + "]";
}

/// Returns the number of bytes of an array; empty if the number exceeds the address space, even if another
/// extent is 0.
std::optional<std::size_t> size_in_bytes(dtype type, const ndarray::shape_type& shape) noexcept {
    std::size_t size = item_size(type);
    bool is_empty = false;
    for (const auto extent : shape) {
        if (extent > most_bytes / size) {
            return {};
        }
        is_empty = is_empty || extent == 0;
        size *= std::max<std::size_t>(extent, 1);
    }
    return is_empty ? 0 : size;
}

/// Returns the reason why an array cannot have this shape and this number of bytes.
std::optional<std::string> find_array_problem(dtype type, const ndarray::shape_type& shape,
                                              std::size_t bytes) {
    if (shape.size() > ndarray::most_dimensions) {
        return "an array has at most " + std::to_string(ndarray::most_dimensions) + " dimensions, not " +
               std::to_string(shape.size());
    }
    const auto size = size_in_bytes(type, shape);
    if (size == bytes) {
        return {};
    }
    const auto needed = size ? std::to_string(*size) : "more than " + std::to_string(most_bytes);
    return "an array of dtype " + std::string(to_string(type)) + " and shape " + shape_text(shape) +
           " takes " + needed + " bytes, but its data has " + std::to_string(bytes);
}

bool fits_rule(const ndarray::shape_type& shape, const shape_rule& rule) noexcept {
    const auto& extents = rule.extents();
    const auto matches = [](std::size_t extent, std::ptrdiff_t expected) {
        return expected == any_extent || extent == static_cast<std::size_t>(expected);
    };
    return extents.empty() || std::equal(shape.begin(), shape.end(), extents.begin(), extents.end(), matches);
}

bool are_booleans(const blob& bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte each) { return each <= std::byte(1); });
}

bool is_aligned(const blob& bytes, std::size_t alignment) noexcept {
    return reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment == 0;
}

blob aligned_copy(const blob& bytes) {
    const auto units = (bytes.size() + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t);
    auto memory = std::make_shared_for_overwrite<std::max_align_t[]>(units);
    auto* const begin = reinterpret_cast<std::byte*>(memory.get());
    std::copy(bytes.begin(), bytes.end(), begin);
    return {std::move(memory), {begin, bytes.size()}};
}

/// Reads the value of a message. Each function throws error(errc::type_mismatch) with the place.
class array_reader {
public:
    array_reader(const json::value* value, const std::vector<blob>& attachments, std::string_view place,
                 const error_info& info)
        : attachments_(attachments), path_(detail::pointer_of(place)), info_(info), value_(value) {
        if (value_ == nullptr) {
            refuse("missing");
        }
    }

    blob attachment() const {
        const auto* const members = value_->if_object();
        const auto* const data = members != nullptr ? array_data(*members) : nullptr;
        return referred(data != nullptr ? *data : *value_);
    }

    ndarray array() const {
        const auto* const members = value_->if_object();
        const auto* const data = members != nullptr ? array_data(*members) : nullptr;
        if (data == nullptr) {
            refuse(R"(must be an array, an object with "$array", "dtype" and "shape")" + kind_text(*value_));
        }
        auto bytes = referred(*data);
        const auto type = to_type(members->at(dtype_key));
        auto shape = to_shape(members->at(shape_key));
        if (auto problem = find_array_problem(type, shape, bytes.size())) {
            refuse(std::move(*problem));
        }
        return {type, std::move(shape), std::move(bytes)};
    }

private:
    /// Returns the member with the reference to the elements; null if the object has another form.
    static const json::value* array_data(const json::object& members) noexcept {
        const bool has_form =
            members.size() == array_members && members.contains(dtype_key) && members.contains(shape_key);
        return has_form ? members.if_contains(array_key) : nullptr;
    }

    static std::string kind_text(const json::value& value) {
        const std::string_view kind = to_string(value.kind());
        return std::string(" (it is of kind ").append(kind).append(")");
    }

    [[noreturn]] void refuse(std::string problem) const {
        detail::throw_misfit({path_, std::move(problem)}, info_);
    }

    const blob& referred(const json::value& reference) const {
        const auto* const members = reference.if_object();
        const auto* const index =
            members != nullptr && members->size() == 1 ? members->if_contains(attachment_key) : nullptr;
        boost::system::error_code ec;
        const auto number = index != nullptr ? index->to_number<std::uint64_t>(ec) : 0;
        if (index == nullptr || ec) {
            refuse(R"(must be a reference such as {"$attachment": 0})" + kind_text(reference));
        }
        if (number >= attachments_.size()) {
            refuse("refers to attachment " + std::to_string(number) + ", but the message has " +
                   std::to_string(attachments_.size()));
        }
        return attachments_[number];
    }

    dtype to_type(const json::value& name) const {
        const auto type = name.is_string() ? to_dtype(name.get_string()) : std::nullopt;
        if (!type) {
            refuse("its dtype must be one of |b1, |i1, <i2, <i4, <i8, |u1, <u2, <u4, <u8, <f2, <f4, <f8, "
                   "<c8, <c16");
        }
        return *type;
    }

    ndarray::shape_type to_shape(const json::value& extents) const {
        const auto* const list = extents.if_array();
        if (list == nullptr || list->size() > ndarray::most_dimensions) {
            refuse("its shape must be a list of at most " + std::to_string(ndarray::most_dimensions) +
                   " extents");
        }
        ndarray::shape_type shape;
        for (const auto& extent : *list) {
            boost::system::error_code ec;
            shape.push_back(extent.to_number<std::size_t>(ec));
            if (ec || extent.is_double()) {
                refuse("each extent of its shape must be an integer, 0 or more");
            }
        }
        return shape;
    }

    const std::vector<blob>& attachments_;
    std::string path_;
    const error_info& info_;
    const json::value* value_;
};

const json::value* find_place(const json::value& value, std::string_view place) {
    boost::system::error_code ec;
    return value.find_pointer(detail::pointer_of(place), ec);
}

/// Removes the escapes of a key in a JSON pointer.
std::string unescaped_key(std::string_view token) {
    std::string key;
    for (std::size_t i = 0; i < token.size(); ++i) {
        const bool is_escape = token[i] == '~' && i + 1 < token.size();
        key += !is_escape ? token[i] : token[++i] == '1' ? '/' : '~';
    }
    return key;
}

const json::value* find_place(const json::object& object, std::string_view place) {
    const auto pointer = detail::pointer_of(place);
    if (pointer.empty()) {
        return nullptr;
    }
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    const auto* const member =
        object.if_contains(unescaped_key(std::string_view(pointer).substr(1, end - 1)));
    boost::system::error_code ec;
    return member != nullptr ? member->find_pointer(pointer.substr(end), ec) : nullptr;
}

} // namespace

std::string_view to_string(dtype type) noexcept {
    return facts_of(type).name;
}

std::size_t item_size(dtype type) noexcept {
    return facts_of(type).item_size;
}

std::optional<dtype> to_dtype(std::string_view name) noexcept {
    const auto found = std::find_if(all_dtypes.begin(), all_dtypes.end(),
                                    [&](const dtype_facts& each) { return each.name == name; });
    return found != all_dtypes.end() ? std::optional(static_cast<dtype>(found - all_dtypes.begin()))
                                     : std::nullopt;
}

ndarray::ndarray(dtype type, shape_type shape, blob bytes)
    : type_(type), shape_(std::move(shape)), bytes_(std::move(bytes)) {
    if (const auto problem = find_array_problem(type_, shape_, bytes_.size())) {
        throw std::invalid_argument(*problem);
    }
}

json::value attach_to(std::vector<blob>& attachments, const ndarray& array) {
    json::object reference;
    reference.emplace(attachment_key, attachments.size());
    json::array extents(array.shape().begin(), array.shape().end());
    json::object value;
    value.emplace(array_key, std::move(reference));
    value.emplace(dtype_key, to_string(array.type()));
    value.emplace(shape_key, std::move(extents));
    attachments.push_back(array.bytes());
    return value;
}

blob attachment_at(const json::value& value, const std::vector<blob>& attachments, std::string_view place,
                   const error_info& info) {
    return array_reader(find_place(value, place), attachments, place, info).attachment();
}

blob attachment_at(const json::object& value, const std::vector<blob>& attachments, std::string_view place,
                   const error_info& info) {
    return array_reader(find_place(value, place), attachments, place, info).attachment();
}

ndarray array_at(const json::value& value, const std::vector<blob>& attachments, std::string_view place,
                 const error_info& info) {
    return array_reader(find_place(value, place), attachments, place, info).array();
}

ndarray array_at(const json::object& value, const std::vector<blob>& attachments, std::string_view place,
                 const error_info& info) {
    return array_reader(find_place(value, place), attachments, place, info).array();
}

namespace detail {

std::string pointer_of(std::string_view place) {
    return place.empty() || place.front() == '/' ? std::string(place) : under(place, {}).path;
}

blob elements_of(const ndarray& array, dtype type, const shape_rule& rule, std::string_view path,
                 const error_info& info) {
    const auto refuse = [&](std::string problem) {
        throw_misfit({std::string(path), std::move(problem)}, info);
    };
    if (array.type() != type) {
        refuse("the array has dtype " + std::string(to_string(array.type())) + ", expected " +
               std::string(to_string(type)));
    }
    if (!fits_rule(array.shape(), rule)) {
        refuse("the array has shape " + shape_text(array.shape()) + ", expected " +
               shape_text(rule.extents()));
    }
    if (type == dtype::boolean && !are_booleans(array.bytes())) {
        refuse("a boolean of the array is neither 0 nor 1");
    }
    const auto alignment = std::min(item_size(type), alignof(std::max_align_t));
    return is_aligned(array.bytes(), alignment) ? array.bytes() : aligned_copy(array.bytes());
}

} // namespace detail

} // namespace skep
