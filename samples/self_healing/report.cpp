// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "report.hpp"

#include "../common.hpp"

#include <iomanip>
#include <iostream>
#include <sstream>

void print_incidents(const std::vector<incident>& incidents) {
    std::cout << "\ntrouble                          found     whole  how it was found\n";
    for (const auto& each : incidents) {
        std::cout << std::left << std::setw(30) << each.title << std::right << std::setw(8)
                  << seconds(each.found_after) << std::setw(10) << seconds(each.whole_after) << "  "
                  << each.found << (each.as_expected ? "" : "  NOT AS EXPECTED") << '\n';
    }
}

void print_stacks(const std::vector<incident>& incidents) {
    for (const auto& each : incidents) {
        if (each.outcome != skep::errc::timeout) {
            continue;
        }
        std::cout << "\nstacks of " << to_string(each.victim) << ", taken before it was ended:\n";
        std::istringstream lines(each.stacks);
        for (std::string line; std::getline(lines, line);) {
            std::cout << "  " << line << '\n';
        }
    }
}

void print_counters(const skep::pool_counters& counters) {
    std::cout << "calls:   " << counters.submitted << " submitted = " << counters.succeeded << " succeeded + "
              << counters.failed << " failed; of these " << counters.timeouts << " timed out, "
              << counters.poisonous << " refused as poison; " << counters.retried << " sent again\n"
              << "workers: " << counters.workers_started << " started, of these " << counters.workers_lost
              << " lost (" << counters.crashes << " crashed), " << counters.workers_replaced
              << " replaced as unfit (" << counters.unhealthy_workers_terminated
              << " failed its health check), " << counters.workers_recycled << " recycled; "
              << counters.missed_pings << " pings missed\n";
}

bool adds_up(const skep::pool_status& status) {
    const auto& all = status.counters;
    return all.submitted == all.succeeded + all.failed + status.in_flight + status.queued &&
           all.workers_started == all.workers_lost + all.workers_replaced + all.workers_recycled +
                                      all.workers_removed + status.live;
}
