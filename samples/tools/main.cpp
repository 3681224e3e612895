// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Python that calls back into the service: a tool of the pool, a tool of a single call, and the progress of
// the call.

#include <skep/skep.hpp>

#include <boost/json/serialize.hpp>

#include <iostream>
#include <map>
#include <string>

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

/// Knowledge of the service. A real tool would `co_await` its database here.
asio::awaitable<skep::tool_reply> price_of(skep::tool_call asked) {
    static const std::map<std::string, int> prices{{"honey", 7}, {"smoker", 25}, {"veil", 18}, {"hive", 120}};
    const auto item = json::value_to<std::string>(asked.args.at("item"));
    const auto found = prices.find(item);
    if (found == prices.end()) {
        throw skep::tool_error("not_sold", "we do not sell that");
    }
    co_return skep::tool_reply(found->second);
}

/// Returns half of the price.
asio::awaitable<skep::tool_reply> reduced_price_of(skep::tool_call asked) {
    auto full = price_of(std::move(asked));
    const auto answer = co_await std::move(full);
    co_return skep::tool_reply(answer.value.to_number<double>() / 2);
}

void show(const skep::progress& report) {
    std::cout << static_cast<int>(report.fraction * 100) << " %: " << report.text << '\n';
}

asio::awaitable<void> go_shopping(skep::pool& pool) {
    pool.register_tool("price_of", price_of);
    const json::array wishes{"honey", "hive", "dragon", "veil", "smoker"};
    auto call = skep::request("shop").arg("wishes", wishes).arg("budget", 50).on_progress(show);
    auto reduced = call;
    reduced.tool("price_of", reduced_price_of);
    const auto today = co_await pool.execute(std::move(call));
    std::cout << "today:       " << json::serialize(today.value) << "\n\n";
    const auto tomorrow = co_await pool.execute(std::move(reduced));
    std::cout << "at the sale: " << json::serialize(tomorrow.value) << '\n';
}

} // namespace

int main() try {
    auto config = skep::pool_config::python(SAMPLE_DIR "/worker.py");
    config.workers = 1;
    config.log_level = skep::log_level::info; // shows the output of the worker
    return skep::run(std::move(config), go_shopping);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
}
