// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// The terminal, or whatever stands for it: lines, with a table below them that is redrawn in place if there is
/// somebody to watch it.
class screen {
public:
    screen();

    bool is_terminal() const noexcept { return is_terminal_; }

    void line(const std::string& text);
    void table(std::vector<std::string> rows);

    /// Takes the table away.
    void end_table() { table({}); }

private:
    /// What removes the table: the cursor is then where it began.
    std::string erased() const;
    std::string drawn() const;

    bool is_terminal_;
    std::vector<std::string> rows_;
};
