// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "screen.hpp"

#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace {

/// Returns the current number of columns of the terminal.
std::size_t width() {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return known ? size.ws_col : 80;
}

} // namespace

screen::screen() : is_terminal_(::isatty(STDOUT_FILENO) == 1) {}

void screen::line(const std::string& text) {
    std::cout << erased() + text + '\n' + drawn() << std::flush;
}

void screen::table(std::vector<std::string> rows) {
    if (is_terminal_) {
        const auto before = erased();
        rows_ = std::move(rows);
        std::cout << before + drawn() << std::flush; // one write, to avoid flicker
    }
}

std::string screen::erased() const {
    return rows_.empty() ? "" : "\033[" + std::to_string(rows_.size()) + "A\r\033[J";
}

std::string screen::drawn() const {
    std::string text;
    const auto columns = width();
    for (const auto& row : rows_) {
        text += row.substr(0, columns - 1) + '\n'; // a wrapped row would take two lines
    }
    return text;
}
