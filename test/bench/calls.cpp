// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls: how long one takes, and how many there are in a second.

#include "load.hpp"
#include "modes.hpp"
#include <skep/shared_buffer.hpp>

#include <algorithm>

namespace skep::bench {

namespace {

constexpr std::size_t room_for_json = 64u << 20;

} // namespace

figures measure_serial(const arguments& args) {
    std::vector<double> samples;
    double cpu_per_call = 0;
    const auto span = args.span("span");
    const std::string text = small_value;
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        const auto before = cpu_time();
        samples = co_await measure_echo(workers, text, span);
        // the warm-up is measured too, hence its share of the calls
        cpu_per_call = (cpu_time() - before).count() * 1e6 / (1.1 * static_cast<double>(samples.size()));
    };
    with_pool(make_config(args), body);
    return {{"p50_us", percentile(samples, 0.5)},
            {"p99_us", percentile(samples, 0.99)},
            {"cpu_us", cpu_per_call}};
}

figures measure_throughput(const arguments& args) {
    call_rate rate{};
    const auto callers = args.number("callers");
    const auto span = args.span("span");
    const auto config = make_config(args);
    if (const auto count = args.number("threads", 1); count > 1) {
        auto body = [&](pool& workers) -> asio::awaitable<void> {
            const auto executor = co_await asio::this_coro::executor;
            const place_of_callers place = [executor] { return executor; };
            rate = co_await measure_rate(workers, callers, span, place);
        };
        with_pool_on_threads(static_cast<int>(count), config, body);
    } else {
        context_group contexts(threads(args.number("contexts", 1)), config.wait);
        const place_of_callers place = [&] { return contexts.next(); };
        auto body = [&](pool& workers) -> asio::awaitable<void> {
            rate = co_await measure_rate(workers, callers, span, place);
        };
        with_pool_in(contexts, config, body);
    }
    return {{"calls_per_s", rate.calls_per_second},
            {"cpu_us", rate.host_cpu_per_call},
            {"switches", rate.switches_per_call}};
}

figures measure_working_set(const arguments& args) {
    std::vector<double> samples;
    const auto callers = args.number("callers");
    const auto mebibytes = args.number("mebibytes");
    const auto span = args.span("span");
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await workers.ready(args.number("workers"));
        samples = co_await measure_function(workers, callers, mebibytes, span);
    };
    with_pool(make_config(args), body);
    return {{"p50_us", percentile(samples, 0.5)}, {"p95_us", percentile(samples, 0.95)}};
}

figures measure_payload(const arguments& args) {
    std::vector<double> samples;
    const std::string text(args.number("bytes"), 'x');
    const auto span = args.span("span");
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        samples = co_await measure_echo(workers, text, span);
    };
    with_pool(make_config(args), body);
    return {{"call_us", median(samples)}};
}

namespace {

constexpr char filling = 'x';

/// Returns bytes in a shared_buffer, or in memory of the host's own.
blob make_bytes(std::size_t size, bool in_buffer) {
    if (!in_buffer) {
        return blob(std::vector<std::byte>(size, std::byte(filling)));
    }
    shared_buffer buffer(size);
    std::fill(buffer.span().begin(), buffer.span().end(), std::byte(filling));
    blob sealed = std::move(buffer);
    return sealed;
}

/// Goes through all bytes, as fast as memory is read: all are equal to their successors.
bool is_filled(const blob& bytes) {
    const auto text = bytes.text();
    return text.front() == filling && text.substr(1) == text.substr(0, text.size() - 1);
}

} // namespace

/// The host goes through the bytes of a reply, unless `read` is 0.
figures measure_attachments(const arguments& args) {
    std::vector<double> samples;
    const auto size = args.number("bytes");
    const auto span = args.span("span");
    const auto command = args.text("command", "echo_bytes");
    const bool in_buffer = args.number("buffer", 0) != 0;
    const bool reads = args.number("read", 1) != 0;
    const auto bytes = make_bytes(size, in_buffer);
    const std::function<request()> make_call = [&] {
        return command == "make_bytes" ? request(command).arg("size", size) : request(command).attach(bytes);
    };
    const std::function<bool(const reply&)> is_right = [&](const reply& answer) {
        if (answer.attachments.empty()) {
            return command == "look_at_bytes" || command == "read_bytes";
        }
        const auto& back = answer.attachments[0];
        return back.size() == size && back.is_shared() == in_buffer && (!reads || is_filled(back));
    };
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        samples = co_await measure_latencies(workers, make_call, is_right, span);
    };
    auto config = make_config(args);
    config.limits.frame_bytes = size + room_for_json;
    with_pool(config, body);
    return {{"call_us", median(samples)}};
}

} // namespace skep::bench
