// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "pool/demand/slot_bitmap.hpp"
#include "pool/demand/slot_list.hpp"
#include <skep/scheduler.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(schedulers)

namespace {

using slot_number = std::uint32_t;
using choice = std::optional<slot_number>;

constexpr claim_view any; // the built-in ones do not look at it

std::string text(const choice& which) {
    return which ? std::to_string(*which) : "none";
}

/// The schedulers once more, without any cleverness.
class model : public scheduler {
public:
    explicit model(scheduling kind) : kind_(kind) {}

    void offer(slot_number slot, std::size_t load) override {
        const bool fresh = free_.find(slot) == free_.end();
        auto& entry = free_[slot];
        const bool goes_by_load = kind_ == scheduling::least_loaded || kind_ == scheduling::pack;
        if (fresh || (goes_by_load && entry.load != load)) {
            entry.since = ++time_;
        }
        entry.load = load;
    }

    void withdraw(slot_number slot) override { free_.erase(slot); }

    choice pick(const claim_view&) override {
        choice best;
        for (const auto& [slot, entry] : free_) {
            if (!best || rank(slot) < rank(*best)) {
                best = slot;
            }
        }
        if (best) {
            next_ = *best + 1;
        }
        return best;
    }

private:
    struct entry {
        std::size_t load = 0;
        long since = 0;
    };

    std::tuple<long, long> rank(slot_number slot) const {
        const auto& mine = free_.at(slot);
        switch (kind_) {
        case scheduling::least_loaded: return {static_cast<long>(mine.load), -mine.since};
        case scheduling::pack: return {-static_cast<long>(mine.load), -mine.since};
        case scheduling::round_robin: return {slot < next_ ? 1 : 0, static_cast<long>(slot)};
        case scheduling::lifo: return {0, -mine.since};
        default: return {0, mine.since};
        }
    }

    scheduling kind_;
    std::map<slot_number, entry> free_;
    long time_ = 0;
    slot_number next_ = 0;
};

void compare_with_model(scheduling kind, slot_number slots, std::size_t loads, unsigned seed) {
    std::mt19937 random(seed);
    const auto real = make_scheduler(kind);
    model wanted(kind);
    for (int i = 0; i < 20'000; ++i) {
        const slot_number slot = random() % slots;
        switch (random() % 5) {
        case 0:
        case 1: {
            const std::size_t load = random() % loads;
            real->offer(slot, load);
            wanted.offer(slot, load);
            break;
        }
        case 2:
            real->withdraw(slot);
            wanted.withdraw(slot);
            break;
        default: BOOST_REQUIRE_EQUAL(text(real->pick(any)), text(wanted.pick(any))); break;
        }
    }
}

/// As a pool does it: a picked slot gets a call, a random call ends, a slot at capacity is withdrawn.
void compare_in_use(scheduling kind, slot_number slots, std::size_t capacity) {
    std::mt19937 random(29);
    const auto real = make_scheduler(kind);
    model wanted(kind);
    std::vector<std::size_t> load(slots);
    const auto refresh = [&](slot_number slot) {
        for (auto* const each : {static_cast<scheduler*>(real.get()), static_cast<scheduler*>(&wanted)}) {
            load[slot] < capacity ? each->offer(slot, load[slot]) : each->withdraw(slot);
        }
    };
    for (slot_number slot = 0; slot < slots; ++slot) {
        refresh(slot);
    }
    for (int i = 0; i < 20'000; ++i) {
        if (random() % 2 == 0) {
            const auto picked = real->pick(any);
            BOOST_REQUIRE_EQUAL(text(picked), text(wanted.pick(any)));
            if (picked) {
                BOOST_REQUIRE_LT(load[*picked], capacity);
                ++load[*picked];
                refresh(*picked);
            }
        } else if (const slot_number slot = random() % slots; load[slot] > 0) {
            --load[slot];
            refresh(slot);
        }
    }
}

constexpr scheduling every_kind[] = {scheduling::least_loaded, scheduling::round_robin, scheduling::lifo,
                                     scheduling::fifo, scheduling::pack};

} // namespace

BOOST_AUTO_TEST_CASE(none_picks_when_nothing_is_on_offer) {
    for (const auto kind : every_kind) {
        const auto which = make_scheduler(kind);
        BOOST_TEST(text(which->pick(any)) == "none");
        which->withdraw(7);
        BOOST_TEST(text(which->pick(any)) == "none");
        which->offer(7, 0);
        BOOST_TEST(text(which->pick(any)) == "7");
        which->withdraw(7);
        BOOST_TEST(text(which->pick(any)) == "none");
    }
}

BOOST_AUTO_TEST_CASE(a_picked_slot_stays_on_offer) {
    for (const auto kind : every_kind) {
        const auto which = make_scheduler(kind);
        which->offer(3, 0);
        BOOST_TEST(text(which->pick(any)) == "3");
        BOOST_TEST(text(which->pick(any)) == "3");
    }
}

BOOST_AUTO_TEST_CASE(least_loaded_prefers_the_lowest_load_and_then_the_one_used_last) {
    const auto which = make_scheduler(scheduling::least_loaded);
    which->offer(0, 2);
    which->offer(1, 1);
    which->offer(2, 1);
    BOOST_TEST(text(which->pick(any)) == "2");
    which->offer(2, 2);
    BOOST_TEST(text(which->pick(any)) == "1");
    which->offer(1, 2);
    BOOST_TEST(text(which->pick(any)) == "1");
    which->offer(0, 2);
    BOOST_TEST(text(which->pick(any)) == "1"); // the others keep their places
}

BOOST_AUTO_TEST_CASE(pack_prefers_the_highest_load_and_then_the_one_used_last) {
    const auto which = make_scheduler(scheduling::pack);
    which->offer(0, 0);
    which->offer(1, 1);
    which->offer(2, 1);
    BOOST_TEST(text(which->pick(any)) == "2");
    which->withdraw(2);
    BOOST_TEST(text(which->pick(any)) == "1");
    which->withdraw(1);
    BOOST_TEST(text(which->pick(any)) == "0");
}

BOOST_AUTO_TEST_CASE(round_robin_goes_round) {
    const auto which = make_scheduler(scheduling::round_robin);
    for (const slot_number slot : {5, 0, 200}) {
        which->offer(slot, 0);
    }
    for (const auto* const wanted : {"0", "5", "200", "0", "5", "200"}) {
        BOOST_TEST(text(which->pick(any)) == wanted);
    }
}

BOOST_AUTO_TEST_CASE(lifo_takes_the_newest_and_fifo_the_oldest) {
    const auto newest = make_scheduler(scheduling::lifo);
    const auto oldest = make_scheduler(scheduling::fifo);
    for (const slot_number slot : {4, 2, 9}) {
        newest->offer(slot, 0);
        oldest->offer(slot, 0);
    }
    BOOST_TEST(text(newest->pick(any)) == "9");
    BOOST_TEST(text(oldest->pick(any)) == "4");
}

BOOST_AUTO_TEST_CASE(each_agrees_with_its_model_over_random_operations) {
    for (const auto kind : every_kind) {
        BOOST_TEST_CONTEXT("kind " << static_cast<int>(kind)) {
            compare_with_model(kind, 12, 4, 1);
            compare_with_model(kind, 100, 30, 2);
        }
    }
}

BOOST_AUTO_TEST_CASE(each_agrees_with_its_model_in_use) {
    for (const auto kind : every_kind) {
        BOOST_TEST_CONTEXT("kind " << static_cast<int>(kind)) {
            compare_in_use(kind, 1, 1);
            compare_in_use(kind, 16, 1);
            compare_in_use(kind, 30, 7);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_slot_list_agrees_with_a_plain_list) {
    std::mt19937 random(5);
    slot_list list;
    std::list<slot_number> wanted;
    for (int i = 0; i < 20'000; ++i) {
        const slot_number slot = random() % 64;
        const auto found = std::find(wanted.begin(), wanted.end(), slot);
        BOOST_REQUIRE_EQUAL(list.contains(slot), found != wanted.end());
        if (random() % 2 == 0) {
            list.remove(slot);
            if (found != wanted.end()) {
                wanted.erase(found);
            }
        } else if (found == wanted.end()) {
            list.push_back(slot);
            wanted.push_back(slot);
        }
        BOOST_REQUIRE_EQUAL(list.empty(), wanted.empty());
        BOOST_REQUIRE_EQUAL(text(list.front()), text(wanted.empty() ? choice() : choice(wanted.front())));
        BOOST_REQUIRE_EQUAL(text(list.back()), text(wanted.empty() ? choice() : choice(wanted.back())));
    }
}

BOOST_AUTO_TEST_CASE(a_slot_bitmap_agrees_with_a_plain_set) {
    for (const slot_number slots : {1u, 64u, 65u, 4096u, 4097u, 70'000u}) {
        std::mt19937 random(slots);
        slot_bitmap bitmap;
        std::set<slot_number> wanted;
        for (int i = 0; i < 30'000; ++i) {
            const slot_number slot = random() % slots;
            // Sparse most of the time, so that there are words and groups of words to skip.
            if (random() % 8 == 0) {
                bitmap.set(slot);
                wanted.insert(slot);
            } else if (!wanted.empty()) {
                const auto gone = wanted.lower_bound(slot);
                const auto victim = gone == wanted.end() ? slot : *gone;
                bitmap.clear(victim);
                wanted.erase(victim);
            }
            const slot_number from = random() % (slots + 100);
            const auto next = wanted.lower_bound(from);
            BOOST_REQUIRE_EQUAL(text(bitmap.first_from(from)),
                                text(next == wanted.end() ? choice() : choice(*next)));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_dense_slot_bitmap_agrees_too) {
    std::mt19937 random(8);
    slot_bitmap bitmap;
    std::set<slot_number> wanted;
    for (slot_number slot = 0; slot < 10'000; ++slot) {
        bitmap.set(slot);
        wanted.insert(slot);
    }
    while (!wanted.empty()) {
        const slot_number from = random() % 10'000;
        const auto next = wanted.lower_bound(from);
        const auto got = bitmap.first_from(from);
        BOOST_REQUIRE_EQUAL(text(got), text(next == wanted.end() ? choice() : choice(*next)));
        const auto victim = next == wanted.end() ? *wanted.begin() : *next;
        bitmap.clear(victim);
        wanted.erase(victim);
    }
    BOOST_TEST(text(bitmap.first_from(0)) == "none");
}

BOOST_AUTO_TEST_SUITE_END()
