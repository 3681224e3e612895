// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "session/session_memory.hpp"
#include <skep/session.hpp>

#include <boost/container/pmr/memory_resource.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(session_test)

namespace {

/// Counts what it has handed out.
class counting_resource final : public boost::container::pmr::memory_resource {
public:
    std::size_t bytes = 0;

private:
    void* do_allocate(std::size_t size, std::size_t) override {
        bytes += size;
        return std::malloc(size);
    }
    void do_deallocate(void* place, std::size_t size, std::size_t) override {
        bytes -= size;
        std::free(place);
    }
    bool do_is_equal(const boost::container::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }
};

} // namespace

BOOST_AUTO_TEST_CASE(data_holds_facts_and_programs) {
    auto data = session_data().ttl(5min).metadata("user", "ada").put_program("p", json::value{1, 2});
    data.metadata("visits", 1);
    data.metadata("visits", 2);
    data.put_program("q", true);
    BOOST_TEST((data.ttl() == 5min));
    BOOST_TEST((data.metadata() == json::object{{"user", "ada"}, {"visits", 2}}));
    BOOST_TEST((data.programs() == json::object{{"p", {1, 2}}, {"q", true}}));
    BOOST_TEST(data.item_count() == 4u);
    BOOST_REQUIRE(data.program("p") != nullptr);
    BOOST_TEST((*data.program("p") == json::value{1, 2}));
    BOOST_TEST(data.program("user") == nullptr);
    BOOST_TEST(data.delete_program("p"));
    BOOST_TEST(!data.delete_program("p"));
    BOOST_TEST(data.delete_metadata("user"));
    BOOST_TEST(!data.delete_metadata("user"));
    BOOST_TEST(data.item_count() == 2u);
}

BOOST_AUTO_TEST_CASE(data_outlives_the_memory_that_its_values_came_from) {
    session_data data;
    {
        json::monotonic_resource arena;
        const std::string long_text(1000, 'x');
        data.metadata("fact", json::value(long_text, &arena));
        data.put_program("program", json::value(json::array({long_text}, &arena)));
    }
    BOOST_TEST(data.metadata().at("fact").as_string().size() == 1000u);
    BOOST_TEST(data.program("program")->as_array().at(0).as_string().size() == 1000u);
}

BOOST_AUTO_TEST_CASE(a_session_knows_its_times) {
    const session::wall_time created{1000h};
    const session read("id", session_data().ttl(10min), created, 30s, 10s, 7);
    BOOST_TEST(read.id() == "id");
    BOOST_TEST((read.ttl() == 10min));
    BOOST_TEST((read.age() == 30s));
    BOOST_TEST((read.idle_time() == 10s));
    BOOST_TEST((read.created_at() == created));
    BOOST_TEST((read.last_accessed() == created + 20s));
    BOOST_TEST(read.version() == 7u);
}

BOOST_AUTO_TEST_CASE(copies_of_a_session_share_what_it_holds) {
    const session read("id", session_data().metadata("a", 1).put_program("p", 2), {}, 0s, 0s, 1);
    const auto copy = read; // NOLINT(performance-unnecessary-copy-initialization)
    BOOST_TEST(&copy.data() == &read.data());
    BOOST_TEST(&copy.id() == &read.id());
    BOOST_TEST((*copy.program("p") == 2));
    BOOST_TEST(copy.program("q") == nullptr);
}

BOOST_AUTO_TEST_CASE(the_memory_of_json_is_estimated_within_a_half) {
    const std::vector<std::string> texts{
        R"({})",
        R"({"a":1})",
        R"({"a":"short","b":"a text that does not fit into the value that holds it"})",
        R"({"list":[1,2,3,4,5,6,7,8,9,10],"nested":{"x":[[],[[]],{}],"y":{"z":null}}})",
        R"({"one by one":[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10],[11],[12],[13],[14],[15],[16],[17],[18]]})",
    };
    for (const auto& text : texts) {
        counting_resource counter;
        const auto value = json::parse(text, &counter);
        const auto estimate = heap_bytes(value.get_object());
        BOOST_TEST(estimate >= counter.bytes, text);
        BOOST_TEST(estimate <= counter.bytes * 2 + 600, text);
    }
}

BOOST_AUTO_TEST_CASE(what_it_holds_counts_as_its_memory) {
    const session empty("id", {}, {}, 0s, 0s, 1);
    const session full("id", session_data().put_program("p", std::string(10'000, 'x')), {}, 0s, 0s, 1);
    BOOST_TEST(empty.memory_bytes() < 1'000u);
    BOOST_TEST(full.memory_bytes() >= empty.memory_bytes() + 10'000);
    BOOST_TEST(full.memory_bytes() < empty.memory_bytes() + 21'000);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
