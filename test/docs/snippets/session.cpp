// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/session/README.md quotes.

#include <skep/redis_sessions.hpp>
#include <skep/skep.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace session_guide {

boost::asio::awaitable<void> lease_a_worker(skep::pool& pool, std::string name, std::string text) {
    auto what = skep::checkout_options().reset(skep::request("clear"));
    skep::lease lease = co_await pool.checkout(std::move(what));
    auto load = skep::request("load").arg("model", name);
    co_await lease.execute(std::move(load));
    auto predict = skep::request("predict").arg("text", text);
    skep::reply answer = co_await lease.execute(std::move(predict));
    std::cout << answer.value << '\n';
}

boost::asio::awaitable<void> return_to_worker(skep::pool& pool, skep::session_store& store, std::string id) {
    skep::lease first = co_await pool.checkout();
    auto load = skep::request("load").arg("model", "large").session(id);
    co_await first.execute(std::move(load));
    co_await pool.bind_session(id, first.worker());
    co_await first.close();

    auto found = co_await store.get(id);
    auto what = skep::checkout_options();
    if (found && found->last_worker_id()) {
        what.worker(*found->last_worker_id());
    }
    skep::lease again = co_await pool.checkout(std::move(what));
}

boost::asio::awaitable<void> several_pools(boost::asio::io_context& context, std::string text) {
    skep::pool_manager manager(context, skep::manager_config::from_file("pools.json"));
    co_await manager.start();
    auto call = skep::request("predict").arg("text", text).session("user-42").pool("language");
    const auto answer = co_await manager.execute(std::move(call));
    std::cout << answer.value << '\n';
}

boost::asio::awaitable<void> count_visit(skep::session_store& store) {
    co_await store.create("user-42");
    auto count_visit = [](skep::session_data& data) { data.metadata("visits", 1); };
    co_await store.update("user-42", count_visit);
}

void in_redis(boost::asio::io_context& context, std::string password) {
    skep::redis_options where;
    where.host = "redis.internal";
    where.password = password;
    auto backend = std::make_shared<skep::redis_sessions>(context.get_executor(), where);
    skep::session_store store({}, backend);
}

void in_redis_by_tls(boost::asio::io_context& context) {
    auto where = skep::redis_options::from_url("rediss://teller:open%20sesame@redis.internal:6380/2");
    where.tls_ca_file = "/etc/ssl/ours.pem";
    auto backend = std::make_shared<skep::redis_sessions>(context.get_executor(), where);
}

} // namespace session_guide
