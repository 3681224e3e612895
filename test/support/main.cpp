// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Alone in its file, without the precompiled header: the macro must come before the first include of Boost.Test.
#define BOOST_TEST_MODULE skep
#include <boost/test/unit_test.hpp>
