// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/reply.hpp>
#include <skep/request.hpp>
#include <skep/tensor_view.hpp>
#include <skep/tool.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstring>
#include <ranges>
#include <stdexcept>
#include <string>

using namespace skep;
using skep::test::contains;
namespace json = boost::json;

static_assert(dtype_of<bool> == dtype::boolean);
static_assert(dtype_of<std::int8_t> == dtype::int8 && dtype_of<std::int16_t> == dtype::int16);
static_assert(dtype_of<std::int32_t> == dtype::int32 && dtype_of<std::int64_t> == dtype::int64);
static_assert(dtype_of<std::uint8_t> == dtype::uint8 && dtype_of<std::uint16_t> == dtype::uint16);
static_assert(dtype_of<std::uint32_t> == dtype::uint32 && dtype_of<std::uint64_t> == dtype::uint64);
static_assert(dtype_of<unsigned long> == dtype::uint64 && dtype_of<long long> == dtype::int64);
static_assert(dtype_of<float16_bits> == dtype::float16 && dtype_of<std::complex<float>> == dtype::complex64);
static_assert(!array_element<long double> && !array_element<wchar_t> && !array_element<std::byte>);
static_assert(std::ranges::contiguous_range<const tensor_view<float>>);

BOOST_AUTO_TEST_SUITE(tensor_views)

namespace {

const std::vector<float> floats{0, 0.5f, 1, 1.5f, 2, 2.5f};

ndarray grid() {
    return make_ndarray(std::span(floats), {2, 3});
}

std::string refusal(std::invocable auto&& action) {
    try {
        action();
    } catch (const error& misfit) {
        BOOST_TEST((misfit.kind() == errc::type_mismatch));
        return misfit.info().detail;
    } catch (const std::invalid_argument& misfit) {
        return misfit.what();
    }
    return "accepted";
}

/// The array that a value stands for, beside six floats and no bytes at all.
ndarray parsed(std::string_view text) {
    const std::vector<blob> attachments{grid().bytes(), blob()};
    return array_at(json::parse(text), attachments, "");
}

reply reply_with(std::string_view value) {
    reply made;
    made.value = json::parse(value);
    made.attachments = {grid().bytes(), blob::copy_of({})};
    made.worker.pool = "blue";
    return made;
}

} // namespace

BOOST_AUTO_TEST_CASE(types_have_the_names_of_numpy) {
    for (int i = 0; i <= static_cast<int>(dtype::complex128); ++i) {
        const auto type = static_cast<dtype>(i);
        BOOST_TEST((to_dtype(to_string(type)) == type));
        BOOST_TEST(std::to_string(item_size(type)) == to_string(type).substr(2));
    }
    BOOST_TEST(to_string(dtype_of<float>) == "<f4");
    BOOST_TEST(to_string(dtype_of<std::complex<double>>) == "<c16");
    BOOST_TEST(!to_dtype(">f4").has_value());
    BOOST_TEST(!to_dtype("").has_value());
}

BOOST_AUTO_TEST_CASE(elements_are_read_in_place) {
    const auto array = grid();
    const tensor_view<float> view(array);
    BOOST_TEST(static_cast<const void*>(view.data()) == static_cast<const void*>(array.bytes().data()));
    BOOST_TEST(view.as_span() == std::span(floats), boost::test_tools::per_element());
    BOOST_TEST(view.size() == 6u);
    BOOST_TEST(array.size() == 6u);
    BOOST_TEST(view.shape() == (ndarray::shape_type{2, 3}), boost::test_tools::per_element());
    BOOST_TEST(view(0, 0) == 0);
    BOOST_TEST(view(1, 0) == 1.5f);
    BOOST_TEST(view(1, 2) == 2.5f);
}

BOOST_AUTO_TEST_CASE(a_view_keeps_the_elements) {
    auto array = std::make_unique<ndarray>(make_ndarray(std::vector<int>{1, 2}));
    const tensor_view<int> view(*array);
    array.reset();
    BOOST_TEST(view(1) == 2);
}

BOOST_AUTO_TEST_CASE(elements_that_are_moved_in_are_not_copied) {
    std::vector<double> elements(8, 1.5);
    const void* const place = elements.data();
    const auto array = make_ndarray(std::move(elements), {2, 2, 2});
    BOOST_TEST(static_cast<const void*>(array.bytes().data()) == place);
}

BOOST_AUTO_TEST_CASE(scalars_and_empty_arrays) {
    const std::array<std::int16_t, 1> one{7};
    const tensor_view<std::int16_t> scalar(make_ndarray(std::span<const std::int16_t>(one), {}));
    BOOST_TEST(scalar() == 7);
    BOOST_TEST(scalar.shape().empty());
    const tensor_view<float> none(make_ndarray(std::vector<float>(), {3, 0, 4}));
    BOOST_TEST(none.empty());
    BOOST_TEST((none.begin() == none.end()));
}

BOOST_AUTO_TEST_CASE(unaligned_elements_are_copied) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(9);
    const double number = 2.5;
    std::memcpy(bytes->data() + 1, &number, sizeof(number));
    const ndarray array(dtype::float64, {1}, blob(bytes, std::span(*bytes).subspan(1)));
    const tensor_view<double> view(array);
    BOOST_TEST(view(0) == 2.5);
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(view.data()) % alignof(double) == 0u);
}

BOOST_AUTO_TEST_CASE(an_array_has_as_many_bytes_as_its_shape_takes) {
    const auto refused = [](ndarray::shape_type shape, std::size_t size) {
        return refusal(
            [&] { ndarray(dtype::float32, std::move(shape), blob(std::vector<std::byte>(size))); });
    };
    BOOST_TEST(refused({2, 3}, 24) == "accepted");
    BOOST_TEST(refused({2, 3}, 23) ==
               "an array of dtype <f4 and shape [2, 3] takes 24 bytes, but its data has 23");
    BOOST_TEST(contains(refused({1u << 31, 1u << 31, 2}, 0), "takes more than 9223372036854775807 bytes"));
    BOOST_TEST(contains(refused({1u << 31, 1u << 31, 0}, 0), "takes more than 9223372036854775807 bytes"));
    BOOST_TEST(contains(refused({~std::size_t(0)}, 0), "takes more than"));
    BOOST_TEST(refused(ndarray::shape_type(32, 1), 4) == "accepted");
    BOOST_TEST(refused(ndarray::shape_type(33, 1), 4) == "an array has at most 32 dimensions, not 33");
}

BOOST_AUTO_TEST_CASE(type_and_shape_are_checked) {
    const auto array = grid();
    BOOST_TEST(refusal([&] { tensor_view<double>(array, {}, "/x"); }) ==
               "at /x: the array has dtype <f4, expected <f8");
    BOOST_TEST(refusal([&] {
                   tensor_view<float>(array, {any_extent, 4}, "/x");
               }) == "at /x: the array has shape [2, 3], expected [any, 4]");
    BOOST_TEST(refusal([&] { tensor_view<float>(array, {6}); }) ==
               "the array has shape [2, 3], expected [6]");
    BOOST_TEST(tensor_view<float>(array, {any_extent, 3}).size() == 6u);
    const ndarray odd(dtype::boolean, {2}, blob(std::vector{std::byte(1), std::byte(2)}));
    BOOST_TEST(refusal([&] { tensor_view<bool>{odd}; }) == "a boolean of the array is neither 0 nor 1");
    const ndarray flags(dtype::boolean, {2}, blob(std::vector{std::byte(1), std::byte(0)}));
    BOOST_TEST(tensor_view<bool>(flags)(0));
}

BOOST_AUTO_TEST_CASE(an_array_is_an_object_with_a_reference) {
    std::vector<blob> attachments{blob()};
    const auto value = attach_to(attachments, grid());
    BOOST_TEST(json::serialize(value) == R"({"$array":{"$attachment":1},"dtype":"<f4","shape":[2,3]})");
    BOOST_TEST(attachments.size() == 2u);
    const auto array = array_at(value, attachments, "");
    BOOST_TEST((array.bytes() == grid().bytes()));
    BOOST_TEST(parsed(R"({"$array":{"$attachment":1},"dtype":"<i8","shape":[0]})").size() == 0u);
}

BOOST_AUTO_TEST_CASE(malformed_arrays_are_named) {
    const auto refused = [](std::string_view text) { return refusal([&] { parsed(text); }); };
    const std::string form = R"(must be an array, an object with "$array", "dtype" and "shape")";
    BOOST_TEST(refused("7") == form + " (it is of kind int64)");
    BOOST_TEST(refused(R"({"$attachment":0})") == form + " (it is of kind object)");
    BOOST_TEST(contains(refused(R"({"$array":{"$attachment":0},"dtype":"<f4","shape":[6],"x":1})"), form));
    BOOST_TEST(refused(R"({"$array":{"$attachment":2},"dtype":"<f4","shape":[6]})") ==
               "refers to attachment 2, but the message has 2");
    for (const auto* const index : {"-1", "0.5", "\"0\"", "null", "1e30"}) {
        const auto text =
            R"({"$array":{"$attachment":)" + std::string(index) + R"(},"dtype":"<f4","shape":[6]})";
        BOOST_TEST(contains(refused(text), R"(must be a reference such as {"$attachment": 0})"), index);
    }
    for (const auto* const type : {"\">f4\"", "7", "\"\""}) {
        const auto text = R"({"$array":{"$attachment":0},"shape":[6],"dtype":)" + std::string(type) + "}";
        BOOST_TEST(contains(refused(text), "its dtype must be one of |b1"), type);
    }
    const auto with_shape = [&](const std::string& shape) {
        return refused(R"({"$array":{"$attachment":0},"dtype":"<f4","shape":)" + shape + "}");
    };
    BOOST_TEST(with_shape("6") == "its shape must be a list of at most 32 extents");
    for (const auto* const extent : {"-1", "6.0", "\"6\"", "1e30"}) {
        BOOST_TEST(with_shape("[" + std::string(extent) + "]") ==
                   "each extent of its shape must be an integer, 0 or more");
    }
    BOOST_TEST(contains(with_shape("[5]"), "takes 20 bytes, but its data has 24"));
    BOOST_TEST(contains(with_shape("[18446744073709551615, 6]"), "takes more than"));
}

BOOST_AUTO_TEST_CASE(a_place_is_a_key_or_a_pointer) {
    const auto answer = reply_with(R"({"a/b":{"$attachment":0},
        "list":[{"$array":{"$attachment":0},"dtype":"<f4","shape":[2,3]}], "n":1})");
    BOOST_TEST(answer.attachment("a/b").size() == 24u);
    BOOST_TEST(answer.attachment("/a~1b").size() == 24u);
    BOOST_TEST(answer.attachment("/list/0").size() == 24u); // the bytes of an array
    BOOST_TEST(answer.array("/list/0").size() == 6u);
    BOOST_TEST(answer.tensor<float>("/list/0", {2, any_extent})(1, 2) == 2.5f);
    BOOST_TEST(refusal([&] { answer.attachment("none"); }) == "at /none: missing");
    BOOST_TEST(refusal([&] { answer.attachment("/list/9"); }) == "at /list/9: missing");
    BOOST_TEST(contains(refusal([&] { answer.attachment("n"); }), "at /n: must be a reference"));
    BOOST_TEST(contains(refusal([&] { answer.array("a/b"); }), "at /a~1b: must be an array"));
    try {
        answer.tensor<int>("/list/0");
        BOOST_ERROR("accepted");
    } catch (const error& misfit) {
        BOOST_TEST(misfit.info().detail == "at /list/0: the array has dtype <f4, expected <i4");
        BOOST_TEST(misfit.info().worker.value().pool == "blue");
    }
}

BOOST_AUTO_TEST_CASE(arguments_of_a_tool_by_place) {
    tool_call asked;
    const auto array = attach_to(asked.attachments, grid());
    asked.args = {{"x", array}, {"~/", json::array{array}}};
    BOOST_TEST(asked.tensor<float>("x").size() == 6u);
    BOOST_TEST(asked.tensor<float>("/x").size() == 6u);
    BOOST_TEST(asked.tensor<float>("/~0~1/0").size() == 6u);
    BOOST_TEST(refusal([&] { asked.array(""); }) == "missing");
    BOOST_TEST(refusal([&] { asked.array("/y/0"); }) == "at /y/0: missing");
}

BOOST_AUTO_TEST_CASE(a_tool_answers_with_an_array) {
    const tool_reply answer(grid());
    BOOST_TEST(answer.attachments.size() == 1u);
    BOOST_TEST(array_at(answer.value, answer.attachments, "").size() == 6u);
}

BOOST_AUTO_TEST_CASE(a_request_knows_its_arrays) {
    auto call =
        request("f").attach("raw").arg("x", grid()).arg("xs", std::vector{grid(), grid()}).arg("n", 1);
    BOOST_TEST(call.arrays() == (std::vector<std::string>{"x", "xs"}), boost::test_tools::per_element());
    BOOST_TEST(call.attachments().size() == 4u);
    BOOST_TEST(array_at(call.args(), call.attachments(), "/xs/1").size() == 6u);
    call.arg("x", 1); // data of any form, from now on
    BOOST_TEST(call.arrays() == (std::vector<std::string>{"xs"}), boost::test_tools::per_element());
    call.arg("xs", grid()).arg("xs", grid());
    BOOST_TEST(call.arrays() == (std::vector<std::string>{"xs"}), boost::test_tools::per_element());
    std::vector<std::size_t> sizes; // replaced arrays leave empty attachments
    for (const auto& each : call.attachments()) {
        sizes.push_back(each.size());
    }
    const auto size = grid().bytes().size();
    BOOST_TEST(sizes == (std::vector<std::size_t>{3, 0, 0, 0, 0, size}), boost::test_tools::per_element());
    call.args(json::object());
    BOOST_TEST(call.attachments().back().empty());
    BOOST_TEST(call.arrays().empty());
    BOOST_TEST(request("f").arrays().empty());
}

BOOST_AUTO_TEST_SUITE_END()
