// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_connector.hpp"

#include "core/config_problems.hpp"
#include "remote/nats_bus.hpp"

#include <memory>
#include <nats/nats.h>

namespace skep {

bus_factory connect_by_nats(const nats_options& options) {
    config_problems problems;
    problems.expect(!options.tls_first || NATS_VERSION_NUMBER >= 0x030900, {"nats.tls_first"}, "true",
                    "needs cnats 3.9 or later; this program is built with " NATS_VERSION_STRING);
    problems.raise();
    return [options](const strand& executor, bus_user& user) {
        return std::make_unique<nats_bus>(executor, user, options);
    };
}

} // namespace skep
