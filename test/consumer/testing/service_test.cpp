// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "../../../samples/unit_tests/main.cpp"
