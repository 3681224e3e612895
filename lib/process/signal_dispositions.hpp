// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace skep {

/// Saves the program's signal dispositions and restores them on destruction. Asio itself can only restore the
/// default.
class signal_dispositions {
public:
    static constexpr std::array numbers{SIGINT, SIGTERM};

    signal_dispositions() noexcept;
    ~signal_dispositions() { restore(); }
    signal_dispositions(const signal_dispositions&) = delete;
    signal_dispositions& operator=(const signal_dispositions&) = delete;

    void restore() const noexcept;

    /// Returns true if the program was started with numbers[i] ignored, for example by nohup.
    bool ignores(std::size_t i) const noexcept { return before_[i].sa_handler == SIG_IGN; }

private:
    std::array<struct sigaction, numbers.size()> before_{};
};

} // namespace skep
