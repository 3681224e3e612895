// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <skep/time.hpp>

#include <algorithm>
#include <cstddef>

namespace skep {

/// A token bucket: `per_second` on average, up to one second's worth in a burst. 0 admits nothing.
class rate_limit {
public:
    rate_limit(std::size_t per_second, time_point now) noexcept
        : rate_(static_cast<double>(per_second)), tokens_(rate_), last_(now) {}

    bool admit(time_point now) noexcept {
        const std::chrono::duration<double> passed = now - last_;
        last_ = now;
        tokens_ = std::min(rate_, tokens_ + passed.count() * rate_);
        if (tokens_ < 1.0) {
            return false;
        }
        tokens_ -= 1.0;
        return true;
    }

private:
    double rate_;
    double tokens_;
    time_point last_;
};

} // namespace skep
