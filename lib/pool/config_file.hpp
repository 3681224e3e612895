// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/json/value.hpp>

#include <filesystem>
#include <string>

namespace skep {

/// The origin of a configuration. Default-constructed for a document that the caller has parsed.
struct config_origin {
    std::string name;             ///< names the file in errors
    std::filesystem::path folder; ///< relative paths count from here
};

/// A configuration read from a file: JSON with its references to the environment replaced.
struct config_file {
    config_origin origin;
    boost::json::value document;
};

/// Throws error(errc::invalid_config), with the name of the file, if the file cannot be read or is no JSON,
/// or if a reference is bad.
config_file read_config_file(const std::filesystem::path& path);

} // namespace skep
