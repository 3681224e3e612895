// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/pool/README.md quotes.

#include <skep/skep.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/describe/class.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>

#include <array>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace json = boost::json;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

namespace pool_guide {

struct picture_facts {
    int width;
};
BOOST_DESCRIBE_STRUCT(picture_facts, (), (width))

struct label {
    std::string name;
    double score;
};
BOOST_DESCRIBE_STRUCT(label, (), (name, score))

boost::asio::awaitable<void> classify(skep::pool& pool, picture_facts picture) {
    auto call = skep::request("classify").args(picture); // a described struct of yours
    const auto found = co_await pool.execute<std::vector<label>>(std::move(call));
    std::cout << found.size() << '\n';
}

boost::asio::awaitable<void> greet_one(skep::pool& pool, std::string name) {
    auto call = skep::request("greet").arg("name", name).queue_timeout(0s); // no separate limit on the wait
    const auto answer = co_await pool.execute(std::move(call));
    std::cout << answer.as<std::string>() << '\n';
}

void rethrow(const std::exception_ptr& problem) {
    if (problem) {
        std::rethrow_exception(problem);
    }
}

void greet_all(boost::asio::io_context& context, skep::pool& pool, const std::vector<std::string>& names) {
    for (const auto& name : names) {
        boost::asio::co_spawn(context, greet_one(pool, name), rethrow);
    }
}

boost::asio::awaitable<void> crop(skep::pool& pool, std::vector<std::byte> image) {
    auto call = skep::request("crop").arg("width", 4).attach(std::move(image));
    const auto cropped = co_await pool.execute(std::move(call)); // .value and .attachments
    std::cout << cropped.value << '\n';
}

boost::asio::awaitable<void> generate(skep::pool& pool, skep::request call) {
    auto stream = co_await pool.stream(std::move(call)); // a worker has it
    while (const auto piece = co_await stream.next()) {
        std::cout << piece->as<std::string>() << std::flush;
    }
    std::cout << stream.result().value << '\n';
}

/// Returns when the client has closed the connection, or has sent something.
boost::asio::awaitable<void> wait_for_end(tcp::socket& client) {
    std::array<char, 1> next;
    const auto room = boost::asio::buffer(next);
    co_await client.async_read_some(room, boost::asio::use_awaitable);
}

boost::asio::awaitable<void> answer(skep::pool& pool, skep::request call, tcp::socket& client) {
    auto calling = pool.execute(std::move(call));
    auto leaving = wait_for_end(client);
    auto racing = skep::until(std::move(calling), std::move(leaving));
    const auto reply = co_await std::move(racing); // throws the call's errors
    if (!reply) {
        co_return; // the client has left, and the call is cancelled
    }
    std::cout << reply->value << '\n';
}

struct price_list {
    boost::asio::awaitable<int> price(json::value item);
};

void add_tool(skep::pool& pool, price_list& database) {
    pool.register_tool("price_of", [&](skep::tool_call asked) -> boost::asio::awaitable<skep::tool_reply> {
        const auto price = co_await database.price(asked.args.at("item"));
        co_return skep::tool_reply(price);
    });
}

void without_a_coroutine(skep::pool& pool, skep::request call) {
    std::future<skep::reply> answer = pool.execute(std::move(call), boost::asio::use_future);
    std::cout << answer.get().value << '\n';
}

boost::asio::awaitable<void> shed_load(skep::pool& pool, skep::request call) {
    const auto answer = co_await pool.execute(std::move(call), skep::as_result);
    if (!answer && answer.error().kind() == skep::errc::pool_saturated) {
        std::cout << "busy\n"; // nothing was thrown
    }
}

bool has_room(const skep::pool& pool) {
    const auto load = pool.load(); // calls at workers, calls that wait, and places of workers
    return load.can_serve && load.in_flight + load.queued < 2 * load.places;
}

boost::asio::awaitable<void> change(skep::pool& pool, const skep::reply& reply) {
    co_await pool.ready(4);              // start() returns when min_ready workers are up
    co_await pool.rolling_restart();     // a new version of the script
    co_await pool.restart(reply.worker); // one worker
    co_await pool.suspend();             // drained, and kept in memory; calls wait
    co_await pool.resume();
    co_await pool.resize(skep::size_limits(2, 20)); // from 2 to 20 workers, by load
}

boost::asio::awaitable<void> look_into(skep::pool& pool, skep::worker_id id) {
    const skep::probe_result health = co_await pool.probe(id); // what its health check returns, now
    const skep::duration round_trip = co_await pool.ping(id);
    const std::string stacks = co_await pool.stacks(id);   // what the threads of a busy worker are doing
    const skep::worker_exit end = co_await pool.ended(id); // how its process ended, once it has
    std::cout << health.passed << ' ' << round_trip.count() << ' ' << to_string(end.status) << '\n' << stacks;
}

boost::asio::awaitable<void> greet(skep::pool& pool) {
    json::object args = {{"name", "Ada"}};
    auto reply = co_await pool.execute("greet", std::move(args)); // right with every compiler
    std::cout << reply.value << '\n';
}

void configure(boost::asio::io_context& context) {
    auto config = skep::pool_config::from_file("/etc/forecast/pool.json");
    const skep::pool pool(context, std::move(config));
}

void configure(boost::asio::io_context& context, std::string_view text) {
    auto config = skep::pool_config::from_json(boost::json::parse(text)); // of <boost/json/parse.hpp>
    const skep::pool pool(context, std::move(config));
}

} // namespace pool_guide
