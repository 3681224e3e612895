// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Calls: how long one takes, and how many there are in a second.

#include "load.hpp"
#include "modes.hpp"

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

figures measure_attachments(const arguments& args) {
    std::vector<double> samples;
    const auto size = args.number("bytes");
    const auto span = args.span("span");
    const std::string text(size, 'x');
    const auto bytes = blob::copy_of(std::as_bytes(std::span(text)));
    const auto command = args.text("command", "echo_bytes");
    const std::function<request()> make_call = [&] { return request(command).attach(bytes); };
    const std::function<bool(const reply&)> is_right = [&](const reply& answer) {
        return command != "echo_bytes" || answer.attachments.at(0).text() == text;
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
