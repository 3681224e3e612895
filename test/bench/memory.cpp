// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_bench_memory MODE KEY=VALUE...: what calls cost the host in memory.

#include "allocations.hpp"
#include "load.hpp"

#include <stdexcept>

namespace skep::bench {

namespace {

struct memory {
    double resident_kib;
    double live_kib;
};

memory take_stock() {
    const auto live = static_cast<double>(allocations().live);
    return {resident_bytes() / 1024, live / 1024};
}

figures per_call(const allocation_totals& before, std::uint64_t calls) {
    const auto after = allocations();
    return {{"allocations", static_cast<double>(after.count - before.count) / static_cast<double>(calls)},
            {"bytes", static_cast<double>(after.bytes - before.bytes) / static_cast<double>(calls)}};
}

/// callers=, calls=: allocations and bytes per call in the steady state.
figures measure_steady(const arguments& args) {
    figures measured;
    const auto callers = args.number("callers");
    const auto calls = args.number("calls");
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await make_calls(workers, callers, calls / 4);
        const auto before = allocations();
        co_await make_calls(workers, callers, calls);
        measured = per_call(before, calls);
    };
    with_pool(make_config(args), body);
    return measured;
}

/// calls=: the same for what a caller does in any case: building the request, and the argument in it.
figures measure_requests(const arguments& args) {
    const auto calls = args.number("calls");
    std::size_t size = 0;
    const auto before = allocations();
    for (std::size_t i = 0; i < calls; ++i) {
        request call("echo");
        call.arg("value", small_value);
        size += call.command().size();
    }
    if (size == 0) {
        throw std::runtime_error("the requests were optimised away");
    }
    return per_call(before, calls);
}

/// callers=, calls=: memory in use after 10, 50 and 100 per cent of the calls.
figures measure_growth(const arguments& args) {
    memory tenth{};
    memory half{};
    memory whole{};
    const auto callers = args.number("callers");
    const auto calls = args.number("calls");
    auto body = [&](pool& workers) -> asio::awaitable<void> {
        co_await make_calls(workers, callers, calls / 10);
        tenth = take_stock();
        co_await make_calls(workers, callers, calls / 10 * 4);
        half = take_stock();
        co_await make_calls(workers, callers, calls / 2);
        whole = take_stock();
    };
    with_pool(make_config(args), body);
    return {{"resident_10_kib", tenth.resident_kib},  {"live_10_kib", tenth.live_kib},
            {"resident_50_kib", half.resident_kib},   {"live_50_kib", half.live_kib},
            {"resident_100_kib", whole.resident_kib}, {"live_100_kib", whole.live_kib}};
}

} // namespace

} // namespace skep::bench

int main(int count, char** values) {
    using namespace skep::bench;
    return run_mode(count, values,
                    {{"steady", measure_steady}, {"requests", measure_requests}, {"growth", measure_growth}});
}
