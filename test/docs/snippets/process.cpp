// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/process/README.md quotes.

#include <skep/skep.hpp>

namespace process_guide {

skep::pool_config on_another_machine() {
    auto config = skep::pool_config::python("/srv/model/worker.py");
    config.launch.transport = skep::transport::stdio;
    config.launch.prefix = {"ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", "otherhost"};
    config.launch.remote_shell = true; // ssh hands its words to a shell over there: they are quoted for it
    return config;
}

skep::pool_config from_a_template() {
    auto config = skep::pool_config::python("/srv/model/worker.py");
    config.launch.preload = true;
    return config;
}

} // namespace process_guide
