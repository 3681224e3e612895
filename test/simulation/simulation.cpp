// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// One seed, one world: the pools in it, and what happens to them, from beginning to end.

#include "simulation/simulation.hpp"

#include "simulation/service.hpp"
#include "simulation/world.hpp"

#include <memory>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// No world is as busy, or as long, as that.
constexpr std::uint64_t most_steps = 1'000'000;
constexpr duration longest_life = 10min;

class run {
public:
    run(std::uint64_t seed, bool tracing) : world_(seed, tracing), service_(world_, seed) {}

    std::uint64_t steps() const noexcept { return world_.steps(); }

    std::optional<std::string> to_end() {
        service_.begin();
        world_.fail_allocations(with_allocation_faults ? service_.script().faults : 0);
        while (!world_.violation() && goes_on()) {}
        if (!world_.violation()) {
            service_.check_end();
        }
        return world_.violation();
    }

private:
    /// False when nothing will ever happen again.
    bool goes_on() {
        if (world_.step()) {
            if (world_.steps() > most_steps || world_.age() > longest_life) {
                service_.wrong("the world does not come to its end");
            }
            return true;
        }
        if (world_.has_context()) { // else callers are gone as they were
            service_.check_rest();
        }
        if (service_.inspect()) {
            return true;
        }
        const auto stalls = service_.script().stalls;
        if (world_.chance.chance(stalls)) {
            world_.stall(world_.chance.between(10ms, 5s));
            return true;
        }
        return world_.advance();
    }

    world world_;
    service service_;
};

} // namespace

result simulate(std::uint64_t seed, bool tracing) {
    // A world that broke a promise is left as it is: its remains would only break others.
    auto one = std::make_unique<run>(seed, tracing);
    result outcome{one->to_end(), one->steps()};
    if (outcome.violation) {
        static_cast<void>(one.release());
    }
    return outcome;
}

} // namespace skep::simulation
