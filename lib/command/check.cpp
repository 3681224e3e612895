// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/check.hpp"

#if SKEP_HAS_REMOTE
#include "command/check_connection.hpp"
#endif
#include "command/config_files.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/text.hpp"
#include <skep/skep.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>

namespace skep {

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

pool_config with_one_worker(pool_config config) {
    config.workers = 1;
    config.min_ready = 1;
    config.scaling = {};
    config.log_level = log_level::off; // errors contain the output of the worker
    return config;
}

/// The findings of the check of a worker.
struct finding {
    std::exception_ptr problem;
    std::string loop; ///< of the worker: see worker_status
    bool shares_memory = false;
};

asio::awaitable<void> try_worker(pool& target, finding& outcome) {
    co_await target.start();
    co_await target.execute(request("skep.health_check"));
    const auto status = co_await target.status();
    if (!status.workers.empty()) {
        outcome.loop = status.workers.front().loop;
        outcome.shares_memory = status.workers.front().shared_bytes.has_value();
    }
}

asio::awaitable<void> try_and_end(pool& target, finding& outcome) {
    try {
        co_await try_worker(target, outcome);
    } catch (...) {
        outcome.problem = std::current_exception();
    }
    co_await target.shutdown();
}

/// Says whether a Python worker has skep._loop.
std::string_view remark_on(std::string_view loop) {
    if (loop == "c") {
        return "; its interpreter has the loop in C";
    }
    return loop == "python" ? "; it serves its calls in pure Python" : "";
}

/// Says whether a worker can have memory that the configuration lends.
std::string_view remark_on(bool is_lent, bool is_shared) {
    if (!is_lent) {
        return "";
    }
    return is_shared ? "; it can share memory" : "; it cannot share memory (shared.enabled)";
}

check_result check_pool(pool_config config) {
    check_result result{"pool " + config.name, false, {}};
    finding found;
    const bool is_memory_lent = config.shared.enabled;
    asio::io_context context(1);
    try {
        pool tried(context, with_one_worker(std::move(config)));
        asio::co_spawn(context, try_and_end(tried, found), [&](std::exception_ptr failure) {
            found.problem = found.problem ? found.problem : failure;
        });
        context.run();
        if (found.problem) {
            std::rethrow_exception(found.problem);
        }
    } catch (const std::exception& failure) {
        result.text = failure.what();
        return result;
    }
    result.is_good = true;
    result.text = "ok, a worker came up and is well" + std::string(remark_on(found.loop));
    result.text += remark_on(is_memory_lent, found.shares_memory);
    return result;
}

#if !SKEP_HAS_REMOTE
check_result check_connection(const node_options&) {
    return {"nats", true, "not checked, skep was built without its part for NATS"};
}

check_result check_place(const remote_place& place) {
    return {"pool " + place.options.name + ", remote", false,
            "needs skep::remote, and skep was built without its part for NATS"};
}
#endif

std::vector<check_result> check_parts(manager_config config) {
    std::vector<check_result> results;
    for (auto& each : config.pools) {
        results.push_back(check_pool(std::move(each)));
    }
    for (const auto& each : config.remote) {
        results.push_back(check_place(each));
    }
    if (config.node) {
        results.push_back(check_connection(*config.node));
    }
    return results;
}

std::vector<check_result> check_file(const std::string& path) {
    try {
        return check_parts(read_configuration(path));
    } catch (const std::exception& problem) {
        return {{{}, false, problem.what()}};
    }
}

void print_texts(const std::vector<check_result>& results) {
    for (const auto& each : results) {
        std::cout << each.what << (each.what.empty() ? "" : ": ") << each.text << '\n';
    }
}

/// Prints {"ok", "checks": [{"what", "ok", "text"}]}.
void print_document(const std::vector<check_result>& results, bool is_good) {
    json::array checks;
    for (const auto& each : results) {
        checks.push_back({{"what", each.what}, {"ok", each.is_good}, {"text", to_utf8(each.text)}});
    }
    std::cout << json::serialize(json::object{{"ok", is_good}, {"checks", std::move(checks)}}) << '\n';
}

void go_to_folder(const std::string& path) {
    std::error_code ec;
    std::filesystem::current_path(path, ec);
    if (ec) {
        throw usage_error("cannot go to " + path + ": " + ec.message());
    }
}

} // namespace

int check(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"-C", true}, {"--json"}});
    if (parsed.operands.size() != 1) {
        throw usage_error("one CONFIG is needed");
    }
    if (parsed.has("-C")) {
        go_to_folder(parsed.options.at("-C"));
    }
    const auto results = check_file(parsed.operands.front());
    const bool is_good =
        std::all_of(results.begin(), results.end(), [](const auto& each) { return each.is_good; });
    if (parsed.has("--json")) {
        print_document(results, is_good);
    } else {
        print_texts(results);
    }
    return is_good ? 0 : 1;
}

} // namespace skep
