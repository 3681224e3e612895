// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// What is wrong with a configuration, collected, so that its author mends all of it at once. A place is the path of a
/// field, such as "queue.limit". What is known to be wrong there makes it doubtful: a rule between fields, or that a
/// field is missing, is not held against doubtful ones, as it would only repeat what is said already.
class config_problems {
public:
    /// One line: "queue.limit = -1: must be 0..10000000". Without a value: "launch.args: must be an array of strings".
    void add(const std::string& place, const std::string& value, const std::string& rule);

    /// Adds a problem at the first of `places` unless the rule is kept, or one of them is doubtful.
    void expect(bool is_kept, std::initializer_list<std::string> places, const std::string& value,
                const std::string& rule);

    /// The same place by its key in milliseconds, "queue.timeout_ms", is "queue.timeout".
    void doubt(std::string_view place);

    /// Adds those of a part of the configuration.
    void add_below(const std::string& place, const config_problems& part);

    /// Throws error(errc::invalid_config) that lists all problems, if there are any.
    void raise() const;

private:
    bool is_doubtful(std::string_view place) const;

    std::vector<std::string> lines_;
    std::set<std::string, std::less<>> doubtful_;
};

} // namespace skep
