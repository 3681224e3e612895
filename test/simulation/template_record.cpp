// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/template_record.hpp"

namespace skep::simulation {

using namespace std::chrono_literals;

template_climate draw_template_climate(dice& chance) {
    template_climate weather;
    weather.is_there = true;
    weather.bad = chance.pick({0.0, 0.2, 0.5, 1.0});
    weather.slow = chance.pick({0.0, 0.1, 0.5});
    weather.foreign = chance.pick({0.0, 0.0, 0.2});
    weather.are_alike = chance.chance(0.3);
    weather.fate = chance.bits();
    return weather;
}

void draw_template(template_record& fresh, dice& chance, const template_climate& weather) {
    dice fate(weather.are_alike ? weather.fate + fresh.script : chance.bits());
    if (fate.chance(weather.bad)) {
        fresh.what =
            fate.pick({template_flaw::cannot_start, template_flaw::objects, template_flaw::objects,
                       template_flaw::dies_loading, template_flaw::hangs_loading, template_flaw::dies_later,
                       template_flaw::dies_later, template_flaw::dies_at_fork, template_flaw::freezes_at_fork,
                       template_flaw::fails_forks});
    }
    fresh.load_time = chance.chance(weather.slow) ? chance.between(200ms, 2s)
                      : chance.chance(0.3)        ? 0ms
                                                  : chance.between(0ms, 200ms);
    fresh.at_time = fresh.what == template_flaw::dies_loading ? chance.between(0ms, fresh.load_time)
                                                              : chance.between(0ms, 10s);
    fresh.at_order = chance.among(1, 4);
}

const char* name_of(template_flaw what) noexcept {
    switch (what) {
    case template_flaw::none: return "well";
    case template_flaw::cannot_start: return "cannot start";
    case template_flaw::objects: return "objects";
    case template_flaw::dies_loading: return "dies loading";
    case template_flaw::hangs_loading: return "hangs loading";
    case template_flaw::dies_later: return "dies later";
    case template_flaw::dies_at_fork: return "dies at a fork";
    case template_flaw::freezes_at_fork: return "freezes at a fork";
    case template_flaw::fails_forks: return "fails forks";
    }
    return "?";
}

} // namespace skep::simulation
