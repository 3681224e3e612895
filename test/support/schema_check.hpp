// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <boost/test/unit_test.hpp>

namespace skep::test {

/// Checks that the schema has each key of `document`, with the value there as the default.
inline void check_schema(const boost::json::object& document, const boost::json::object& schema) {
    BOOST_TEST((schema.at("type") == boost::json::value("object")));
    BOOST_TEST(!schema.at("additionalProperties").as_bool());
    for (const auto& [key, value] : document) {
        BOOST_TEST_REQUIRE(schema.at("properties").as_object().contains(key), key);
        const auto& member = schema.at("properties").at(key).as_object();
        if (value.is_object() && member.contains("properties")) {
            check_schema(value.get_object(), member);
        } else {
            BOOST_TEST(member.at("default") == value, key);
        }
    }
}

} // namespace skep::test
