// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Any JSON is a value of the type that a caller asks for, or a type_mismatch. So is any array in it.

#include "check.hpp"
#include <skep/tensor_view.hpp>
#include <skep/value_as.hpp>

#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_from.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace skep::fuzz {

namespace {

namespace json = boost::json;

struct label {
    std::string name;
    double score = 0;
    bool known = false;

    bool operator==(const label&) const = default;
};
BOOST_DESCRIBE_STRUCT(label, (), (name, score, known))

struct everything {
    std::vector<label> labels;
    std::map<std::string, std::vector<std::uint8_t>> counts;
    std::tuple<int, std::string> pair;

    bool operator==(const everything&) const = default;
};
BOOST_DESCRIBE_STRUCT(everything, (), (labels, counts, pair))

template <class T>
void check(const json::value& value) {
    try {
        const auto converted = value_as<T>(value);
        require(value_as<T>(json::value_from(converted)) == converted, "a type fits itself");
    } catch (const error& misfit) {
        require(misfit.kind() == errc::type_mismatch, "it is refused as a mismatch");
        require(!misfit.info().detail.empty(), "it is said what does not fit");
    }
}

void check_array(const json::value& value, std::string_view place) {
    static const std::vector<blob> attachments{blob(std::vector<std::byte>(24)), blob()};
    try {
        const auto array = array_at(value, attachments, place);
        require(array.size() * item_size(array.type()) == array.bytes().size(), "the shape fits the bytes");
        std::vector<blob> sent;
        const auto copy = attach_to(sent, array);
        require(array_at(copy, sent, "").shape() == array.shape(), "an array fits itself");
    } catch (const error& misfit) {
        require(misfit.kind() == errc::type_mismatch, "it is refused as a mismatch");
        require(!misfit.info().detail.empty(), "it is said what does not fit");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    boost::system::error_code ec;
    const auto value = json::parse(std::string_view(reinterpret_cast<const char*>(data), size), ec);
    const auto same = value;
    if (ec ||
        value !=
            same) { // Boost.JSON makes no number of 0e40010, which no message of a worker gets through with
        return -1;
    }
    check<everything>(value);
    check_array(value, "");
    check_array(value, "x");
    check<std::vector<std::map<std::string, label>>>(value);
    check<std::map<std::string, std::tuple<std::int8_t, std::uint64_t, double>>>(value);
    check<std::optional<std::vector<std::string>>>(value);
    return 0;
}

} // namespace skep::fuzz
