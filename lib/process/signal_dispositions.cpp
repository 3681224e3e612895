// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/signal_dispositions.hpp"

namespace skep {

signal_dispositions::signal_dispositions() noexcept {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        ::sigaction(numbers[i], nullptr, &before_[i]);
    }
}

void signal_dispositions::restore() const noexcept {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        ::sigaction(numbers[i], &before_[i], nullptr);
    }
}

} // namespace skep
