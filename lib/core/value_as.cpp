// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/value_as.hpp>

namespace skep::detail {

namespace {

/// Escapes a key as in RFC 6901.
std::string escaped(std::string_view key) {
    std::string text;
    for (const char c : key) {
        switch (c) {
        case '~': text += "~0"; break;
        case '/': text += "~1"; break;
        default: text += c;
        }
    }
    return text;
}

} // namespace

misfit under(std::string_view key, misfit inner) {
    inner.path = '/' + escaped(key) + inner.path;
    return inner;
}

misfit misfit_of(const boost::json::value& value, const std::exception& problem) {
    const auto* const failure = dynamic_cast<const boost::system::system_error*>(&problem);
    std::string text = failure != nullptr ? failure->code().message() : problem.what();
    const std::string_view kind = to_string(value.kind());
    return {{}, text.append(" (it is of kind ").append(kind).append(")")};
}

void throw_misfit(const misfit& mismatch, error_info info) {
    info.detail = (mismatch.path.empty() ? "" : "at " + mismatch.path + ": ") + mismatch.problem;
    throw error(errc::type_mismatch, std::move(info));
}

} // namespace skep::detail
