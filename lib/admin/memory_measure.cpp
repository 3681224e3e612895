// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/memory_measure.hpp"

#include <skep/proportional_bytes.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <cstdint>
#include <utility>

namespace skep {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

asio::awaitable<std::string> measure(const pool_status& status) {
    json::object workers;
    const std::uint64_t of_template = status.preload ? proportional_bytes(status.preload->pid) : 0;
    std::uint64_t sum = of_template;
    for (const auto& each : status.workers) {
        const auto bytes = each.pid > 0 ? proportional_bytes(each.pid) : 0;
        if (bytes > 0) {
            workers[to_string(each.id)] = bytes;
            sum += bytes;
        }
    }
    co_return json::serialize(json::object{
        {"proportional_bytes", sum}, {"template_bytes", of_template}, {"workers", std::move(workers)}}) +
        '\n';
}

} // namespace

asio::awaitable<std::string> measure_memory(pool_status status) {
    asio::thread_pool thread(1);
    auto measurement = measure(status);
    auto done = asio::co_spawn(thread, std::move(measurement), asio::use_awaitable);
    co_return co_await std::move(done);
}

} // namespace skep
