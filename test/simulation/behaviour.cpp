// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "simulation/behaviour.hpp"

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

flaw draw_flaw(dice& chance, const climate& weather, duration age) {
    if (age < weather.barren || chance.chance(weather.bad_starts)) {
        return chance.pick({flaw::spawn_fails, flaw::start_hangs, flaw::says_nothing, flaw::never_ready,
                            flaw::dies_early, flaw::wrong_token, flaw::wrong_version, flaw::early_garbage});
    }
    if (chance.chance(weather.bad_workers)) {
        return chance.pick({flaw::crashes_at_byte, flaw::crashes_at_byte, flaw::crashes_at_call,
                            flaw::crashes_at_call, flaw::crashes_later, flaw::exits_later, flaw::freezes,
                            flaw::freezes, flaw::lies, flaw::lies, flaw::closes_data, flaw::closes_control,
                            flaw::fails_probes, flaw::grows, flaw::floods});
    }
    return flaw::none;
}

void draw_end(behaviour& drawn, dice& chance, const climate& weather, const pool_config& config) {
    drawn.dies_as = chance.pick({exit_status::signalled(11), exit_status::signalled(6),
                                 exit_status::signalled(9), exit_status::signalled(15),
                                 exit_status::exited(1), exit_status::exited(77), exit_status::exited(0)});
    drawn.was_oom_killed = chance.chance(0.3);
    drawn.term_time = chance.chance(0.5) ? 0ms : chance.between(0ms, 300ms);
    if (chance.chance(weather.stubborn)) {
        drawn.ignores_terminate = chance.chance(0.7);
        drawn.ignores_shutdown = chance.chance(0.7);
        drawn.kill_time = chance.chance(0.2) ? config.stop.reap_timeout * 3
                                             : chance.between(0ms, config.stop.reap_timeout / 2);
    }
    drawn.dies_of_lie = drawn.what == flaw::lies && chance.chance(0.3);
    drawn.company_time = chance.chance(0.15) ? chance.between(0ms, 500ms) : 0ms;
    if (chance.chance(0.1)) {
        drawn.last_words = chance.chance(0.5) ? "CUDA error: device-side assert triggered" : "MemoryError";
    }
}

} // namespace

behaviour draw_behaviour(dice& chance, const climate& weather, const pool_config& config, duration age) {
    behaviour drawn;
    drawn.what = draw_flaw(chance, weather, age);
    drawn.how = static_cast<lie>(chance.below(static_cast<std::size_t>(lie::result_over_control) + 1));
    drawn.spawn_time = chance.chance(0.7) ? 0ms : chance.between(0ms, 100ms);
    drawn.hello_time = chance.between(0ms, 50ms);
    drawn.ready_time = chance.chance(0.3) ? 0ms : chance.between(0ms, 500ms);
    drawn.waits_for_welcome = chance.chance(0.8);
    drawn.offers =
        chance.chance(weather.small_offers) ? chance.among(1, 2) : config.capacity + chance.below(3);
    drawn.at_byte = chance.among(1, 3000);
    drawn.at_call = chance.among(1, 8);
    drawn.at_time = chance.between(0ms, 10s);
    drawn.frozen_for = chance.chance(0.5) ? 0s : chance.between(100ms, 20s);
    drawn.ignores_cancel = chance.chance(weather.deaf_to_cancel);
    drawn.has_probe = chance.chance(weather.probing) || drawn.what == flaw::fails_probes;
    drawn.own_probe = chance.chance(0.7);
    drawn.stack_signal = chance.chance(0.3) ? 10 : 0;
    drawn.resident = weather.fresh_bytes;
    drawn.growth = drawn.what == flaw::grows ? weather.growth : 0;
    draw_end(drawn, chance, weather, config);
    drawn.gives_back = weather.recalling > 0 && chance.chance(weather.recalling);
    return drawn;
}

bool comes_up(flaw what) noexcept {
    return what == flaw::none || what >= flaw::crashes_at_byte;
}

const char* name_of(flaw what) noexcept {
    switch (what) {
    case flaw::none: return "well";
    case flaw::spawn_fails: return "spawn fails";
    case flaw::start_hangs: return "start hangs";
    case flaw::says_nothing: return "says nothing";
    case flaw::never_ready: return "never ready";
    case flaw::dies_early: return "dies early";
    case flaw::wrong_token: return "wrong token";
    case flaw::wrong_version: return "wrong version";
    case flaw::early_garbage: return "early garbage";
    case flaw::crashes_at_byte: return "crashes at a byte";
    case flaw::crashes_at_call: return "crashes at a call";
    case flaw::crashes_later: return "crashes later";
    case flaw::exits_later: return "exits later";
    case flaw::freezes: return "freezes";
    case flaw::lies: return "lies";
    case flaw::closes_data: return "closes its data channel";
    case flaw::closes_control: return "closes its control channel";
    case flaw::fails_probes: return "fails its probes";
    case flaw::grows: return "grows";
    case flaw::floods: return "floods";
    }
    return "?";
}

} // namespace skep::simulation
