// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "simulation/dice.hpp"
#include <skep/time.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

namespace skep::simulation {

/// How much goes wrong with the templates of a pool: drawn once per seed.
struct template_climate {
    bool is_there = false;  ///< the pool has launch.preload
    double bad = 0;         ///< share of the templates that something is wrong with
    double slow = 0;        ///< share of those that take long to load
    double foreign = 0;     ///< share of the workers that cannot be forks: they have another program
    bool are_alike = false; ///< all of one script have the same flaw
    std::uint64_t fate = 0; ///< which one that is
};

/// What is wrong with one template.
enum class template_flaw {
    none,
    cannot_start,
    objects,
    dies_loading,
    hangs_loading,
    // It becomes ready, but:
    dies_later,
    dies_at_fork,
    freezes_at_fork,
    fails_forks
};

/// One template: what it is going to do, what it has done, and what the pool has done with it.
struct template_record {
    std::size_t number = 0;   ///< from 1 on
    std::uint64_t script = 0; ///< the version of the script that it has loaded
    template_flaw what = template_flaw::none;
    duration load_time{};
    duration at_time{};         ///< dies_loading: since the launch; dies_later: since it was ready
    std::uint64_t at_order = 0; ///< for the flaws at a fork
    time_point launched;
    std::optional<time_point> ready; ///< its report has come, without objections
    std::optional<time_point> ended;
    bool was_ended_by_host = false;
    std::uint64_t orders = 0;
    int failed_orders = 0;   ///< in a row, with an answer that says so
    bool is_counted = false; ///< as one that has failed

    pid_t pid() const noexcept { return 3'000'000 + static_cast<pid_t>(number); }
    std::string name() const { return "template " + std::to_string(number); }
};

template_climate draw_template_climate(dice& chance);
void draw_template(template_record& fresh, dice& chance, const template_climate& weather);
const char* name_of(template_flaw what) noexcept;

} // namespace skep::simulation
