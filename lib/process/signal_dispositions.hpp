// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <array>
#include <csignal>
#include <cstddef>

namespace skep {

/// What the program does at signals of its own accord; put back in the end, as Asio only knows the default.
class signal_dispositions {
public:
    static constexpr std::array numbers{SIGINT, SIGTERM};

    signal_dispositions() noexcept;
    ~signal_dispositions() { restore(); }
    signal_dispositions(const signal_dispositions&) = delete;
    signal_dispositions& operator=(const signal_dispositions&) = delete;

    void restore() const noexcept;

    /// Whoever started the program wants it to take no notice of numbers[i], as nohup does.
    bool ignores(std::size_t i) const noexcept { return before_[i].sa_handler == SIG_IGN; }

private:
    std::array<struct sigaction, numbers.size()> before_{};
};

} // namespace skep
