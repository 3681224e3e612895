// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_bench MODE KEY=VALUE...: one round of one measurement of the library, as one line of JSON.

#include "modes.hpp"

#include <exception>
#include <iostream>
#include <map>

int main(int count, char** values) {
    using namespace skep::bench;
    static const std::map<std::string, figures (*)(const arguments&)> modes{
        {"serial", measure_serial}, {"throughput", measure_throughput}, {"payload", measure_payload},
        {"queue", measure_queue},   {"schedulers", measure_schedulers}, {"start", measure_start},
        {"idle", measure_idle}};
    try {
        const arguments args(count, values);
        const auto mode = modes.find(args.mode());
        if (mode == modes.end()) {
            throw std::invalid_argument("no mode named '" + args.mode() + "'");
        }
        print(mode->second(args));
        return 0;
    } catch (const std::exception& e) {
        std::cerr << "skep_bench: " << e.what() << '\n';
        return 1;
    }
}
