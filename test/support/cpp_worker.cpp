// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker in C++ with a command for each thing that tests want of one. Arguments of the program: capacity=N,
// threads=N, and faults: early_thread, preload_fails, start_fails, stop_fails, unhealthy, start_is_empty,
// check_is_empty.

#include <skep/shared_buffer.hpp>
#include <skep/worker_server.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/describe/class.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

struct operands {
    double a = 0;
    double b = 0;
};
BOOST_DESCRIBE_STRUCT(operands, (), (a, b))

struct block_of_bytes {
    int index = 0;
    std::size_t size = 0;
};
BOOST_DESCRIBE_STRUCT(block_of_bytes, (), (index, size))

class odd_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

int cleanups = 0;
std::string state = "made";

struct cleanup {
    ~cleanup() { ++cleanups; }
};

asio::awaitable<void> pause(int milliseconds) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, std::chrono::milliseconds(milliseconds));
    co_await timer.async_wait(asio::use_awaitable);
}

json::value echo(skep::worker_call& call) {
    for (const auto& bytes : call.attachments()) {
        call.attach(bytes);
    }
    return call.args().get_object().contains("value") ? call.args().at("value") : call.args();
}

json::value facts(skep::worker_call& call) {
    json::object facts{{"id", call.id()},
                       {"session", call.session()},
                       {"correlation_id", call.correlation_id()},
                       {"metadata", call.metadata()},
                       {"state", state}};
    if (const auto left = call.remaining()) {
        facts["remaining_ms"] = std::chrono::duration_cast<std::chrono::milliseconds>(*left).count();
    }
    return facts;
}

json::value fail(skep::worker_call& call) {
    const auto how = call.args().get_object().contains("how") ? call.arg<std::string>("how") : "runtime";
    const auto message =
        call.args().get_object().contains("message") ? call.arg<std::string>("message") : "enough";
    if (how == "caller") {
        throw skep::worker_error("bad_input", message, {{"size", 3}});
    }
    if (how == "nan") {
        throw skep::worker_error("bad_input", message, std::numeric_limits<double>::quiet_NaN());
    }
    if (how == "number") {
        throw 42;
    }
    if (how == "odd") {
        throw odd_failure(message);
    }
    throw std::runtime_error(message);
}

asio::awaitable<int> tokens(skep::worker_call& call) {
    const cleanup end;
    const auto count = call.arg<int>("count");
    const auto bytes = call.arg<std::optional<std::size_t>>("bytes").value_or(0);
    const auto milliseconds = call.arg<std::optional<int>>("pause_ms").value_or(0);
    for (int i = 0; i < count; ++i) {
        if (bytes > 0) {
            const block_of_bytes description{i, bytes};
            std::vector<skep::blob> attachments{skep::blob(std::vector<std::byte>(bytes, std::byte(i)))};
            co_await call.send(description, std::move(attachments));
        } else {
            co_await call.send(i);
        }
        if (milliseconds > 0) {
            co_await pause(milliseconds);
        }
    }
    if (call.arg<std::optional<bool>>("fail").value_or(false)) {
        throw std::runtime_error("enough");
    }
    co_return count;
}

/// Sends each of `values` with as many attachments as `attachments` says.
asio::awaitable<void> send_all(skep::worker_call& call) {
    const auto values = call.arg<json::array>("values");
    const auto counts = call.arg<std::vector<std::size_t>>("attachments");
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<skep::blob> attachments(counts[i]);
        co_await call.send(values[i], std::move(attachments));
    }
}

asio::awaitable<void> slow(skep::worker_call& call) {
    const cleanup end;
    const auto milliseconds = call.arg<int>("ms");
    co_await pause(milliseconds);
}

/// Keeps the thread until it is cancelled.
json::value block(skep::worker_call& call) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(call.arg<int>("ms"));
    while (std::chrono::steady_clock::now() < end) {
        if (call.cancelled()) {
            return "cancelled";
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return "done";
}

/// Keeps the thread, too, and finds out when it sends.
asio::awaitable<void> block_and_send(skep::worker_call& call) {
    while (!call.cancelled()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    co_await call.send(1);
}

asio::awaitable<json::value> ask(skep::worker_call& call) {
    auto name = call.arg<std::string>("name");
    auto args = call.args().get_object().contains("args") ? call.args().at("args") : json::object();
    auto attachments = call.attachments();
    auto reply = co_await call.call_host(std::move(name), std::move(args), std::move(attachments));
    for (auto& bytes : reply.attachments) {
        call.attach(std::move(bytes));
    }
    co_return reply.value;
}

/// One tool call for each item, all at once.
asio::awaitable<json::array> ask_all(skep::worker_call& call) {
    const auto name = call.arg<std::string>("name");
    const auto items = call.arg<json::array>("items");
    const auto executor = co_await asio::this_coro::executor;
    const auto ask_for = [&](json::value item) -> asio::awaitable<json::value> {
        json::object args;
        args.emplace("item", std::move(item));
        auto reply = co_await call.call_host(name, std::move(args));
        co_return reply.value;
    };
    using one = decltype(asio::co_spawn(executor, ask_for(nullptr), asio::deferred));
    std::vector<one> all;
    for (const auto& item : items) {
        all.push_back(asio::co_spawn(executor, ask_for(item), asio::deferred));
    }
    auto group = asio::experimental::make_parallel_group(std::move(all));
    const auto ended = co_await group.async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
    const auto& values = std::get<2>(ended);
    co_return json::array(values.begin(), values.end());
}

asio::awaitable<int> report(skep::worker_call& call) {
    const auto steps = call.arg<int>("steps");
    const auto milliseconds = call.arg<std::optional<int>>("pause_ms").value_or(1);
    for (int i = 1; i <= steps; ++i) {
        call.progress(static_cast<double>(i) / steps, "step " + std::to_string(i));
        co_await pause(milliseconds);
    }
    co_return steps;
}

/// The same without letting anybody else run, as fast as it goes.
json::value report_busily(skep::worker_call& call) {
    const auto steps = call.arg<int>("steps");
    for (int i = 1; i <= steps; ++i) {
        call.progress(static_cast<double>(i) / steps, "step " + std::to_string(i));
    }
    return call.attach(skep::blob(std::vector<std::byte>(1)));
}

json::value big(skep::worker_call& call) {
    const auto bytes = call.arg<std::size_t>("bytes");
    if (call.arg<std::optional<bool>>("attached").value_or(false)) {
        return call.attach(skep::blob(std::vector<std::byte>(bytes, std::byte(1))));
    }
    return json::value(std::string(bytes, 'x'));
}

skep::shared_buffer filled_buffer(std::size_t bytes, char letter) {
    skep::shared_buffer buffer(bytes);
    std::ranges::fill(buffer.span(), static_cast<std::byte>(letter));
    return buffer;
}

json::value share(skep::worker_call& call) {
    return call.attach(filled_buffer(call.arg<std::size_t>("bytes"), 's'));
}

/// Sends buffers as chunks, and one as the result.
asio::awaitable<json::value> share_all(skep::worker_call& call) {
    const auto count = call.arg<int>("count");
    const auto bytes = call.arg<std::size_t>("bytes");
    for (int i = 0; i < count; ++i) {
        std::vector<skep::blob> attachments{filled_buffer(bytes, static_cast<char>('a' + i))};
        co_await call.send(i, std::move(attachments));
    }
    co_return call.attach(filled_buffer(bytes, 'z'));
}

/// Describes the first attachment.
json::value look(skep::worker_call& call) {
    const auto& bytes = call.attachments().at(0);
    return {{"is_shared", bytes.is_shared()},
            {"bytes", bytes.size()},
            {"first", std::string(bytes.text().substr(0, 1))},
            {"is_uniform", bytes.text().find_first_not_of(bytes.text().front()) == std::string_view::npos}};
}

/// Reads and keeps the attachments, and answers with those kept before.
json::value keep(skep::worker_call& call) {
    static std::vector<skep::blob> kept;
    std::ptrdiff_t zeros = 0;
    for (const auto& bytes : call.attachments()) {
        zeros += std::ranges::count(bytes, std::byte(0));
    }
    for (const auto& bytes : std::exchange(kept, call.attachments())) {
        call.attach(bytes);
    }
    return zeros;
}

/// The number of buffers that this process has mapped.
json::value buffers(skep::worker_call&) {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
        count += line.find("skep-buffer") != std::string::npos ? 1 : 0;
    }
    return count;
}

json::value scale(skep::worker_call& call) {
    const auto x = call.tensor<float>("x", {skep::any_extent, 3});
    const auto factor = call.arg<float>("factor");
    std::vector<float> scaled;
    for (const float each : x) {
        scaled.push_back(factor * each);
    }
    json::object answer;
    answer["scaled"] = call.attach(skep::make_ndarray(std::move(scaled), x.shape()));
    return answer;
}

asio::awaitable<void> rows(skep::worker_call& call) {
    const auto x = call.tensor<float>("x");
    const auto width = x.shape().at(1);
    for (std::size_t row = 0; row < x.shape().at(0); ++row) {
        const auto chunk = skep::make_ndarray(x.as_span().subspan(row * width, width));
        co_await call.send(chunk);
    }
}

/// Answers each call with the size of its batch, or with an error if it asks for one.
std::vector<skep::batch_result> batch(skep::batch_calls calls) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::vector<skep::batch_result> results;
    for (const auto* const call : calls) {
        if (call->arg<std::optional<bool>>("fail").value_or(false)) {
            results.emplace_back(skep::worker_error("bad_input", "enough"));
        } else {
            results.emplace_back(calls.size());
        }
    }
    return results;
}

json::value strange(skep::worker_call& call) {
    const auto kind = call.arg<std::string>("kind");
    if (kind == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (kind == "text") {
        return "\xff";
    }
    json::value deep = 1;
    for (int i = 0; i < 600; ++i) {
        json::array outer;
        outer.push_back(std::move(deep));
        deep = std::move(outer);
    }
    return deep;
}

} // namespace

int main(int count, char** values) {
    skep::worker_options options;
    const auto has = [&](std::string_view name) {
        return std::find(values + 1, values + count, name) != values + count;
    };
    for (int i = 1; i < count; ++i) {
        const std::string_view value = values[i];
        if (value.starts_with("capacity=")) {
            options.capacity(std::strtoul(value.substr(9).data(), nullptr, 10));
        }
        if (value.starts_with("threads=")) {
            options.threads(std::strtoul(value.substr(8).data(), nullptr, 10));
        }
    }
    skep::worker_server server(options);
    std::cout << "hello from stdout" << std::endl;
    server.on<operands>("add", [](const operands& of) { return of.a + of.b; });
    server.on<operands>("add_later",
                        [](const operands& of, skep::worker_call&) -> asio::awaitable<json::value> {
                            co_await pause(1);
                            co_return of.a + of.b;
                        });
    server.on("echo", echo).on("facts", facts).on("fail", fail).on("tokens", tokens).on("slow", slow);
    server.on("send_all", send_all);
    server.on("block", block)
        .on("block_and_send", block_and_send)
        .on("ask", ask)
        .on("ask_all", ask_all)
        .on("report", report)
        .on("report_busily", report_busily)
        .on("big", big)
        .on("rows", rows)
        .on("scale", scale)
        .on("share", share)
        .on("share_all", share_all)
        .on("look", look)
        .on("keep", keep)
        .on("buffers", buffers)
        .on("strange", strange);
    server.on_batch("batch", {.most = 8}, batch);
    server.on("crash", [](skep::worker_call&) { std::abort(); });
    server.on("empty", [](skep::worker_call&) { return asio::awaitable<json::value>(); });
    server.on("empty_number", [](skep::worker_call&) { return asio::awaitable<int>(); });
    server.on<operands>("empty_typed", [](const operands&) { return asio::awaitable<void>(); });
    server.on("cleanups", [](skep::worker_call&) { return cleanups; });
    server.on("previous_exit", [&](skep::worker_call&) { return server.previous_exit(); });
    server.on("slot", [&](skep::worker_call&) { return server.slot(); });
    int loader = 0;
    server.on("loader", [&](skep::worker_call&) { return loader; });
    server.on("variable", [](skep::worker_call& call) -> json::value {
        const char* const value = std::getenv(call.arg<std::string>("name").c_str());
        return value == nullptr ? json::value() : json::value(value);
    });
    server.on_preload([&]() -> asio::awaitable<void> {
        co_await pause(1);
        if (has("preload_fails")) {
            throw std::runtime_error("no file");
        }
        loader = ::getpid();
    });
    if (has("early_thread")) {
        std::thread([] { std::this_thread::sleep_for(std::chrono::hours(1)); }).detach();
    }
    server.on_start([&]() -> asio::awaitable<void> {
        co_await pause(1);
        if (has("start_fails")) {
            throw std::runtime_error("no model");
        }
        state = "started";
    });
    server.on_stop([&] {
        std::cout << "stopped in order" << std::endl;
        if (has("stop_fails")) {
            throw std::runtime_error("no flush");
        }
    });
    if (has("unhealthy")) {
        server.health_check([] { return false; });
    }
    if (has("start_is_empty")) {
        server.on_start([] { return asio::awaitable<void>(); });
    }
    if (has("check_is_empty")) {
        server.health_check([] { return asio::awaitable<void>(); });
    }
    return server.run();
}
