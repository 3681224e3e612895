// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/config_file.hpp"

#include "core/config_problems.hpp"
#include "core/json_document.hpp"
#include "core/variable_references.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <ios>
#include <iterator>
#include <system_error>

namespace skep {

namespace {

std::string read_text(const std::filesystem::path& path, config_problems& problems) {
    const auto reject = [&](const std::error_code& cause) {
        problems.add(path.string(), "", "cannot be read: " + cause.message());
    };
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        reject({errno, std::generic_category()});
        return {};
    }
    try {
        return {std::istreambuf_iterator<char>(file), {}};
    } catch (const std::ios_base::failure& failure) { // such as a directory
        reject(failure.code());
        return {};
    }
}

} // namespace

config_file read_config_file(const std::filesystem::path& path) {
    config_problems unreadable;
    const auto text = read_text(path, unreadable);
    unreadable.raise();
    config_file file{{path.string(), std::filesystem::absolute(path).parent_path()}, {}};
    config_problems problems;
    file.document = parse_document(text, problems);
    problems.raise(file.origin.name);
    replace_references(
        file.document, [](const std::string& name) { return std::getenv(name.c_str()); }, problems);
    problems.raise(file.origin.name);
    return file;
}

} // namespace skep
