// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/quota_watch.hpp"
#include "session/session_table.hpp"
#include "support/start_time.hpp"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>
#include <string>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(session_table_test)

namespace {

using test::start;

struct trial {
    session_table table{100};
    session_entry_ptr dropped;

    session_entry& add(const std::string& id, duration ttl, time_point now) {
        const session_entry_ptr added(new session_entry(id, session_data().ttl(ttl), {}));
        table.insert(added, now);
        return *added;
    }

    session_entry* find(const std::string& id, time_point now) {
        return table.find(session_key(id), now, dropped);
    }

    std::size_t sweep(time_point now) {
        std::size_t count = 0;
        for (session_entry_ptr swept; table.sweep_one(now, swept); swept.reset()) {
            count += swept ? 1 : 0;
        }
        return count;
    }

    /// How many are looked at.
    std::size_t looks(time_point now) {
        std::size_t count = 0;
        for (session_entry_ptr swept; table.sweep_one(now, swept);) {
            ++count;
        }
        return count;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(a_session_lives_for_its_ttl_and_not_a_nanosecond_longer) {
    trial of;
    auto& added = of.add("a", 10s, start);
    BOOST_TEST(of.find("a", start + 10s) == &added);
    BOOST_TEST(of.looks(start + 10s) == 0u);
    BOOST_TEST(of.find("a", start + 10s + 1ns) == nullptr);
    BOOST_TEST(of.dropped.get() == &added);
    BOOST_TEST(of.table.usage().count == 0u);
    BOOST_TEST(of.table.usage().expired == 1u);
    BOOST_TEST(of.table.usage().memory_bytes == 0u);
}

BOOST_AUTO_TEST_CASE(what_expires_within_one_second_is_found_to_the_nanosecond) {
    trial of;
    of.add("a", 10s, start);
    of.add("b", 10s, start + 1ns);
    BOOST_TEST(of.sweep(start + 10s) == 0u);
    BOOST_TEST(of.sweep(start + 10s + 1ns) == 1u);
    BOOST_TEST(of.find("b", start + 10s + 1ns) != nullptr);
    BOOST_TEST(of.sweep(start + 10s + 2ns) == 1u);
}

BOOST_AUTO_TEST_CASE(what_is_filed_anew_within_one_second_holds_up_nothing) {
    trial of;
    auto& accessed = of.add("a", 2s, start);
    of.add("b", 2s, start + 100ms);
    of.table.touch(accessed, start + 500ms);
    BOOST_TEST(of.sweep(start + 2s + 100ms) == 0u);
    BOOST_TEST(of.sweep(start + 2s + 100ms + 1ns) == 1u);
    BOOST_TEST(of.find("a", start + 2s + 500ms) == &accessed);
}

BOOST_AUTO_TEST_CASE(with_several_ttls_it_is_swept_within_a_second) {
    trial of;
    of.add("ends last", 10s + 900ms, start);
    of.add("ends first", 10s, start);
    BOOST_TEST(of.sweep(start + 10s + 1ms) == 0u);
    BOOST_TEST(of.sweep(start + 11s) == 2u);
}

BOOST_AUTO_TEST_CASE(an_access_begins_the_idle_time_anew) {
    trial of;
    auto& added = of.add("a", 10s, start);
    of.table.touch(added, start + 8s);
    BOOST_TEST(of.sweep(start + 18s) == 0u);
    BOOST_TEST(of.sweep(start + 18s + 1ns) == 1u);
}

BOOST_AUTO_TEST_CASE(a_sweep_looks_at_what_has_expired_and_what_is_about_to) {
    trial of;
    for (int i = 0; i < 1000; ++i) {
        of.add("dead " + std::to_string(i), 100s, start);
        auto& accessed = of.add("alive " + std::to_string(i), 1000s, start);
        of.table.touch(accessed, start + 90s); // not enough to be filed anew
        auto& moved = of.add("filed anew " + std::to_string(i), 160s, start);
        of.table.touch(moved, start + 90s);
    }
    BOOST_TEST(of.looks(start + 200s) == 1000u);
    BOOST_TEST(of.table.usage().count == 2000u);
    BOOST_TEST(of.looks(start + 250s) == 0u);
    BOOST_TEST(of.looks(start + 252s) == 1000u);
    BOOST_TEST(of.looks(start + 1001s) == 1000u); // and all are alive
    BOOST_TEST(of.table.usage().count == 1000u);
    BOOST_TEST(of.looks(start + 1001s) == 0u);
    BOOST_TEST(of.looks(start + 1091s) == 1000u);
    BOOST_TEST(of.table.usage().count == 0u);
}

BOOST_AUTO_TEST_CASE(long_ids_that_begin_alike_are_told_apart) {
    trial of;
    const std::string beginning(50, 'x');
    auto& a = of.add(beginning + "a", 10s, start);
    auto& b = of.add(beginning + "b", 10s, start);
    auto& shorter = of.add(beginning, 10s, start);
    auto& shortest = of.add(beginning.substr(0, 40), 10s, start);
    BOOST_TEST(of.find(beginning + "a", start) == &a);
    BOOST_TEST(of.find(beginning + "b", start) == &b);
    BOOST_TEST(of.find(beginning, start) == &shorter);
    BOOST_TEST(of.find(beginning.substr(0, 40), start) == &shortest);
    BOOST_TEST(of.find(beginning.substr(0, 39), start) == nullptr);
    BOOST_TEST(of.find(beginning + "c", start) == nullptr);
}

BOOST_AUTO_TEST_CASE(every_state_of_a_session_has_a_version_of_its_own) {
    trial of;
    auto& first = of.add("a", 10s, start);
    const auto inserted = first.version;
    BOOST_TEST(inserted > 0u);
    session_entry_ptr content(new session_entry("a", session_data().ttl(20s), {}));
    auto& second = *content;
    of.table.replace(first, content, start + 5s);
    BOOST_TEST(content.get() == &first); // to be destroyed by the caller
    BOOST_TEST(of.find("a", start + 5s) == &second);
    BOOST_TEST(second.version > inserted);
    BOOST_TEST((second.created == start));
    BOOST_TEST(of.table.usage().memory_bytes == second.bytes);
    BOOST_TEST(of.sweep(start + 25s) == 0u);
    const auto replaced = second.version;
    of.table.remove(second);
    BOOST_TEST(of.add("a", 10s, start + 6s).version > replaced);
}

BOOST_AUTO_TEST_CASE(agrees_with_a_model_over_random_operations) {
    struct fate {
        time_point last_accessed;
        duration ttl;
    };
    std::mt19937 random(11);
    std::map<std::string, fate> model;
    trial of;
    auto now = start;
    const auto lives = [&](const std::string& id) {
        const auto found = model.find(id);
        return found != model.end() && found->second.last_accessed + found->second.ttl >= now;
    };
    for (int i = 0; i < 100'000; ++i) {
        now += std::chrono::milliseconds(random() % 20);
        const auto id = std::to_string(random() % 300);
        auto* const entry = of.find(id, now);
        BOOST_REQUIRE_EQUAL(entry != nullptr, lives(id));
        if (entry == nullptr) {
            model[id] = {now, std::chrono::milliseconds(1 + random() % 5000)};
            of.add(id, model[id].ttl, now);
        } else if (random() % 8 == 0) {
            of.table.remove(*entry);
            model.erase(id);
        } else {
            of.table.touch(*entry, now);
            model[id].last_accessed = now;
        }
        if (random() % 16 == 0) {
            for (session_entry_ptr swept; of.table.sweep_one(now, swept); swept.reset()) {
                if (swept) {
                    BOOST_REQUIRE(!lives(swept->id));
                    model.erase(swept->id);
                }
            }
            for (const auto& [each, life] : model) { // nobody is left who ended more than a second ago
                BOOST_REQUIRE((life.last_accessed + life.ttl >= now - 1s));
            }
            BOOST_REQUIRE_EQUAL(of.table.usage().count, model.size());
        }
    }
}

BOOST_AUTO_TEST_CASE(a_quota_warns_once_when_four_fifths_are_reached) {
    quota_watch watch(10);
    for (std::size_t count = 0; count < 8; ++count) {
        BOOST_TEST(!watch.warns_at(count), count);
    }
    BOOST_TEST(watch.warns_at(8));
    BOOST_TEST(!watch.warns_at(9));
    BOOST_TEST(!watch.warns_at(7)); // too little of a change
    BOOST_TEST(!watch.warns_at(8));
    BOOST_TEST(!watch.warns_at(6));
    BOOST_TEST(watch.warns_at(8));
    BOOST_TEST(quota_watch(1).warns_at(1));
    BOOST_TEST(quota_watch(10'000'000).warns_at(8'000'000));
    BOOST_TEST(!quota_watch(10'000'000).warns_at(7'999'999));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
