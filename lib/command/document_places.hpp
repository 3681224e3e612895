// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Access to documents of an admin port. Another service may have answered: their form is uncertain.

#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include <string_view>

namespace skep {

/// Returns the value at a JSON pointer; null if there is none.
inline const boost::json::value* find_at(const boost::json::value& document, std::string_view pointer) {
    boost::system::error_code ec;
    return document.find_pointer({pointer.data(), pointer.size()}, ec);
}

/// Returns the array at a JSON pointer; an empty one if the document has another form there.
inline boost::json::array array_at(const boost::json::value& document, std::string_view pointer) {
    const auto* const found = find_at(document, pointer);
    return found != nullptr && found->is_array() ? found->get_array() : boost::json::array();
}

} // namespace skep
