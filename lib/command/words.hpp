// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Words of a command line, without the program and its action.

#pragma once

#include <skep/time.hpp>

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// An option of an action, such as "--json" or "-C".
struct option_rule {
    std::string_view name;
    bool has_value = false;
};

/// The words of an action.
struct parsed_words {
    std::vector<std::string> operands;
    std::map<std::string, std::string, std::less<>> options; ///< by name; a flag has an empty value

    bool has(std::string_view option) const { return options.contains(option); }
};

/// Separates operands from options. A value follows its option as the next word, or after "=". The word "--"
/// ends the options.
/// Throws usage_error: an unknown or repeated option, a missing or superfluous value.
parsed_words parse_words(const std::vector<std::string>& words, std::initializer_list<option_rule> rules);

/// Returns the value of an option; `otherwise` without the option.
/// Throws usage_error: the value is no duration, or is below 1 ms.
duration duration_in(const parsed_words& parsed, std::string_view option, duration otherwise);

} // namespace skep
