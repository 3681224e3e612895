// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/blocking_io.hpp"
#include "server/call_places.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(call_places_test)

namespace {

call_message call_of(std::uint64_t id) {
    call_message call;
    call.id = id;
    return call;
}

struct trial {
    explicit trial(std::size_t capacity) : places(capacity) {}

    void run(std::uint64_t id) {
        places.run(std::make_shared<served_call>(call_of(id), std::nullopt, services));
    }

    asio::io_context context{1};
    shared_output output{unique_fd()};
    call_services services{strand(context.get_executor()), output, {}};
    call_places places;
};

} // namespace

BOOST_AUTO_TEST_CASE(so_many_run_and_the_others_wait_in_their_order) {
    trial of(2);
    of.run(1);
    BOOST_TEST(of.places.has_place());
    of.run(2);
    BOOST_TEST(!of.places.has_place());
    of.places.wait(call_of(3));
    of.places.wait(call_of(4));
    BOOST_TEST(!of.places.take_next().has_value());
    of.places.end(1);
    BOOST_TEST(!of.places.has_place()); // it belongs to the one that waits
    BOOST_TEST(of.places.take_next().value().id == 3u);
    of.run(3);
    BOOST_TEST(!of.places.take_next().has_value());
    of.places.end(2);
    BOOST_TEST(of.places.take_next().value().id == 4u);
    BOOST_TEST(!of.places.take_next().has_value());
}

BOOST_AUTO_TEST_CASE(one_that_waits_may_be_taken_out_of_turn) {
    trial of(1);
    of.run(1);
    of.places.wait(call_of(2));
    of.places.wait(call_of(3));
    BOOST_TEST(of.places.take_waiting(3).value().id == 3u);
    BOOST_TEST(!of.places.take_waiting(3).has_value());
    BOOST_TEST(!of.places.take_waiting(1).has_value()); // it runs
    BOOST_TEST(of.places.find(1) != nullptr);
    BOOST_TEST(of.places.find(2) == nullptr);
    of.places.drop_waiting();
    of.places.end(1);
    BOOST_TEST(of.places.is_idle());
    BOOST_TEST(!of.places.take_next().has_value());
}

BOOST_AUTO_TEST_CASE(a_host_may_allow_less_but_not_more) {
    trial of(2);
    of.places.limit(3);
    BOOST_TEST(of.places.capacity() == 2u);
    of.places.limit(1);
    of.run(1);
    BOOST_TEST(!of.places.has_place());
}

BOOST_AUTO_TEST_CASE(it_knows_which_have_come) {
    trial of(1);
    of.places.record(5);
    of.places.record(4); // one of a tool, say
    BOOST_TEST(of.places.has_come(5));
    BOOST_TEST(!of.places.has_come(6));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
