// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The program `skep`, for tasks with pools in a shell.

#include "command/check.hpp"

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
    if (argc != 3 || std::string_view(argv[1]) != "check") {
        std::cerr << "usage: skep check CONFIG\n"
                     "Checks a JSON configuration of one pool or several, and that a worker of each comes up "
                     "and is well.\n";
        return 2;
    }
    return skep::check_configuration(argv[2], std::cout) ? 0 : 1;
}
