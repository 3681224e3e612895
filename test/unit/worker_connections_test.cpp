// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Descriptors that a worker sends over its connections.

#include "process/descriptor_passing.hpp"
#include "process/worker_connections.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <sys/socket.h>

using namespace skep;

BOOST_AUTO_TEST_SUITE(worker_connections_test)

namespace {

/// True if this kernel refuses descriptors for a socket that wants none (since Linux 6.16).
bool refusal_exists() {
    const auto sockets = make_packet_pair(launcher());
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(sockets.here.get(), SOL_SOCKET, 83, &value, &size) == 0; // SO_PASSRIGHTS
}

/// The errno of sending a descriptor, or 0.
int error_of_passing(const unique_fd& end) {
    const std::array passed{end.get()};
    return send_descriptors(end.get(), "x", passed) < 0 ? errno : 0;
}

} // namespace

BOOST_AUTO_TEST_CASE(a_worker_cannot_pass_descriptors_where_none_are_read) {
    const int expected = refusal_exists() ? EPERM : 0;
    const worker_connections sockets(launcher(), transport::socket, true);
    BOOST_TEST(error_of_passing(sockets.data.there) == expected);
    BOOST_TEST(error_of_passing(sockets.control.there) == expected);
    const worker_connections stdio(launcher(), transport::stdio, false);
    BOOST_TEST(error_of_passing(stdio.data.there) == expected);
}

BOOST_AUTO_TEST_CASE(descriptors_pass_over_the_line_of_shared_memory) {
    const worker_connections sockets(launcher(), transport::socket, true);
    BOOST_TEST(error_of_passing(sockets.regions.there) == 0);
    BOOST_TEST(error_of_passing(sockets.regions.here) == 0);
    BOOST_TEST(error_of_passing(sockets.data.here) == 0); // the worker's own affair
}

BOOST_AUTO_TEST_SUITE_END()
