// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "admin/routes.hpp"

#include "admin/memory_measure.hpp"
#include "admin/page.hpp"
#include "admin/request_rules.hpp"
#include "core/visible_text.hpp"
#include "core/with_detail.hpp"
#include <skep/prometheus.hpp>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <exception>
#include <prometheus/text_serializer.h>
#include <span>
#include <utility>

namespace skep {

namespace http = boost::beast::http;
namespace json = boost::json;

namespace {

constexpr const char* page_policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'";

std::string_view view_of(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

http_response wrong_method(const char* allowed) {
    auto refusal = text_response(http::status::method_not_allowed, "only " + std::string(allowed) + "\n");
    refusal.set(http::field::allow, allowed);
    return refusal;
}

std::string readiness(const findings& results) {
    std::string unable;
    for (const auto& each : results.unable) {
        unable += each + '\n';
    }
    return results.pools.empty() && results.silent.empty() ? "there is no pool\n" : unable;
}

std::string status_text(const findings& results) {
    json::array pools;
    for (const auto& each : results.pools) {
        pools.push_back(to_json(each));
    }
    json::object status{{"pools", std::move(pools)}};
    if (results.node) {
        status["node"] = to_json(*results.node);
    }
    return json::serialize(status) + '\n';
}

bool is_for_readiness(std::string_view path) {
    return path == "/readyz" || path == "/healthz";
}

/// Answers that need the metrics of the pools.
asio::awaitable<http_response> show(const admin_resources& resources, std::string_view path) {
    const auto looked = co_await resources.looks.collect();
    const auto& seen = *looked;
    if (is_for_readiness(path)) {
        auto unable = readiness(seen);
        const auto status = unable.empty() ? http::status::ok : http::status::service_unavailable;
        co_return text_response(status, unable.empty() ? "ok\n" : std::move(unable));
    }
    if (path == "/metrics") {
        co_return text_response(http::status::ok,
                                prometheus::TextSerializer().Serialize(to_families(seen.pools)),
                                "text/plain; version=0.0.4; charset=utf-8");
    }
    co_return text_response(http::status::ok, status_text(seen), "application/json");
}

size_limits limits_in(const std::string& body) {
    boost::system::error_code ec;
    const auto value = json::parse(body, ec);
    const auto* const fields = ec ? nullptr : value.if_object();
    const auto read = [&](const char* key) {
        const auto* const found = fields == nullptr ? nullptr : fields->if_contains(key);
        boost::system::error_code problem;
        const auto number = found == nullptr ? std::size_t(0) : found->to_number<std::size_t>(problem);
        return problem ? std::size_t(0) : number;
    };
    return {read("min"), read("max")}; // resize() reports missing and wrong numbers by its own rule
}

asio::awaitable<std::string> done_after(asio::awaitable<void> operation) {
    co_await std::move(operation);
    co_return "done\n";
}

asio::awaitable<std::string> answer_of(asio::awaitable<reply> operation) {
    auto answer = co_await std::move(operation);
    co_return text_of(std::move(answer));
}

using action = asio::awaitable<std::string> (*)(pool& target, const admin_order& order,
                                                const std::string& body);

/// Returns the pool, whose workers can be changed. Throws error(invalid_request) for a pool of nodes.
pool& pool_with_own_workers(observed_pool& target) {
    if (auto* const found = dynamic_cast<pool*>(&target)) {
        return *found;
    }
    throw error(errc::invalid_request,
                with_detail("the workers of pool " + target.name() +
                            " are nodes: change their workers at the admin pages of the nodes"));
}

using named_action = std::pair<std::string_view, action>;

/// Returns null if there is no action of that name.
action find_action(std::span<const named_action> actions, std::string_view name) {
    for (const auto& [known, act] : actions) {
        if (known == name) {
            return act;
        }
    }
    return nullptr;
}

asio::awaitable<std::string> memory_of(pool& target) {
    auto status = co_await target.status();
    co_return co_await measure_memory(std::move(status));
}

action worker_action(std::string_view name) {
    static constexpr named_action actions[] = {
        {"suspend", [](pool& target, const admin_order& order,
                       const std::string&) { return done_after(target.suspend(*order.worker)); }},
        {"resume", [](pool& target, const admin_order& order,
                      const std::string&) { return done_after(target.resume(*order.worker)); }},
        {"restart", [](pool& target, const admin_order& order,
                       const std::string&) { return done_after(target.restart(*order.worker)); }},
        {"stacks", [](pool& target, const admin_order& order, const std::string&) {
             return target.stacks(*order.worker);
         }}};
    return find_action(actions, name);
}

action pool_action(std::string_view name) {
    static constexpr named_action actions[] = {
        {"suspend",
         [](pool& target, const admin_order&, const std::string&) { return done_after(target.suspend()); }},
        {"resume",
         [](pool& target, const admin_order&, const std::string&) { return done_after(target.resume()); }},
        {"restart", [](pool& target, const admin_order&,
                       const std::string&) { return done_after(target.rolling_restart()); }},
        {"resize", [](pool& target, const admin_order&,
                      const std::string& body) { return done_after(target.resize(limits_in(body))); }},
        {"memory", [](pool& target, const admin_order&, const std::string&) { return memory_of(target); }}};
    return find_action(actions, name);
}

/// Returns the requested action; std::nullopt if there is no such pool or action.
std::optional<pool_access::task<std::string>> task_of(pool_access& pools, const admin_order& order,
                                                      const std::string& body) {
    if (!order.worker && order.action == "call") {
        return pools.act(order.pool,
                         [&](observed_pool& target) { return answer_of(target.execute(call_in(body))); });
    }
    const auto act = order.worker ? worker_action(order.action) : pool_action(order.action);
    return act == nullptr ? std::nullopt : pools.act(order.pool, [&](observed_pool& target) {
        return act(pool_with_own_workers(target), order, body);
    });
}

http::status status_of(errc code) {
    switch (code) {
    case errc::invalid_config:
    case errc::invalid_request:
    case errc::invalid_arguments: return http::status::bad_request;
    case errc::unknown_worker:
    case errc::unknown_command: return http::status::not_found;
    case errc::timeout: return http::status::gateway_timeout;
    default: return http::status::conflict;
    }
}

/// The end of an action: the text of its result, or its error.
struct ending {
    std::optional<error> problem;
    std::string text;
};

asio::awaitable<ending> ending_of(asio::awaitable<std::string> operation) {
    ending result;
    try {
        result.text = co_await std::move(operation);
    } catch (const error& problem) {
        result.problem.emplace(problem);
    }
    co_return result;
}

/// Returns all that is known about an error: in a call's error, the traceback as well.
std::string account_of(const error& problem) {
    const auto& traceback = problem.info().remote_traceback;
    auto text = problem.what() + std::string("\n");
    return traceback.empty() ? text : text + visible(traceback, line_feeds::keep) + '\n';
}

http_response response_to(const admin_order& order, ending&& end) {
    if (end.problem) {
        return text_response(status_of(end.problem->kind()), account_of(*end.problem));
    }
    const bool is_json = order.action == "call" || order.action == "memory";
    return is_json ? text_response(http::status::ok, std::move(end.text), "application/json")
                   : text_response(http::status::ok, std::move(end.text));
}

/// Runs the action on the pool's executor. The action continues even if the client no longer waits.
asio::awaitable<http_response> carry_out(const admin_resources& resources, const http_request& query,
                                         const admin_order& order) {
    if (!is_authorised(view_of(query[http::field::authorization]), resources.options.token)) {
        auto refusal = text_response(http::status::unauthorized, "this needs the admin token\n");
        refusal.set(http::field::www_authenticate, "Bearer");
        co_return refusal;
    }
    std::optional<pool_access::task<std::string>> wish;
    try {
        wish = task_of(resources.pools, order, query.body());
    } catch (const error& problem) { // the body describes no call, or the pool has no such action
        co_return text_response(status_of(problem.kind()), account_of(problem));
    }
    if (!wish) {
        co_return text_response(http::status::not_found, "there is no such pool or action\n");
    }
    auto changing = remote_runner::wait_for(resources.answers, resources.executor, wish->where,
                                            ending_of(std::move(wish->work)));
    auto end = co_await std::move(changing);
    resources.looks.expire();
    co_return end ? response_to(order, std::move(*end))
                  : text_response(http::status::internal_server_error, "there is no memory for this\n");
}

/// Returns the refusal of a request for another server, if it is one.
std::optional<http_response> refusal_of_host(const admin_resources& resources, const http_request& query) {
    const auto hosts = query.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && query.version() > 10)) {
        return text_response(http::status::bad_request, "a request names one host\n");
    }
    if (resources.is_on_loopback && !is_loopback_host(view_of(query[http::field::host]))) {
        return text_response(http::status::misdirected_request, "this is no name of a loopback address\n");
    }
    return std::nullopt;
}

} // namespace

http_response text_response(http::status status, std::string text, std::string_view type) {
    http_response response(status, 11);
    response.set(http::field::content_type, boost::beast::string_view(type.data(), type.size()));
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    response.set("Referrer-Policy", "no-referrer");
    response.body() = std::move(text);
    return response;
}

bool is_for_events(const http_request& query) {
    return path_of(view_of(query.target())) == "/events";
}

http_response head_of_events() {
    auto head = text_response(http::status::ok, "", "text/event-stream");
    head.keep_alive(false);
    return head;
}

/// Reserves a quarter of the connections, and at least one, for short requests such as probes.
std::optional<http_response> refusal_of_events(const admin_resources& resources, const http_request& query,
                                               std::size_t open) {
    if (auto refusal = refusal_of_host(resources, query)) {
        return refusal;
    }
    if (query.method() != http::verb::get) {
        return wrong_method("GET");
    }
    const auto most = resources.options.connections;
    return open < most - std::max<std::size_t>(1, most / 4)
               ? std::nullopt
               : std::optional(text_response(http::status::service_unavailable, "too many pages are open\n"));
}

asio::awaitable<http_response> respond(const admin_resources& resources, const http_request& query) {
    const auto path = path_of(view_of(query.target()));
    if (auto refusal = refusal_of_host(resources, query)) {
        co_return std::move(*refusal);
    }
    if (const auto wanted = order_in(path)) {
        if (query.method() != http::verb::post) {
            co_return wrong_method("POST");
        }
        auto changing = carry_out(resources, query, *wanted);
        auto response = co_await std::move(changing);
        co_return response;
    }
    const bool shows_pools = is_for_readiness(path) || path == "/metrics" || path == "/status.json";
    if (!shows_pools && path != "/" && path != "/livez") {
        co_return text_response(http::status::not_found, "there is nothing here\n");
    }
    if (query.method() != http::verb::get && query.method() != http::verb::head) {
        co_return wrong_method("GET, HEAD");
    }
    if (shows_pools) {
        auto response = co_await show(resources, path);
        co_return response;
    }
    if (path == "/livez") {
        co_return text_response(http::status::ok, "ok\n");
    }
    auto page = text_response(http::status::ok, admin_page(), "text/html; charset=utf-8");
    page.set("Content-Security-Policy", page_policy);
    co_return page;
}

} // namespace skep
