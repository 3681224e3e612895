// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/asio/io_context.hpp>

namespace skep {

namespace asio = boost::asio;

/// A context that can be shut down before its destruction.
class ending_context : public asio::io_context {
public:
    using execution_context::shutdown;
    using io_context::io_context;
};

} // namespace skep
