// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// Collects the problems of a configuration, so that its author can fix all of them at once. A place is the
/// path of a field, such as "queue.limit". A problem makes its place doubtful. Rules between fields and
/// missing fields are not reported for doubtful places, because they would repeat the first problem.
class config_problems {
public:
    /// Adds one line: "queue.limit = -1: must be 0..10000000", or without a value: "launch.args: must be an
    /// array of strings".
    void add(const std::string& place, const std::string& value, const std::string& rule);

    /// Adds a problem at the first of `places`, unless the rule is kept or a place is doubtful.
    void expect(bool is_kept, std::initializer_list<std::string> places, const std::string& value,
                const std::string& rule);

    bool empty() const noexcept { return lines_.empty(); }

    /// Makes a place doubtful. The key in milliseconds, "queue.timeout_ms", names the same place as
    /// "queue.timeout".
    void doubt(std::string_view place);

    /// Adds the problems of a part of the configuration, with their places below `place`.
    void add_below(const std::string& place, const config_problems& part);

    /// Throws error(errc::invalid_config) with all problems, if any. `source` names the document, if not
    /// empty.
    void raise(std::string_view source = {}) const;

private:
    bool is_doubtful(std::string_view place) const;

    std::vector<std::string> lines_;
    std::set<std::string, std::less<>> doubtful_;
};

} // namespace skep
