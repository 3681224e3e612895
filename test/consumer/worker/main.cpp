// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker that is linked with skep::worker alone.

#include "serve.hpp"

int main() {
    return serve();
}
