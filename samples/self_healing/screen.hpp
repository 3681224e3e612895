// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

/// Standard output: lines, and below them a table, redrawn in place, if it is a terminal.
class screen {
public:
    screen();

    bool is_terminal() const noexcept { return is_terminal_; }

    void line(const std::string& text);
    void table(std::vector<std::string> rows);

    /// Removes the table.
    void end_table() { table({}); }

private:
    /// Returns the text that removes the table and moves the cursor to its begin.
    std::string erased() const;
    std::string drawn() const;

    bool is_terminal_;
    std::vector<std::string> rows_;
};
