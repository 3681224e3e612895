// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/call_fields.hpp"
#include <skep/node_options.hpp>
#include <skep/remote_options.hpp>

#include <chrono>

namespace skep {

template <class Options, class Visitor>
void visit_nats_fields(Options& nats, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.strings("servers", nats.servers);
    visit.text("user", nats.user);
    visit.secret("password", nats.password);
    visit.secret("token", nats.token);
    visit.text("nkey_seed_file", nats.nkey_seed_file);
    visit.text("creds_file", nats.creds_file);
    visit.text("ca_file", nats.ca_file);
    visit.text("certificate_file", nats.certificate_file);
    visit.text("key_file", nats.key_file);
    visit.flag("tls_first", nats.tls_first);
    visit.text("inbox", nats.inbox);
    visit.time("connect_timeout", nats.connect_timeout, 10ms, 1min);
    visit.time("ping_interval", nats.ping_interval, 50ms, 10min);
    visit.time("reconnect_wait", nats.reconnect_wait, 1ms, 1min);
    visit.number("send_buffer", nats.send_buffer, 64 << 10, 1 << 30);
}

template <class Options, class Visitor>
void visit_link_fields(Options& link, Visitor& visit) {
    visit.number("window", link.window, 64 << 10, 64 << 20);
    visit.number("all_windows", link.all_windows, 64 << 10, 4LL << 30);
}

/// Visits every field of remote_options but the name.
template <class Options, class Visitor>
void visit_nameless_remote_fields(Options& options, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.group("nats", [&] { visit_nats_fields(options.nats, visit); });
    visit.text("domain", options.domain);
    visit.text("pool", options.pool);
    visit_call_fields(options, visit);
    visit.time("drain_timeout", options.drain_timeout, 0s, 24h);
    visit.group("link", [&] { visit_link_fields(options.link, visit); });
}

/// Visits every field of remote_options: see visit_fields().
template <class Options, class Visitor>
void visit_remote_fields(Options& options, Visitor& visit) {
    visit.text("name", options.name);
    visit_nameless_remote_fields(options, visit);
}

/// Visits every field of node_options: see visit_fields().
template <class Options, class Visitor>
void visit_node_fields(Options& options, Visitor& visit) {
    using namespace std::chrono_literals;
    visit.group("nats", [&] { visit_nats_fields(options.nats, visit); });
    visit.text("domain", options.domain);
    visit.text("name", options.name);
    visit.strings("pools", options.pools);
    visit.time("beacon_interval", options.beacon_interval, 50ms, 1min);
    visit.real("queue_per_place", options.queue_per_place, 0.0, 100.0);
    visit.time("drain_timeout", options.drain_timeout, 0s, 24h);
    visit_log(options, visit);
    visit.number("links", options.links, 1, 1'000'000);
    visit.number("memory", options.memory, 1 << 20, 1LL << 40);
    visit.group("limits", [&] { visit_limits(options.limits, visit); });
    visit.group("link", [&] { visit_link_fields(options.link, visit); });
}

} // namespace skep
