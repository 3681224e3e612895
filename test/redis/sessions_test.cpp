// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a session_store does with its sessions in Redis.

#include "support/redis_process.hpp"

#include <boost/asio/co_spawn.hpp>

#include <atomic>
#include <limits>
#include <memory>
#include <vector>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(redis_sessions_test)

BOOST_AUTO_TEST_CASE(a_session_is_kept_as_it_is) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto initial =
            session_data().ttl(30min).metadata("user", "Ada").put_program("p", json::array{1, 2.5});
        const session made = co_await service.store.create("a b\"\n", initial);
        BOOST_TEST(made.age() == 0ns);
        const auto found = co_await service.store.get("a b\"\n");
        BOOST_REQUIRE(found.has_value());
        BOOST_TEST(found->id() == "a b\"\n");
        BOOST_TEST((found->metadata() == json::object{{"user", "Ada"}}));
        BOOST_TEST((found->programs() == json::object{{"p", {1, 2.5}}}));
        BOOST_TEST((found->ttl() == 30min));
        BOOST_TEST((found->created_at() == made.created_at()));
        BOOST_TEST(found->version() == made.version());
        BOOST_TEST((found->age() > 0ns && found->age() < 10s));
        BOOST_TEST(found->idle_time() == 0ns);
        const auto other = co_await service.store.get("b");
        BOOST_TEST(!other.has_value());
    });
}

BOOST_AUTO_TEST_CASE(one_that_is_there_is_not_created_again) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service one(context, server.options());
        redis_service other(context, server.options());
        auto initial = session_data().metadata("n", 1);
        co_await one.store.create("a", initial);
        const session same = co_await other.store.create("a");
        BOOST_TEST((same.metadata() == json::object{{"n", 1}}));
        const auto stats = co_await other.store.stats();
        BOOST_TEST(stats.created == 0u);
        BOOST_TEST(stats.current == 1u);
        BOOST_TEST(stats.memory_bytes == 0u);
    });
}

BOOST_AUTO_TEST_CASE(sessions_are_changed_and_removed) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto& store = service.store;
        co_await store.create("a");
        const session once = co_await store.update("a", count_up);
        const session twice = co_await store.update("a", count_up);
        BOOST_TEST((twice.metadata() == json::object{{"n", 2}}));
        BOOST_TEST(twice.version() > once.version());
        co_await store.put_program("a", "p", "x=1");
        const auto program = co_await store.get_program("a", "p");
        BOOST_TEST((program == json::value("x=1")));
        const bool was_there = co_await store.delete_program("a", "p");
        BOOST_TEST(was_there);
        const auto gone_program = co_await store.get_program("a", "p");
        BOOST_TEST(!gone_program);
        const bool was_removed = co_await store.remove("a");
        const bool was_removed_again = co_await store.remove("a");
        const bool was_touched = co_await store.touch("a");
        BOOST_TEST((was_removed && !was_removed_again && !was_touched));
        const auto failure = co_await failure_of(store.update("a", count_up));
        BOOST_TEST(failure.kind() == errc::session_not_found);
        const auto stats = co_await store.stats();
        BOOST_TEST(stats.current == 0u);
    });
}

BOOST_AUTO_TEST_CASE(no_update_is_lost_where_many_meet) {
    with_redis(
        [](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
            constexpr int services = 4;
            constexpr int updates = 25;
            std::vector<std::unique_ptr<redis_service>> all;
            for (int i = 0; i < services; ++i) {
                all.push_back(std::make_unique<redis_service>(context, server.options()));
            }
            co_await all.front()->store.create("a");
            std::atomic<int> attempts = 0;
            auto count = [&attempts](session_data& data) {
                ++attempts;
                count_up(data);
            };
            auto update_often = [&](session_store& store) -> asio::awaitable<void> {
                for (int i = 0; i < updates; ++i) {
                    auto updating = store.update("a", count);
                    co_await std::move(updating);
                }
            };
            std::atomic<int> left = services * 2;
            for (int i = 0; i < services * 2; ++i) { // two at a time in each service
                asio::co_spawn(context, update_often(all[i / 2]->store), [&](std::exception_ptr problem) {
                    BOOST_TEST(!problem);
                    --left;
                });
            }
            while (left > 0) {
                co_await pause(5ms);
            }
            const auto counted = co_await all.back()->store.get("a");
            BOOST_TEST((counted->metadata() == json::object{{"n", services * 2 * updates}}));
            BOOST_TEST(attempts >= services * 2 * updates);
        },
        4);
}

BOOST_AUTO_TEST_CASE(an_update_that_another_service_overtakes_is_made_on_its_result) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service one(context, server.options());
        redis_service other(context, server.options());
        co_await one.store.create("a");
        const auto seen = co_await one.store.get("a");
        co_await other.store.update("a", count_up);
        auto mine = session_data().ttl(1h).metadata("n", 100);
        const auto late = co_await one.backend->replace(*seen, mine);
        BOOST_TEST((!late.stored && !late.is_gone));
        const auto found = co_await one.store.get("a");
        BOOST_TEST((found->metadata() == json::object{{"n", 1}}));
        const auto again = co_await one.backend->replace(*found, mine);
        BOOST_TEST(again.stored.has_value());
    });
}

BOOST_AUTO_TEST_CASE(the_last_worker_is_kept_and_shared) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service one(context, server.options());
        redis_service other(context, server.options());
        const worker_id first{"pool", 1, 3};
        const worker_id second{"pool", 0, 18446744073709551615u};
        const bool was_there = co_await one.store.record_worker("a", first);
        BOOST_TEST(!was_there);
        const session fresh = co_await one.store.create("a");
        BOOST_TEST(!fresh.last_worker_id());
        const auto unserved = co_await other.store.get("a");
        BOOST_TEST(!unserved->last_worker_id());
        const bool is_there = co_await one.store.record_worker("a", first);
        BOOST_TEST(is_there);
        const auto served = co_await other.store.peek("a");
        BOOST_TEST((served->last_worker_id() == first));
        BOOST_TEST(served->version() == fresh.version());
        co_await other.store.record_worker("a", second);
        const session changed = co_await one.store.update("a", count_up);
        BOOST_TEST((changed.last_worker_id() == second));
        const session same = co_await one.store.create("a");
        BOOST_TEST((same.last_worker_id() == second));
        co_await one.store.remove("a");
        const session anew = co_await one.store.create("a");
        BOOST_TEST(!anew.last_worker_id());
        const auto read_anew = co_await other.store.get("a");
        BOOST_TEST(!read_anew->last_worker_id());
    });
}

BOOST_AUTO_TEST_CASE(to_record_a_worker_is_an_access) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        co_await pause(50ms);
        const worker_id first{"pool", 0, 1};
        co_await service.store.record_worker("a", first);
        const auto after = co_await service.store.peek("a");
        BOOST_TEST((after->idle_time() < after->age()));
    });
}

namespace {

/// The key of session "a", which has a ttl of an hour, and whatever else says when the session ends.
class end_of_session {
public:
    explicit end_of_session(const redis_process& server) : server_(server) {}

    /// As if the session had not been accessed for long.
    void age() const {
        server_.ask("PEXPIRE skep:session:a 60000");
        server_.ask("ZADD skep:index 1 a");
        server_.ask("HSET skep:session:a seen 1");
    }

    bool is_aged() const {
        return milliseconds_left() <= 60'000 && end_in_index() == "1" && last_access() == "1";
    }

    bool is_renewed() const {
        return milliseconds_left() > 3'000'000 && end_in_index().size() == 13 && last_access().size() == 16;
    }

    /// By the index and by what else is kept: the last access, in microseconds, and the ttl.
    bool is_to_the_millisecond() const {
        return std::stoll(end_in_index()) == std::stoll(last_access()) / 1000 + 3'600'000;
    }

    long long milliseconds_left() const { return std::stoll(server_.ask("PTTL skep:session:a")); }

private:
    std::string end_in_index() const { return server_.ask("ZSCORE skep:index a"); }
    std::string last_access() const { return server_.ask("HGET skep:session:a seen"); }

    const redis_process& server_;
};

} // namespace

BOOST_AUTO_TEST_CASE(an_access_renews_whatever_says_when_the_session_ends) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto& store = service.store;
        const end_of_session end(server);
        co_await store.create("a");
        BOOST_TEST(end.is_renewed());
        BOOST_TEST(end.is_to_the_millisecond());
        end.age();
        co_await store.get("a");
        BOOST_TEST(end.is_renewed());
        BOOST_TEST(end.is_to_the_millisecond());
        end.age();
        co_await store.touch("a");
        BOOST_TEST(end.is_renewed());
        end.age();
        const worker_id worker{"pool", 0, 1};
        co_await store.record_worker("a", worker);
        BOOST_TEST(end.is_renewed());
        end.age();
        co_await store.update("a", count_up);
        BOOST_TEST(end.is_renewed());
        end.age();
        const session same = co_await store.create("a");
        BOOST_TEST(same.idle_time() == 0ns);
        BOOST_TEST(end.is_renewed());
        end.age();
        co_await store.peek("a");
        BOOST_TEST(end.is_aged());
    });
}

BOOST_AUTO_TEST_CASE(a_ttl_that_an_update_gives_holds_from_then_on) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        const end_of_session end(server);
        co_await service.store.create("a");
        auto lengthen = [](session_data& data) { data.ttl(3h); };
        co_await service.store.update("a", lengthen);
        BOOST_TEST(end.milliseconds_left() > 7'200'000);
        end.age();
        const auto found = co_await service.store.get("a");
        BOOST_TEST((found->ttl() == 3h));
        BOOST_TEST(end.milliseconds_left() > 7'200'000);
    });
}

BOOST_AUTO_TEST_CASE(an_insertion_tells_how_many_sessions_there_are) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        const auto data = session_data().ttl(1h);
        const auto created = std::chrono::system_clock::now();
        const auto first = co_await service.backend->insert("a", data, created, 10);
        const auto second = co_await service.backend->insert("b", data, created, 10);
        const auto same = co_await service.backend->insert("a", data, created, 10);
        const auto refused = co_await service.backend->insert("c", data, created, 2);
        BOOST_TEST((first.is_new && first.count == 1u));
        BOOST_TEST((second.is_new && second.count == 2u));
        BOOST_TEST((!same.is_new && same.count == 2u));
        BOOST_TEST((!refused.stored && refused.count == 2u));
    });
}

BOOST_AUTO_TEST_CASE(an_insertion_takes_expired_sessions_off_the_index_though_it_is_refused) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        session_options options;
        options.quota = 1;
        redis_service service(context, server.options(), options);
        co_await service.store.create("a");
        server.ask("ZADD skep:index 1 expired");
        const auto failure = co_await failure_of(service.store.create("b"));
        BOOST_TEST(failure.kind() == errc::session_quota_exceeded);
        const auto stats = co_await service.store.stats();
        BOOST_TEST((stats.current == 1u && stats.expired == 1u));
    });
}

BOOST_AUTO_TEST_CASE(a_session_is_no_younger_than_new_though_the_clock_was_set_back) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        server.ask("HSET skep:session:a born 9000000000000000 seen 9000000000000000");
        const auto found = co_await service.store.peek("a");
        BOOST_REQUIRE(found.has_value());
        BOOST_TEST((found->age() == 0ns && found->idle_time() == 0ns));
    });
}

BOOST_AUTO_TEST_CASE(a_replacement_of_a_session_that_is_gone_says_so) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        const session seen = co_await service.store.create("a");
        co_await service.store.remove("a");
        const auto data = session_data().ttl(1h);
        const auto late = co_await service.backend->replace(seen, data);
        BOOST_TEST((!late.stored && late.is_gone));
    });
}

BOOST_AUTO_TEST_CASE(what_no_script_stores_is_not_taken_for_a_session) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        co_await service.store.create("a");
        for (const std::string bad : {"ttl 999999", "ttl 31536000000000001", "worker pool", "worker pool/1",
                                      "version -1", "created now", "data {}"}) {
            const auto field = bad.substr(0, bad.find(' '));
            const auto good = server.ask("HGET skep:session:a " + field);
            server.ask("HSET skep:session:a " + bad);
            const auto failure = co_await failure_of(service.store.peek("a"));
            BOOST_TEST(failure.kind() == errc::session_backend_failed, bad);
            server.ask(good.empty() ? "HDEL skep:session:a " + field
                                    : "HSET skep:session:a " + field + " '" + good + "'");
        }
        const auto found = co_await service.store.peek("a");
        BOOST_TEST(found.has_value());
    });
}

BOOST_AUTO_TEST_CASE(versions_differ_though_the_clock_was_set_back) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        server.ask("SET skep:version 9000000000000000"); // in 2255
        redis_service service(context, server.options());
        const session seen = co_await service.store.create("a");
        BOOST_TEST(seen.version() == 9'000'000'000'000'001u);
        co_await service.store.update("a", count_up);
        const auto data = session_data().ttl(1h);
        const auto late = co_await service.backend->replace(seen, data);
        BOOST_TEST((!late.stored && !late.is_gone));
    });
}

BOOST_AUTO_TEST_CASE(a_version_never_comes_again) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        const session old = co_await service.store.create("a");
        server.kill();
        server.start();
        const session anew = co_await service.store.create("a");
        BOOST_TEST(anew.version() > old.version());
        session_data data;
        data.ttl(1h);
        const auto replaced = co_await service.backend->replace(old, data);
        BOOST_TEST((!replaced.stored && !replaced.is_gone));
    });
}

BOOST_AUTO_TEST_CASE(looking_is_no_access) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto& store = service.store;
        co_await store.create("a");
        co_await pause(50ms);
        const auto before = co_await store.peek("a");
        BOOST_TEST((before->idle_time() >= 50ms && before->idle_time() == before->age()));
        co_await store.touch("a");
        const auto after = co_await store.peek("a");
        BOOST_TEST((after->idle_time() < before->idle_time() && after->age() > before->age()));
        co_await pause(50ms);
        co_await store.update("a", count_up);
        const auto changed = co_await store.peek("a");
        BOOST_TEST((changed->idle_time() < 50ms && changed->age() >= 100ms));
    });
}

BOOST_AUTO_TEST_CASE(an_expired_session_is_found_no_more) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto& store = service.store;
        auto brief = session_data().ttl(150ms);
        co_await store.create("lives");
        co_await store.create("left", brief);
        co_await store.create("changed");
        auto shorten = [](session_data& data) { data.ttl(1ms); };
        co_await store.update("changed", shorten);
        co_await pause(160ms);
        const auto lives = co_await store.peek("lives");
        const auto left = co_await store.get("left");
        const auto changed = co_await store.get("changed");
        const bool is_left = co_await store.remove("left");
        BOOST_TEST((lives && !left && !changed && !is_left));
        const auto before = co_await store.stats();
        BOOST_TEST(before.current == 3u);
        const auto swept = co_await store.cleanup_expired();
        BOOST_TEST(swept == 2u);
        const auto after = co_await store.stats();
        BOOST_TEST((after.current == 1u && after.expired == 2u));
        const session anew = co_await store.create("left");
        BOOST_TEST(anew.age() == 0ns);
    });
}

BOOST_AUTO_TEST_CASE(one_that_expires_while_it_is_stored_is_stored_all_the_same) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        auto options = server.options();
        options.session_bytes = 32u << 20;
        redis_service service(context, options);
        co_await service.store.create("a");
        auto fill = [](session_data& data) { // takes the server longer than it may live
            data.metadata("large", std::string(16 << 20, 'x')).ttl(1ms);
        };
        const session stored = co_await service.store.update("a", fill);
        BOOST_TEST((stored.ttl() == 1ms));
        co_await pause(5ms);
        const auto expired = co_await service.store.get("a");
        BOOST_TEST(!expired.has_value());
    });
}

BOOST_AUTO_TEST_CASE(expired_ones_are_swept_in_portions) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        const auto brief = session_data().ttl(200ms);
        for (int i = 0; i < 25; ++i) {
            co_await service.store.create(std::to_string(i), brief);
        }
        co_await pause(210ms);
        const auto first = co_await service.backend->sweep(10);
        BOOST_TEST((first.removed == 10u && !first.is_done));
        const auto rest = co_await service.store.cleanup_expired();
        BOOST_TEST(rest == 15u);
    });
}

BOOST_AUTO_TEST_CASE(the_quota_is_that_of_all_services_together) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        session_options options;
        options.quota = 3;
        redis_service one(context, server.options(), options);
        redis_service other(context, server.options(), options);
        auto brief = session_data().ttl(100ms);
        co_await one.store.create("a");
        co_await other.store.create("b");
        co_await one.store.create("c", brief);
        const auto failure = co_await failure_of(other.store.create("d"));
        BOOST_TEST(failure.kind() == errc::session_quota_exceeded);
        BOOST_TEST(contains(failure.what(), "3 of 3"));
        co_await other.store.create("a"); // is there
        co_await pause(110ms);
        co_await other.store.create("d"); // in the place of the one that expired
        const auto once_more = co_await failure_of(one.store.create("e"));
        BOOST_TEST(once_more.kind() == errc::session_quota_exceeded);
        const auto stats = co_await other.store.stats();
        BOOST_TEST((stats.current == 3u && stats.expired == 1u));
    });
}

BOOST_AUTO_TEST_CASE(what_json_cannot_hold_is_refused) {
    with_redis([](asio::io_context& context, redis_process& server) -> asio::awaitable<void> {
        redis_service service(context, server.options());
        auto infinite = session_data().metadata("x", std::numeric_limits<double>::infinity());
        const auto failure = co_await failure_of(service.store.create("a", infinite));
        BOOST_TEST(failure.kind() == errc::invalid_session);
        json::value deep = "core";
        for (int i = 0; i < 199; ++i) {
            deep = json::array{std::move(deep)};
        }
        auto deepest = session_data().metadata("x", deep).metadata("raw", "\xff");
        co_await service.store.create("a", deepest);
        const auto found = co_await service.store.get("a");
        BOOST_TEST((found->metadata() == deepest.metadata()));
        auto too_deep = session_data().metadata("x", json::array{deep});
        const auto refused = co_await failure_of(service.store.create("b", too_deep));
        BOOST_TEST(refused.kind() == errc::invalid_session);
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
