// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/exact_ms.hpp"
#include "core/link_counters_json.hpp"
#include <skep/node_status.hpp>

#include <boost/json/array.hpp>

#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

json::object to_json(const load_view& load) {
    return {{"in_flight", load.in_flight},
            {"queued", load.queued},
            {"places", load.places},
            {"can_serve", load.can_serve}};
}

json::object to_json(const client_view& client) {
    json::object result{{"name", client.name},
                        {"pool", client.pool},
                        {"calls", client.calls},
                        {"bytes", client.bytes},
                        {"uptime_ms", exact_ms(client.uptime)}};
    if (client.round_trip > duration::zero()) {
        result["round_trip_ms"] = exact_ms(client.round_trip);
    }
    return result;
}

} // namespace

json::object to_json(const node_status& status) {
    json::object pools;
    for (const auto& [name, load] : status.pools) {
        pools[name] = to_json(load);
    }
    json::array clients;
    for (const auto& each : status.clients) {
        clients.push_back(to_json(each));
    }
    return {{"name", status.name},
            {"epoch", status.epoch},
            {"is_connected", status.is_connected},
            {"is_draining", status.is_draining},
            {"problem", status.problem},
            {"links", status.links},
            {"calls", status.calls},
            {"pools", std::move(pools)},
            {"reconnects", status.reconnects},
            {"link_counts", to_json(status.link_counts)},
            {"clients", std::move(clients)}};
}

} // namespace skep
