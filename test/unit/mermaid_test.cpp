// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(mermaid)

BOOST_AUTO_TEST_CASE(the_pool_and_its_workers_coloured_by_health) {
    pool_status status;
    status.name = "p";
    status.phase = pool_phase::running;
    status.live = 1;
    status.desired = 2;
    status.in_flight = 1;
    status.queued = 3;
    status.workers.resize(2);
    status.workers[0].id = {"p", 0, 4};
    status.workers[0].state = worker_state::busy;
    status.workers[0].health = worker_health::healthy;
    status.workers[0].load = status.workers[0].capacity = 1;
    status.workers[1].id = {"p", 1, 2};
    status.workers[1].state = worker_state::degraded;
    status.workers[1].health = worker_health::unhealthy;
    status.workers[1].capacity = 1;
    status.workers[1].retiring = true;
    BOOST_TEST(to_mermaid(status) == "flowchart LR\n"
                                     "    pool[\"p<br/>running, 1 of 2 workers<br/>1 calls, 3 waiting\"]\n"
                                     "    w0[\"p/0#4<br/>busy<br/>1 of 1 calls\"]\n"
                                     "    pool --> w0\n"
                                     "    class w0 healthy\n"
                                     "    w1[\"p/1#2<br/>degraded, leaving<br/>0 of 1 calls\"]\n"
                                     "    pool --> w1\n"
                                     "    class w1 unhealthy\n"
                                     "    classDef healthy fill:#2e7d32,color:#ffffff\n"
                                     "    classDef unhealthy fill:#c62828,color:#ffffff\n"
                                     "    classDef unknown fill:#757575,color:#ffffff\n");
}

BOOST_AUTO_TEST_CASE(how_many_are_in_each_state_and_where_they_can_go) {
    running_pool pool(fake_config(3));
    pool.execute(request("work"));
    const auto drawn = states_to_mermaid(pool.status());
    check_mentions(drawn, "stateDiagram-v2\n");
    check_mentions(drawn, "    state \"ready (2)\" as ready\n");
    check_mentions(drawn, "    state \"busy (1)\" as busy\n");
    check_mentions(drawn, "    state \"failed (0)\" as failed\n");
    check_mentions(drawn, "    starting --> ready\n");
    check_mentions(drawn, "    failed --> [*]\n");
    BOOST_TEST(drawn.find("failed --> ready") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
