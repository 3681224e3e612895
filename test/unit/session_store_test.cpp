// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a store promises, wherever its sessions are.

#include "core/clock.hpp"
#include "support/complete.hpp"
#include "support/remote_sessions.hpp"
#include <skep/session_store.hpp>

#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <tuple>

namespace skep::test {

using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_AUTO_TEST_SUITE(session_store_test)

namespace {

struct in_this_process {
    static std::shared_ptr<session_backend> make() { return nullptr; }
};

struct on_a_server {
    static std::shared_ptr<session_backend> make() {
        return std::make_shared<remote_sessions>(std::make_shared<key_value_server>());
    }
};

using places = std::tuple<in_this_process, on_a_server>;

session_options small(std::size_t quota) {
    session_options options;
    options.quota = quota;
    return options;
}

/// A store whose time the test moves by hand.
template <class Place>
struct trial {
    trial() = default;
    explicit trial(session_options options) : store(std::move(options), Place::make()) {}

    std::optional<session> get(const std::string& id) { return complete(store.get(id)); }
    std::optional<session> peek(const std::string& id) { return complete(store.peek(id)); }
    session create(const std::string& id, session_data initial = {}) {
        return complete(store.create(id, std::move(initial)));
    }
    session update(const std::string& id, std::function<void(session_data&)> change) {
        return complete(store.update(id, std::move(change)));
    }
    errc failure_of_create(const std::string& id, session_data initial = {}) {
        return failure_of_complete(store.create(id, std::move(initial))).kind();
    }
    errc failure_of_update(const std::string& id, std::function<void(session_data&)> change) {
        return failure_of_complete(store.update(id, std::move(change))).kind();
    }

    manual_time time;
    session_store store{{}, Place::make()};
};

void change_nothing(session_data&) {}

} // namespace

BOOST_AUTO_TEST_CASE_TEMPLATE(a_new_session_holds_what_it_was_created_with, Place, places) {
    trial<Place> of;
    const auto before = std::chrono::system_clock::now();
    const auto made = of.create("a", session_data().metadata("user", "ada").put_program("p", 1));
    BOOST_TEST(made.id() == "a");
    BOOST_TEST((made.created_at() >= before && made.created_at() <= std::chrono::system_clock::now()));
    BOOST_TEST((made.age() == 0s));
    BOOST_TEST((made.ttl() == 1h));
    BOOST_TEST((made.metadata() == json::object{{"user", "ada"}}));
    BOOST_TEST((made.programs() == json::object{{"p", 1}}));
    const auto read = of.get("a");
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->id() == "a");
    BOOST_TEST((read->created_at() == made.created_at()));
    BOOST_TEST((read->metadata() == made.metadata()));
    BOOST_TEST((read->programs() == made.programs()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(creating_what_there_is_returns_it_and_is_an_access, Place, places) {
    trial<Place> of;
    const auto first = of.create("a", session_data().ttl(10s).metadata("n", 1));
    of.time.advance(10s);
    const auto second = of.create("a", session_data().ttl(1s).metadata("n", 2));
    BOOST_TEST((second.age() == 10s));
    BOOST_TEST((second.ttl() == 10s));
    BOOST_TEST((second.metadata() == json::object{{"n", 1}}));
    BOOST_TEST((second.created_at() == first.created_at()));
    of.time.advance(10s);
    BOOST_TEST(of.get("a").has_value());
    BOOST_TEST(complete(of.store.stats()).created == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(there_is_none_before_it_was_created, Place, places) {
    trial<Place> of;
    BOOST_TEST(!of.get("a"));
    BOOST_TEST(!of.peek("a"));
    BOOST_TEST(!complete(of.store.touch("a")));
    BOOST_TEST(!complete(of.store.remove("a")));
    BOOST_TEST((of.failure_of_update("a", change_nothing) == errc::session_not_found));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_that_has_expired_is_gone_at_once_for_everybody, Place, places) {
    trial<Place> of;
    for (const std::string id : {"get", "peek", "touch", "remove", "update", "create"}) {
        of.create(id, session_data().metadata("n", 1));
    }
    of.time.advance(1h);
    BOOST_TEST(of.peek("peek").has_value());
    of.time.advance(1ns);
    BOOST_TEST(!of.get("get"));
    BOOST_TEST(!of.peek("peek"));
    BOOST_TEST(!complete(of.store.touch("touch")));
    BOOST_TEST(!complete(of.store.remove("remove")));
    BOOST_TEST((of.failure_of_update("update", change_nothing) == errc::session_not_found));
    BOOST_TEST(of.create("create").metadata().empty());
    complete(of.store.cleanup_expired());
    const auto stats = complete(of.store.stats());
    BOOST_TEST(stats.expired == 6u);
    BOOST_TEST(stats.deleted == 0u);
    BOOST_TEST(stats.created == 7u);
    BOOST_TEST(stats.current == 1u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_access_but_a_peek_begins_the_idle_time_anew, Place, places) {
    trial<Place> of;
    of.create("a", session_data().ttl(10s));
    of.time.advance(9s);
    BOOST_TEST((of.get("a")->idle_time() == 0s));
    of.time.advance(9s);
    BOOST_TEST(complete(of.store.touch("a")));
    of.time.advance(9s);
    of.update("a", change_nothing);
    of.time.advance(9s);
    const auto looked_at = of.peek("a");
    BOOST_TEST((looked_at->idle_time() == 9s));
    BOOST_TEST((looked_at->age() == 36s));
    BOOST_TEST((looked_at->last_accessed() - looked_at->created_at() == 27s));
    of.time.advance(1s + 1ns);
    BOOST_TEST(!of.peek("a"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_update_changes_the_session_and_not_what_was_read_of_it, Place, places) {
    trial<Place> of;
    of.create("a", session_data().metadata("n", 1));
    const auto before = of.get("a");
    auto change = [](session_data& data) { data.metadata("n", 2).put_program("p", "x"); };
    const auto after = of.update("a", change);
    BOOST_TEST((after.metadata() == json::object{{"n", 2}}));
    BOOST_TEST((of.get("a")->programs() == json::object{{"p", "x"}}));
    BOOST_TEST((before->metadata() == json::object{{"n", 1}}));
    BOOST_TEST(before->programs().empty());
    BOOST_TEST((after.created_at() == before->created_at()));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_update_that_another_overtakes_is_made_on_its_result, Place, places) {
    trial<Place> of;
    of.create("a", session_data().metadata("n", 1));
    auto count = [](session_data& data) { data.metadata("n", data.metadata().at("n").as_int64() + 1); };
    int calls = 0;
    auto overtaken = [&](session_data& data) {
        if (++calls == 1) {
            of.update("a", count);
        }
        count(data);
    };
    BOOST_TEST((of.update("a", overtaken).metadata() == json::object{{"n", 3}}));
    BOOST_TEST((of.get("a")->metadata() == json::object{{"n", 3}}));
    BOOST_TEST(calls == 2);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_function_that_throws_leaves_the_session_as_it_was, Place, places) {
    trial<Place> of;
    of.create("a", session_data().metadata("n", 1));
    of.time.advance(5s);
    auto fail = [](session_data& data) {
        data.metadata("n", 2).ttl(1s).put_program("p", "x");
        throw std::runtime_error("on purpose");
    };
    BOOST_CHECK_THROW(of.update("a", fail), std::runtime_error);
    const auto left = of.peek("a");
    BOOST_REQUIRE(left.has_value());
    BOOST_TEST((left->metadata() == json::object{{"n", 1}}));
    BOOST_TEST(left->programs().empty());
    BOOST_TEST((left->ttl() == 1h));
    BOOST_TEST((left->idle_time() == 5s));
    auto change = [](session_data& data) { data.metadata("n", 3); };
    BOOST_TEST((of.update("a", change).metadata() == json::object{{"n", 3}}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_update_may_change_the_ttl_within_its_range, Place, places) {
    trial<Place> of;
    of.create("a");
    of.update("a", [](session_data& data) { data.ttl(10s); });
    for (const duration bad : {duration(1ms) - 1ns, duration(24h) * 365 + 1ns, duration(-1s)}) {
        auto spoil = [bad](session_data& data) { data.metadata("n", 2).ttl(bad); };
        BOOST_TEST((of.failure_of_update("a", spoil) == errc::invalid_session));
        BOOST_TEST((of.failure_of_create("b", session_data().ttl(bad)) == errc::invalid_session));
    }
    BOOST_TEST(of.peek("a")->metadata().empty());
    BOOST_TEST(!of.peek("b"));
    of.time.advance(10s + 1ns);
    BOOST_TEST(!of.peek("a"));
    of.create("a", session_data().ttl(10s));
    of.update("a", [](session_data& data) { data.ttl(0s); });
    BOOST_TEST((of.peek("a")->ttl() == 1h)); // which is the store's
}

BOOST_AUTO_TEST_CASE_TEMPLATE(programs_are_put_read_and_deleted, Place, places) {
    trial<Place> of;
    of.create("a");
    complete(of.store.put_program("a", "p", json::value{1, 2}));
    complete(of.store.put_program("a", "q", "text"));
    BOOST_TEST((complete(of.store.get_program("a", "p")) == json::value{1, 2}));
    BOOST_TEST(!complete(of.store.get_program("a", "none")));
    BOOST_TEST(of.peek("a")->data().item_count() == 2u);
    BOOST_TEST(complete(of.store.delete_program("a", "p")));
    BOOST_TEST(!complete(of.store.delete_program("a", "p")));
    BOOST_TEST(!complete(of.store.get_program("a", "p")));
    BOOST_TEST((of.get("a")->programs() == json::object{{"q", "text"}}));
    for (const auto& failure : {failure_of_complete(of.store.put_program("b", "p", 1)),
                                failure_of_complete(of.store.get_program("b", "p")),
                                failure_of_complete(of.store.delete_program("b", "p"))}) {
        BOOST_TEST((failure.kind() == errc::session_not_found));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(one_that_is_removed_is_gone_and_may_come_again, Place, places) {
    trial<Place> of;
    of.create("a", session_data().metadata("n", 1));
    BOOST_TEST(complete(of.store.remove("a")));
    BOOST_TEST(!complete(of.store.remove("a")));
    BOOST_TEST(!of.get("a"));
    BOOST_TEST(of.create("a").metadata().empty());
    const auto stats = complete(of.store.stats());
    BOOST_TEST(stats.deleted == 1u);
    BOOST_TEST(stats.created == 2u);
    BOOST_TEST(stats.current == 1u);
    BOOST_TEST(stats.expired == 0u);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_quota_holds_for_what_lives, Place, places) {
    trial<Place> of(small(3));
    of.create("a", session_data().ttl(10s));
    of.create("b");
    of.create("c");
    const auto failure = failure_of_complete(of.store.create("d"));
    BOOST_TEST((failure.kind() == errc::session_quota_exceeded));
    BOOST_TEST(failure.what() ==
               "too many sessions: 3 of 3; remove or forget some, let them expire sooner, or "
               "raise session_options::quota or affinity.limit");
    BOOST_TEST(!of.peek("d"));
    BOOST_TEST(of.create("b").id() == "b"); // there already
    complete(of.store.remove("b"));
    of.create("d");
    BOOST_TEST((of.failure_of_create("e") == errc::session_quota_exceeded));
    of.time.advance(10s + 1ns); // nobody sweeps
    of.create("e");
    BOOST_TEST((of.failure_of_create("f") == errc::session_quota_exceeded));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_session_that_is_found_to_have_expired_leaves_its_place, Place, places) {
    trial<Place> of(small(2));
    of.create("read", session_data().ttl(10s));
    of.create("made anew", session_data().ttl(10s));
    of.time.advance(10s + 1ns);
    BOOST_TEST(!of.get("read"));
    BOOST_TEST(of.create("made anew").metadata().empty());
    of.create("other");
    BOOST_TEST((of.failure_of_create("beyond") == errc::session_quota_exceeded));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(to_record_a_worker_is_an_access, Place, places) {
    trial<Place> of;
    const worker_id worker{"pool", 1, 2};
    BOOST_TEST(!complete(of.store.record_worker("a", worker)));
    of.create("a", session_data().ttl(10s));
    of.time.advance(9s);
    BOOST_TEST(complete(of.store.record_worker("a", worker)));
    of.time.advance(9s);
    BOOST_TEST(complete(of.store.record_worker("a", worker))); // the same once more
    of.time.advance(9s);
    BOOST_TEST(of.peek("a").has_value());
    of.time.advance(1s + 1ns);
    BOOST_TEST(!complete(of.store.record_worker("a", worker)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(to_read_a_program_is_an_access, Place, places) {
    trial<Place> of;
    of.create("a", session_data().ttl(10s).put_program("p", 1));
    of.time.advance(9s);
    complete(of.store.get_program("a", "p"));
    of.time.advance(9s);
    complete(of.store.get_program("a", "none"));
    of.time.advance(9s);
    BOOST_TEST(of.peek("a").has_value());
}

BOOST_AUTO_TEST_CASE(an_update_counts_what_the_session_takes_from_then_on) {
    trial<in_this_process> of;
    const auto bytes = [&] { return complete(of.store.stats()).memory_bytes; };
    of.create("a");
    const auto before = bytes();
    complete(of.store.put_program("a", "p", json::string(10'000, 'x')));
    BOOST_TEST(bytes() >= before + 10'000);
    BOOST_TEST(complete(of.store.delete_program("a", "p")));
    BOOST_TEST(bytes() < before + 10'000);
    complete(of.store.remove("a"));
    BOOST_TEST(bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(the_worker_recorded_last_is_kept_whatever_changes_the_session) {
    trial<in_this_process> of;
    of.create("a");
    for (const std::uint64_t generation : {1u, 2u}) {
        complete(of.store.record_worker("a", {"pool", 1, generation}));
        const auto changed = of.update("a", change_nothing);
        BOOST_REQUIRE(changed.last_worker_id().has_value());
        BOOST_TEST(changed.last_worker_id()->generation == generation);
        BOOST_TEST((of.create("a").last_worker_id() == changed.last_worker_id()));
    }
    complete(of.store.remove("a"));
    BOOST_TEST(!of.create("a").last_worker_id());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(it_warns_once_when_the_quota_is_nearly_reached, Place, places) {
    std::string warnings;
    auto options = small(10);
    options.on_quota_warning = [&](std::size_t count, std::size_t quota) {
        warnings += std::to_string(count) + "/" + std::to_string(quota) + " ";
        throw std::runtime_error("which is dropped");
    };
    trial<Place> of(options);
    for (int i = 0; i < 10; ++i) {
        of.create(std::to_string(i));
        of.create(std::to_string(i));
    }
    BOOST_TEST(warnings == "8/10 ");
    for (int i = 0; i < 6; ++i) {
        complete(of.store.remove(std::to_string(i)));
    }
    for (int i = 0; i < 6; ++i) {
        of.create(std::to_string(i));
    }
    BOOST_TEST(warnings == "8/10 8/10 ");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ids_have_a_rule, Place, places) {
    trial<Place> of;
    for (const auto& bad : {std::string(), std::string(257, 'x'), std::string("\xff")}) {
        for (const auto& failure :
             {failure_of_complete(of.store.create(bad)), failure_of_complete(of.store.get(bad)),
              failure_of_complete(of.store.peek(bad)), failure_of_complete(of.store.touch(bad)),
              failure_of_complete(of.store.remove(bad)),
              failure_of_complete(of.store.update(bad, change_nothing))}) {
            BOOST_TEST((failure.kind() == errc::invalid_session));
        }
    }
    for (const auto& good : {std::string("\0", 1), std::string(256, 'x'), std::string("\xc3\xa4")}) {
        BOOST_TEST(of.create(good).id() == good);
        BOOST_TEST(of.get(good).has_value());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ids_are_not_in_errors_for_they_may_be_secrets, Place, places) {
    trial<Place> of(small(1));
    of.create("a");
    const std::string secret(300, 's');
    for (const auto& failure : {failure_of_complete(of.store.create("sssssssss")),
                                failure_of_complete(of.store.update("sssssssss", change_nothing)),
                                failure_of_complete(of.store.get(secret))}) {
        BOOST_TEST(std::string(failure.what()).find("sssssssss") == std::string::npos);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_operation_does_nothing_before_it_is_awaited, Place, places) {
    trial<Place> of;
    { const auto unawaited = of.store.create("a"); }
    BOOST_TEST(!of.peek("a"));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(operations_complete_though_the_store_is_gone, Place, places) {
    const manual_time time;
    asio::io_context context(1);
    std::optional<session> made;
    {
        session_store store({}, Place::make());
        asio::co_spawn(context, store.create("a"),
                       [&](const std::exception_ptr&, std::optional<session> result) { made = result; });
    }
    context.run();
    BOOST_REQUIRE(made.has_value());
    BOOST_TEST(made->id() == "a");
}

BOOST_AUTO_TEST_CASE(options_are_checked) {
    const auto failure_of = [](auto&& spoil) {
        session_options options;
        spoil(options);
        try {
            const session_store store(options);
        } catch (const error& failure) {
            BOOST_TEST((failure.kind() == errc::invalid_config));
            return std::string(failure.what());
        }
        return std::string("accepted");
    };
    BOOST_TEST(failure_of([](auto& o) { o.ttl = 0s; }) ==
               "invalid configuration: sessions.ttl = 0 ms: must be 1 ms..31536000000 ms");
    BOOST_TEST(failure_of([](auto& o) { o.cleanup_interval = 9ms; }) ==
               "invalid configuration: sessions.cleanup_interval = 9 ms: must be 10 ms..86400000 ms");
    BOOST_TEST(failure_of([](auto& o) { o.quota = 0; }) ==
               "invalid configuration: sessions.quota = 0: must be 1..10000000");
    BOOST_TEST(failure_of([](auto& o) { o.quota = 10'000'001; }) ==
               "invalid configuration: sessions.quota = 10000001: must be 1..10000000");
    BOOST_TEST(failure_of([](auto&) {}) == "accepted");
    const session_store store;
    BOOST_TEST((store.options().ttl == 3600s));
    BOOST_TEST((store.options().cleanup_interval == 60s));
    BOOST_TEST(store.options().quota == 10'000u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
