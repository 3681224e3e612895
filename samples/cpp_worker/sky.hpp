// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The arguments and results that service and worker exchange.

#pragma once

#include <boost/describe/class.hpp>

#include <string>
#include <vector>

namespace sky {

struct sample {
    std::string star;
    std::vector<double> magnitudes;
};
BOOST_DESCRIBE_STRUCT(sample, (), (star, magnitudes))

struct summary {
    std::string star;
    double mean = 0;
    double deviation = 0;
};
BOOST_DESCRIBE_STRUCT(summary, (), (star, mean, deviation))

} // namespace sky
