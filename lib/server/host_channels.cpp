// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/host_channels.hpp"

#include "process/socket_stream.hpp"

#include <utility>

namespace skep {

host_channels::host_channels(host_connection connection)
    : connection_(std::move(connection)),
      over_stdio_(connection_.over_stdio()),
      data_out_(std::move(connection_.data_out)) {}

std::unique_ptr<listener> host_channels::listen(const strand& executor, const call_counters& counters,
                                                call_services& services,
                                                listener::message_handler on_messages) {
    const int data = connection_.data_in.get();
    if (over_stdio_) {
        return std::make_unique<listener>(data, -1, data_out_, counters, services, std::move(on_messages));
    }
    data_in_ = make_socket_stream(executor, connection_.data_in);
    auto& control_out = control_out_.emplace(unique_fd(connection_.control.get()));
    if (has_regions()) {
        shared_line_.emplace(std::move(connection_.regions), control_out);
    }
    return std::make_unique<listener>(connection_.control.release(), data, control_out, counters, services,
                                      std::move(on_messages));
}

void host_channels::share(const shared_limits& limits) {
    if (shared_line_) {
        answers_.emplace(limits, *shared_line_, *control_out_);
    }
}

} // namespace skep
