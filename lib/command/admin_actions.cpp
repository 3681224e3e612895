// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "command/admin_actions.hpp"

#include "command/admin_client.hpp"
#include "command/call_arguments.hpp"
#include "command/document_places.hpp"
#include "command/status_table.hpp"
#include "command/usage_error.hpp"
#include "command/words.hpp"
#include "core/number_text.hpp"
#include "core/visible_text.hpp"
#include <skep/worker_id.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <limits>
#include <optional>
#include <thread>
#include <unistd.h> // lint: allow linux because isatty() has no portable form

namespace skep {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

admin_client client_of(const parsed_words& parsed) {
    if (parsed.operands.empty()) {
        throw usage_error("the URL of the admin port is missing");
    }
    const auto* const token = std::getenv("SKEP_ADMIN_TOKEN");
    return {parse_admin_url(parsed.operands.front()), token == nullptr ? "" : token};
}

std::vector<std::string> operands_after(const parsed_words& parsed, std::size_t count) {
    const auto begin = parsed.operands.begin() + static_cast<std::ptrdiff_t>(count);
    return {begin, parsed.operands.end()};
}

void expect_operands(const parsed_words& parsed, std::size_t most) {
    if (parsed.operands.size() > most) {
        throw usage_error('"' + parsed.operands[most] + "\" is one word too many");
    }
}

/// Returns the answer's body. Throws std::runtime_error with the service's text if the service refuses.
std::string body_of(admin_answer answer) {
    if (!answer.is_good()) {
        while (answer.body.ends_with('\n')) {
            answer.body.pop_back();
        }
        throw std::runtime_error(visible(answer.body, line_feeds::keep));
    }
    return std::move(answer.body);
}

json::value document_in(const std::string& body) {
    boost::system::error_code ec;
    auto document = json::parse(body, ec);
    if (ec) {
        throw service_unreachable("the answer is not the one of an admin port: no JSON");
    }
    return document;
}

json::value status_of(const admin_client& service) {
    return document_in(body_of(service.get("/status.json")));
}

std::size_t count_in(const parsed_words& parsed, std::string_view option) {
    const auto found = parsed.options.find(option);
    std::size_t count = std::numeric_limits<std::size_t>::max();
    if (found != parsed.options.end() && (!read_number(found->second, count) || count == 0)) {
        throw usage_error(std::string(option) + " must be a positive number");
    }
    return count;
}

worker_id id_in(const json::value& worker) {
    const auto* const text = find_at(worker, "/id");
    const auto id = text != nullptr && text->is_string() ? to_worker_id(std::string(text->get_string()))
                                                         : std::optional<worker_id>();
    if (!id) {
        throw service_unreachable("the answer is not the one of an admin port: a worker has no id");
    }
    return *id;
}

/// Returns the generation of the present worker of a slot: the first that is listed, before leaving workers.
std::uint64_t present_generation(const admin_client& service, const admin_target& target) {
    const auto status = status_of(service);
    for (const auto& pool : array_at(status, "/pools")) {
        for (const auto& each : array_at(pool, "/status/workers")) {
            const auto id = id_in(each);
            if (id.pool == target.pool && id.slot == *target.slot) {
                return id.generation;
            }
        }
    }
    throw std::runtime_error("there is no worker " + target.pool + '/' + std::to_string(*target.slot));
}

std::string path_of(const admin_client& service, const admin_target& target, const std::string& action) {
    const auto pool = "/pools/" + target.pool;
    if (!target.slot) {
        return pool + '/' + action;
    }
    const auto generation = target.generation ? *target.generation : present_generation(service, target);
    return pool + "/workers/" + std::to_string(*target.slot) + '.' + std::to_string(generation) + '/' +
           action;
}

/// Returns the targets behind the URL. `missing`: the problem if there is none.
std::vector<admin_target> targets_of(const parsed_words& parsed, const char* missing) {
    std::vector<admin_target> targets;
    for (const auto& each : operands_after(parsed, 1)) {
        targets.push_back(parse_admin_target(each));
    }
    if (targets.empty()) {
        throw usage_error(missing);
    }
    return targets;
}

/// Sends the action for each target, in order. Stops at the first failure.
int change(const std::vector<std::string>& words, const std::string& action) {
    const auto parsed = parse_words(words, {});
    const auto service = client_of(parsed);
    for (const auto& each : targets_of(parsed, "a pool or a worker is missing")) {
        body_of(service.post(path_of(service, each, action)));
    }
    return 0;
}

std::string time_of_day() {
    const auto now = std::time(nullptr);
    std::tm local{};
    char text[16];
    localtime_r(&now, &local);
    return {text, std::strftime(text, sizeof text, "%H:%M:%S", &local)};
}

/// Returns the table of a service's status; the reason where the service does not tell it.
std::string table_or_problem(const admin_client& service) {
    try {
        return status_table(status_of(service));
    } catch (const std::runtime_error& problem) {
        return "skep: " + std::string(problem.what()) + '\n';
    }
}

json::object body_of_call(const std::string& command, json::object arguments, duration timeout) {
    return {{"command", command}, {"args", std::move(arguments)}, {"timeout_ms", timeout / 1ms}};
}

const json::value& value_in(const json::value& answer) {
    const auto* const value = find_at(answer, "/value");
    if (value == nullptr) {
        throw service_unreachable("the answer is not the one of an admin port: no value");
    }
    return *value;
}

void report_attachments(const json::value& answer) {
    const auto sizes = array_at(answer, "/attachments");
    if (!sizes.empty()) {
        std::cerr << "skep: the result has attachments of " << json::serialize(sizes)
                  << " bytes, which are not shown\n";
    }
}

} // namespace

int show_status(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"--json"}});
    const auto service = client_of(parsed);
    expect_operands(parsed, 1);
    const auto status = status_of(service);
    std::cout << (parsed.has("--json") ? visible_json(json::serialize(status)) + '\n' : status_table(status));
    return 0;
}

int show_top(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"--interval", true}, {"--count", true}});
    const auto service = client_of(parsed);
    expect_operands(parsed, 1);
    const auto interval = duration_in(parsed, "--interval", 1s);
    const char* const clear = isatty(STDOUT_FILENO) != 0 ? "\x1b[H\x1b[2J" : "";
    auto left = count_in(parsed, "--count");
    auto table = status_table(status_of(service)); // a failure of the first look ends the program
    for (; left > 0; --left) {
        std::cout << clear << parsed.operands.front() << "  " << time_of_day() << "\n\n"
                  << table << std::flush;
        if (left > 1) {
            std::this_thread::sleep_for(interval);
            table = table_or_problem(service);
        }
    }
    return 0;
}

int make_call(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {{"--json"}, {"--timeout", true}});
    const auto service = client_of(parsed);
    if (parsed.operands.size() < 3) {
        throw usage_error("a call needs a pool and a command");
    }
    const auto pool = parse_admin_target(parsed.operands[1]);
    if (pool.slot) {
        throw usage_error("a call goes to a pool, not to a worker");
    }
    const auto timeout = duration_in(parsed, "--timeout", 60s);
    const auto body = body_of_call(parsed.operands[2], call_arguments(operands_after(parsed, 3)), timeout);
    const auto path = "/pools/" + pool.pool + "/call";
    const auto answer = document_in(body_of(service.post(path, json::serialize(body), timeout)));
    const auto& shown = parsed.has("--json") ? answer : value_in(answer);
    std::cout << visible_json(json::serialize(shown)) << '\n';
    report_attachments(answer);
    return 0;
}

int restart(const std::vector<std::string>& words) {
    return change(words, "restart");
}

int suspend(const std::vector<std::string>& words) {
    return change(words, "suspend");
}

int resume(const std::vector<std::string>& words) {
    return change(words, "resume");
}

int show_stacks(const std::vector<std::string>& words) {
    const auto parsed = parse_words(words, {});
    const auto service = client_of(parsed);
    const auto targets = targets_of(parsed, "a worker is missing, as in default/0");
    for (const auto& each : targets) {
        if (!each.slot) {
            throw usage_error('"' + each.pool + "\" is a pool: name a worker, as in " + each.pool + "/0");
        }
    }
    for (const auto& each : targets) {
        std::cout << visible(body_of(service.post(path_of(service, each, "stacks"))), line_feeds::keep);
    }
    return 0;
}

} // namespace skep
