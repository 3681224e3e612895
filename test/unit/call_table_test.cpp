// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/call_table.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <vector>

using namespace skep;

BOOST_AUTO_TEST_SUITE(call_table_test)

namespace {

/// A table of calls with ids 1, 2, ..., of which a worker takes `capacity` at a time.
struct trial {
    explicit trial(std::size_t capacity, std::size_t calls = 0) {
        table.set_capacity(capacity);
        for (std::size_t i = 0; i < calls; ++i) {
            add();
        }
    }

    call& add(std::uint64_t begin = 0) {
        const call_ptr fresh(new call(request("x"), nullptr));
        fresh->id = table.next_id();
        fresh->state = call_state::running;
        table.add(*fresh, begin);
        calls.push_back(fresh);
        return *fresh;
    }

    /// Adds the calls of a batch.
    void add_batch(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            const call_ptr fresh(new call(request("x"), nullptr));
            fresh->id = table.next_id();
            fresh->state = call_state::running;
            table.add(*fresh, 0, i > 0);
            calls.push_back(fresh);
        }
    }

    call& add(pace expected) {
        const call_ptr fresh(new call(request("x"), nullptr));
        fresh->id = table.next_id();
        fresh->expected_pace = expected;
        table.add(*fresh, 0);
        calls.push_back(fresh);
        return *fresh;
    }

    std::vector<call*> just_begun() const {
        std::vector<call*> result;
        table.for_each_just_begun([&](call& each) { result.push_back(&each); });
        return result;
    }

    call& get(std::uint64_t id) { return *calls.at(id - 1); }
    void abandon(std::uint64_t id) { get(id).state = call_state::abandoned; }

    call_table table;
    std::vector<call_ptr> calls; ///< all there ever were
};

} // namespace

BOOST_AUTO_TEST_CASE(a_new_one_has_neither_calls_nor_room) {
    const call_table table;
    BOOST_TEST(table.empty());
    BOOST_TEST(table.load() == 0u);
    BOOST_TEST(table.capacity() == 0u);
    BOOST_TEST(table.is_full());
    BOOST_TEST(table.is_drained());
    BOOST_TEST(table.next_id() == 1u);
}

BOOST_AUTO_TEST_CASE(ids_are_given_out_once_and_in_order) {
    trial of(2);
    BOOST_TEST(of.add().id == 1u);
    BOOST_TEST(of.add().id == 2u);
    of.table.take(1);
    of.table.take(2);
    BOOST_TEST(of.table.empty());
    BOOST_TEST(of.add().id == 3u);
}

BOOST_AUTO_TEST_CASE(each_can_be_taken_once_in_any_order) {
    trial of(3, 3);
    BOOST_TEST(of.table.take(2).get() == &of.get(2));
    BOOST_TEST(!of.table.take(2));
    BOOST_TEST(of.table.load() == 2u);
    BOOST_TEST(of.table.take(3).get() == &of.get(3));
    BOOST_TEST(of.table.take(1).get() == &of.get(1));
    BOOST_TEST(of.table.empty());
}

BOOST_AUTO_TEST_CASE(agrees_with_a_plain_map_over_random_operations) {
    std::mt19937 random(5);
    trial of(8);
    std::map<std::uint64_t, const call*> model;
    for (int i = 0; i < 20'000; ++i) {
        const auto most = static_cast<std::size_t>(1 + i / 200); // it grows, and comes around many times
        if (model.size() < most && random() % 3 != 0) {
            const auto id = of.table.next_id();
            model[id] = &of.add();
        } else if (!model.empty()) {
            const bool is_in_order = random() % 2 == 0;
            const auto place = is_in_order ? 0 : static_cast<long>(random() % model.size());
            const auto found = std::next(model.begin(), place);
            BOOST_REQUIRE(of.table.take(found->first).get() == found->second);
            BOOST_REQUIRE(!of.table.take(found->first));
            model.erase(found);
        }
        std::vector<const call*> calls;
        of.table.for_each(of.table.load(), [&](const call& each) { calls.push_back(&each); });
        BOOST_REQUIRE(std::equal(calls.begin(), calls.end(), model.begin(), model.end(),
                                 [](const call* one, const auto& other) { return one == other.second; }));
    }
}

/// Against the plain rules: a batch takes one place, and the places begin in order.
BOOST_AUTO_TEST_CASE(batches_take_a_place_each_over_random_operations) {
    std::mt19937 random(7);
    trial of(3);
    std::map<std::uint64_t, std::uint64_t> model; // ids and their places
    for (int i = 0; i < 20'000; ++i) {
        if (model.size() < 30 && random() % 3 == 0) {
            const auto place = of.table.next_id();
            const auto size = 1 + random() % 5;
            of.add_batch(size);
            for (std::uint64_t id = place; id < place + size; ++id) {
                model[id] = place;
            }
        } else if (!model.empty()) {
            const auto found = std::next(model.begin(), static_cast<long>(random() % model.size()));
            BOOST_REQUIRE(of.table.take(found->first));
            model.erase(found);
        }
        std::vector<std::uint64_t> places;
        std::size_t begun = 0;
        std::uint64_t last_begun = 0;
        for (const auto& [id, place] : model) {
            if (places.empty() || places.back() != place) {
                places.push_back(place);
            }
            const bool is_begun = places.size() <= 3;
            begun += is_begun ? 1 : 0;
            last_begun = is_begun ? id : last_begun;
            BOOST_REQUIRE(of.table.is_pipelined(of.get(id)) == (places.size() > 3));
        }
        BOOST_REQUIRE(of.table.load() == places.size());
        BOOST_REQUIRE(of.table.size() == model.size());
        BOOST_REQUIRE(of.table.begun() == begun);
        const auto just_begun = of.just_begun();
        BOOST_REQUIRE(just_begun.empty() == (places.size() < 3));
        BOOST_REQUIRE(just_begun.empty() || just_begun.back() == &of.get(last_begun));
    }
}

BOOST_AUTO_TEST_CASE(the_calls_of_a_batch_share_its_place) {
    trial of(1, 1);
    of.add_batch(3);
    std::vector<std::uint64_t> ids;
    of.table.take(3);
    of.table.for_each_in_place(of.get(4), [&](const call& each) { ids.push_back(each.id); });
    BOOST_TEST(ids == (std::vector<std::uint64_t>{2, 4}), boost::test_tools::per_element());
    of.abandon(2);
    BOOST_TEST(!of.table.is_place_deserted(of.get(2)));
    of.abandon(4);
    BOOST_TEST(of.table.is_place_deserted(of.get(2)));
}

BOOST_AUTO_TEST_CASE(an_id_that_was_never_given_out_is_nobodys) {
    trial of(3, 1);
    BOOST_TEST(!of.table.take(0));
    BOOST_TEST(!of.table.take(2));
    BOOST_TEST(!of.table.take(UINT64_MAX));
    BOOST_TEST(of.table.load() == 1u);
}

BOOST_AUTO_TEST_CASE(the_last_comes_with_where_it_begins) {
    trial of(1);
    of.add(0);
    of.add(100);
    of.add(250);
    of.table.take(2);
    const auto last = of.table.take_last();
    BOOST_TEST(last.sent.get() == &of.get(3));
    BOOST_TEST(last.begin == 250u);
    const auto first = of.table.take_last();
    BOOST_TEST(first.sent.get() == &of.get(1));
    BOOST_TEST(first.begin == 0u);
    BOOST_TEST(of.table.empty());
}

BOOST_AUTO_TEST_CASE(it_holds_one_reference_to_each) {
    trial of(1, 1);
    BOOST_TEST(of.get(1).use_count() == 2u);
    of.table.take(1);
    BOOST_TEST(of.get(1).use_count() == 1u);
    of.add();
    BOOST_TEST(of.get(2).use_count() == 2u);
    of.table.take_last();
    BOOST_TEST(of.get(2).use_count() == 1u);
}

BOOST_AUTO_TEST_CASE(it_is_full_at_its_capacity) {
    trial of(2);
    BOOST_TEST(!of.table.is_full());
    of.add();
    BOOST_TEST(!of.table.is_full());
    of.add();
    BOOST_TEST(of.table.is_full());
    of.add(); // pipelined
    BOOST_TEST(of.table.is_full());
    of.table.take(1);
    BOOST_TEST(of.table.is_full());
    of.table.take(2);
    BOOST_TEST(!of.table.is_full());
}

BOOST_AUTO_TEST_CASE(those_beyond_its_capacity_are_pipelined) {
    for (const std::size_t capacity : {1u, 2u, 3u}) {
        trial of(capacity);
        for (std::uint64_t added = 1; added <= 5; ++added) {
            of.add();
            for (std::uint64_t id = 1; id <= added; ++id) {
                BOOST_TEST(of.table.is_pipelined(of.get(id)) == (id > capacity),
                           "call " << id << " of " << added);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(each_answer_lets_the_next_begin_whichever_it_answers) {
    trial of(2, 4);
    of.table.take(2);
    BOOST_TEST(!of.table.is_pipelined(of.get(1)));
    BOOST_TEST(!of.table.is_pipelined(of.get(3)));
    BOOST_TEST(of.table.is_pipelined(of.get(4)));
    of.table.take(1);
    BOOST_TEST(!of.table.is_pipelined(of.get(4)));
}

BOOST_AUTO_TEST_CASE(what_an_answer_let_begin) {
    trial of(2, 4);
    of.table.take(1);
    BOOST_TEST((of.just_begun() == std::vector{&of.get(3)}));
    of.table.take(2);
    BOOST_TEST((of.just_begun() == std::vector{&of.get(4)}));
    of.table.take(3);
    BOOST_TEST(of.just_begun().empty());
    of.table.take(4);
    BOOST_TEST(of.just_begun().empty());
}

/// The worker has skipped the recalled call, or begun it: until it says so, both are possible.
BOOST_AUTO_TEST_CASE(a_recalled_call_takes_no_place) {
    trial of(1, 4);
    of.table.recall(of.get(2));
    BOOST_TEST(of.table.begun() == 1u);
    BOOST_TEST(of.table.is_pipelined(of.get(2)));
    of.table.take(1);
    BOOST_TEST(of.table.begun() == 2u);
    BOOST_TEST((of.just_begun() == std::vector{&of.get(2), &of.get(3)}));
    BOOST_TEST(!of.table.is_pipelined(of.get(3)));
    BOOST_TEST(of.table.is_pipelined(of.get(4)));
    BOOST_TEST(of.table.is_any_recalled());
    of.table.take(2);
    BOOST_TEST(!of.table.is_any_recalled());
    BOOST_TEST((of.just_begun() == std::vector{&of.get(3)}));
}

BOOST_AUTO_TEST_CASE(all_that_it_cannot_have_begun_may_be_recalled_last_sent_first) {
    trial of(2, 5);
    std::vector<std::uint64_t> recalled;
    of.table.for_each_pipelined([&](call& each) {
        recalled.push_back(each.id);
        of.table.recall(each);
    });
    BOOST_TEST(recalled == (std::vector<std::uint64_t>{5, 4, 3}), boost::test_tools::per_element());
    BOOST_TEST(of.table.begun() == 2u);
    of.table.take(1);
    BOOST_TEST(of.table.begun() == 4u);
    while (!of.table.empty()) {
        of.table.take_last();
    }
    BOOST_TEST(!of.table.is_any_recalled());
}

BOOST_AUTO_TEST_CASE(its_slowest_call_counts) {
    trial of(2);
    BOOST_TEST((of.table.slowest() == pace::fast));
    of.add(pace::fast);
    of.add(pace::brisk);
    BOOST_TEST((of.table.slowest() == pace::brisk));
    of.add(pace::slow);
    BOOST_TEST((of.table.slowest() == pace::slow));
    of.table.take(3);
    of.table.take(2);
    BOOST_TEST((of.table.slowest() == pace::fast));
    of.table.slow_down();
    BOOST_TEST((of.table.slowest() == pace::slow));
    of.table.take_last();
    BOOST_TEST((of.table.slowest() == pace::fast));
}

BOOST_AUTO_TEST_CASE(drained_if_nobody_waits_for_what_it_has_begun) {
    trial of(2, 3);
    BOOST_TEST(!of.table.is_drained());
    of.abandon(1);
    BOOST_TEST(!of.table.is_drained());
    of.abandon(2);
    BOOST_TEST(of.table.is_drained()); // whoever waits for 3 gets it from another
    of.table.take(1);
    BOOST_TEST(!of.table.is_drained()); // now it may have begun that
    of.abandon(3);
    BOOST_TEST(of.table.is_drained());
}

BOOST_AUTO_TEST_CASE(deserted_if_nobody_waits_for_any_of_them) {
    trial of(1, 2);
    of.abandon(1);
    BOOST_TEST(!of.table.is_deserted());
    of.abandon(2);
    BOOST_TEST(of.table.is_deserted());
}

BOOST_AUTO_TEST_CASE(with_fewer_than_its_capacity_all_of_them_count) {
    trial of(5, 2);
    of.abandon(1);
    BOOST_TEST(!of.table.is_drained());
    of.table.take(2);
    BOOST_TEST(of.table.is_drained());
    of.table.take(1);
    BOOST_TEST(of.table.is_drained());
}

BOOST_AUTO_TEST_SUITE_END()
