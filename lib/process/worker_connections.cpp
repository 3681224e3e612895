// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/worker_connections.hpp"

#include "process/descriptor_passing.hpp"

namespace skep {

worker_connections::worker_connections(const launcher& launch, transport transport_kind, bool shares_memory)
    : kind(transport_kind), data(make_socket_pair(launch)), errors(make_pipe_to_here(launch)) {
    if (kind == transport::socket) {
        control = make_socket_pair(launch);
        output = make_pipe_to_here(launch);
        refuse_descriptors(control.here.get());
    }
    refuse_descriptors(data.here.get());
    if (shares_memory) {
        regions = make_packet_pair(launch);
    }
}

child_descriptors worker_connections::for_child() const noexcept {
    if (kind == transport::stdio) {
        return worker_descriptors(data.there.get(), data.there.get(), errors.there.get(), -1, -1, -1);
    }
    return worker_descriptors(-1, output.there.get(), errors.there.get(), data.there.get(),
                              control.there.get(), regions.there.get());
}

void worker_connections::close_far_ends() noexcept {
    for (auto* each : {&data, &control, &output, &errors, &regions}) {
        each->there.reset();
    }
}

} // namespace skep
