// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Does not compile: the struct is not described. The error has to say so.

#include <skep/reply.hpp>

#include <vector>

struct label {
    double score = 0;
};

std::vector<label> labels_in(const skep::reply& answer) {
    return answer.as<std::vector<label>>();
}
