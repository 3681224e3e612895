// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace skep::test {

/// Sets a variable of this process, or removes it, for as long as it lives.
class variable {
public:
    variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) {
            before_ = old;
        }
        set(value);
    }
    ~variable() { set(before_ ? before_->c_str() : nullptr); }
    variable(const variable&) = delete;
    variable& operator=(const variable&) = delete;

private:
    void set(const char* value) const {
        if (value != nullptr) {
            ::setenv(name_, value, 1);
        } else {
            ::unsetenv(name_);
        }
    }

    const char* name_;
    std::optional<std::string> before_;
};

} // namespace skep::test
