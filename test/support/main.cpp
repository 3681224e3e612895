// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Alone in its file, without the precompiled header: the macro must come before the first include of
// Boost.Test.
#define BOOST_TEST_MODULE skep
#include <boost/test/unit_test.hpp>

#include <unistd.h>

namespace {

/// A test program has the three standard descriptors, whatever its caller left open: a test that counts them,
/// or limits them, finds the same everywhere.
struct inherited_descriptors_closed {
    inherited_descriptors_closed() { ::close_range(3, ~0U, 0); }
};

} // namespace

BOOST_TEST_GLOBAL_FIXTURE(inherited_descriptors_closed);
