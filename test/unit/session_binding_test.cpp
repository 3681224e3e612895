// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Affinity as users read, set and use it: session_worker(), bind_session(), and checkouts of a worker's own
// choice.

#include "support/complete.hpp"
#include "support/fake_runtime.hpp"
#include <skep/session_store.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(binding_sessions)

namespace {

constexpr auto by_hint = affinity_mode::hint;
constexpr auto by_queue = affinity_mode::strict_queue;
constexpr auto by_fail_fast = affinity_mode::strict_fail_fast;

pool_config bound_config(affinity_mode mode, std::size_t workers = 2) {
    auto config = fake_config(workers);
    config.affinity.mode = mode;
    config.recycle.jitter = 0;
    return config;
}

/// A pool whose sessions are asked after and bound.
class binding_pool : public running_pool {
public:
    using running_pool::running_pool;
    explicit binding_pool(affinity_mode mode, std::size_t workers = 2)
        : running_pool(bound_config(mode, workers)) {}

    std::optional<session_binding> ask(const std::string& session = "s") {
        std::optional<session_binding> found;
        auto asking = [&]() -> asio::awaitable<void> {
            auto running = facade().session_worker(session);
            found = co_await std::move(running);
        };
        BOOST_REQUIRE(begin(asking())->done);
        return found;
    }

    std::shared_ptr<outcome<bool>> bind(std::uint32_t slot, const std::string& session = "s",
                                        std::optional<affinity_mode> mode = std::nullopt) {
        return begin(facade().bind_session(session, id_of_slot(slot), mode));
    }

    worker_id id_of_slot(std::uint32_t slot) { return worker_status_of(slot).id; }

    std::shared_ptr<outcome<reply>> call(const std::string& command, const std::string& session = "s") {
        return execute(request(command).session(session));
    }

    void kill(std::size_t index) {
        worker(index).exit(exit_status::signalled(SIGKILL));
        run_until_idle();
    }
};

checkout_options wish(worker_id id, affinity_mode mode) {
    return checkout_options().worker(std::move(id)).affinity(mode);
}

} // namespace

BOOST_AUTO_TEST_CASE(a_session_has_no_worker_before_its_first_call) {
    binding_pool pool(by_hint);
    BOOST_TEST(!pool.ask());
    BOOST_TEST(!pool.ask(""));
}

BOOST_AUTO_TEST_CASE(the_worker_of_a_session_is_told_with_its_state) {
    binding_pool pool(by_queue);
    pool.call("first");
    const auto busy = pool.ask();
    BOOST_REQUIRE(busy.has_value());
    const auto slot = busy->worker.slot;
    BOOST_TEST((busy->worker == pool.id_of_slot(slot)));
    BOOST_TEST((busy->state == worker_state::busy));
    BOOST_TEST((busy->is_strict && !busy->is_lost && busy->calls == 1u));
    BOOST_TEST((busy->idle == 0s));
    pool.call("second");
    BOOST_TEST(pool.ask()->calls == 2u);
    BOOST_TEST(pool.serve(slot) == "first");
    BOOST_TEST(pool.serve(slot) == "second");
    pool.advance(3s, 1s);
    const auto idle = pool.ask();
    BOOST_TEST((idle->state == worker_state::ready && idle->calls == 0u && idle->idle == 3s));
    const auto lost_id = idle->worker;
    pool.kill(slot);
    const auto lost = pool.ask();
    BOOST_TEST((lost->worker == lost_id && lost->is_lost && lost->is_strict && !lost->state));
}

BOOST_AUTO_TEST_CASE(a_session_that_is_bound_goes_to_that_worker) {
    for (const auto mode : {by_hint, by_queue, by_fail_fast}) {
        for (const std::uint32_t slot : {0u, 1u}) {
            binding_pool pool(mode);
            BOOST_TEST(pool.bind(slot)->code() == errc());
            const auto known = pool.ask();
            BOOST_REQUIRE(known.has_value());
            BOOST_TEST((known->worker == pool.id_of_slot(slot)));
            BOOST_TEST(known->is_strict == (mode != by_hint));
            for (int i = 0; i < 3; ++i) {
                pool.call("mine");
                BOOST_TEST(pool.serve(slot) == "mine");
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(the_mode_of_a_binding_may_be_given) {
    binding_pool pool(by_hint);
    pool.bind(1, "s", by_queue);
    BOOST_TEST(pool.ask()->is_strict);
    BOOST_TEST(pool.worker_status_of(1).strict_sessions == 1u);
    pool.bind(1); // which does not loosen it
    BOOST_TEST(pool.ask()->is_strict);
    BOOST_TEST(pool.worker_status_of(1).strict_sessions == 1u);
    pool.bind(0); // it goes with a hint
    BOOST_TEST(!pool.ask()->is_strict);
    BOOST_TEST(pool.worker_status_of(1).strict_sessions == 0u);
}

BOOST_AUTO_TEST_CASE(a_binding_takes_along_what_waits_for_the_former_worker) {
    binding_pool pool(by_queue);
    pool.bind(0);
    pool.call("running");
    const auto running = pool.worker(0).take_call();
    const auto first = pool.call("first");
    const auto second = pool.call("second");
    pool.bind(1);
    BOOST_TEST(pool.serve(1) == "first");
    BOOST_TEST(pool.serve(1) == "second");
    BOOST_TEST((first->value && second->value));
    BOOST_TEST(pool.ask()->calls == 1u);
    pool.worker(0).reply(running);
    pool.run_until_idle();
    BOOST_TEST(pool.ask()->calls == 0u);
    BOOST_TEST((pool.ask()->worker == pool.id_of_slot(1)));
}

BOOST_AUTO_TEST_CASE(a_lost_session_is_served_again_once_it_is_bound) {
    binding_pool pool(by_queue);
    pool.bind(0);
    pool.kill(0);
    BOOST_TEST(pool.call("lost")->code() == errc::session_worker_unavailable);
    pool.bind(1);
    pool.call("found");
    BOOST_TEST(pool.serve(1) == "found");
}

BOOST_AUTO_TEST_CASE(a_binding_that_cannot_be_is_refused_and_changes_nothing) {
    auto config = bound_config(by_queue);
    config.affinity.limit = 1;
    binding_pool pool(config);
    pool.bind(0);
    const auto refused = [&](const std::string& session, const worker_id& to) {
        return pool.begin(pool.facade().bind_session(session, to))->code();
    };
    auto id = pool.id_of_slot(1);
    BOOST_TEST(refused("t", id) == errc::session_quota_exceeded);
    BOOST_TEST(refused("", id) == errc::invalid_session);
    BOOST_TEST(refused(std::string(257, 'x'), id) == errc::invalid_session);
    BOOST_TEST(refused("\xff", id) == errc::invalid_session);
    ++id.generation;
    BOOST_TEST(refused("s", id) == errc::unknown_worker);
    id.slot = 7;
    BOOST_TEST(refused("s", id) == errc::unknown_worker);
    BOOST_TEST(refused("s", {"another", 1, 1}) == errc::unknown_worker);
    BOOST_TEST((pool.ask()->worker == pool.id_of_slot(0)));
    const auto gone = pool.id_of_slot(1);
    pool.kill(1);
    BOOST_TEST(refused("s", gone) == errc::unknown_worker);
    pool.shutdown();
    pool.advance(10s, 1s);
    BOOST_TEST(refused("s", pool.ask()->worker) == errc::shutting_down);
    BOOST_TEST(pool.ask()->is_lost);
}

BOOST_AUTO_TEST_CASE(a_session_is_bound_to_no_worker_that_takes_no_calls) {
    auto config = bound_config(by_queue);
    config.cancel_grace = 1s;
    config.capacity = 2;
    binding_pool pool(config);
    const auto refused = [&](const worker_id& to) {
        return pool.begin(pool.facade().bind_session("s", to))->code();
    };
    const auto leaving = pool.id_of_slot(0);
    pool.bind(0, "t");
    pool.execute(request("long").session("t").timeout(1s));
    pool.call("patient", "t"); // which the worker may end before it leaves
    pool.advance(2s, 100ms);
    BOOST_TEST(!pool.worker(0).has_exited());
    BOOST_TEST(pool.worker_status_of(0).sessions == 0u);
    BOOST_TEST(pool.worker_status_of(0).strict_sessions == 0u);
    BOOST_TEST(refused(leaving) == errc::unknown_worker);
    pool.runtime().on_start = never_ready;
    pool.kill(1);
    pool.advance(1s, 100ms);
    const auto starting = pool.id_of_slot(1);
    BOOST_TEST(starting.generation > 1u);
    BOOST_TEST(refused(starting) == errc::unknown_worker);
    BOOST_TEST(!pool.ask());
}

BOOST_AUTO_TEST_CASE(a_pool_that_was_not_started_binds_nothing) {
    manual_pool pool(fake_config(1));
    const auto refused = pool.begin(pool.facade().bind_session("s", {"pool", 0, 1}));
    BOOST_TEST(refused->code() == errc::not_started);
}

BOOST_AUTO_TEST_CASE(the_status_counts_the_sessions_of_each_worker) {
    binding_pool pool(by_hint);
    pool.bind(0, "a");
    pool.bind(0, "b", by_queue);
    pool.bind(1, "c");
    BOOST_TEST(pool.worker_status_of(0).sessions == 2u);
    BOOST_TEST(pool.worker_status_of(0).strict_sessions == 1u);
    BOOST_TEST(pool.worker_status_of(1).sessions == 1u);
    BOOST_TEST(pool.worker_status_of(1).strict_sessions == 0u);
    pool.bind(1, "a");
    BOOST_TEST(pool.worker_status_of(0).sessions == 1u);
    BOOST_TEST(pool.worker_status_of(1).sessions == 2u);
    const auto shown = to_json(pool.status()).at("workers").at(1);
    BOOST_TEST(shown.at("sessions").to_number<int>() == 2);
    BOOST_TEST(shown.at("strict_sessions").to_number<int>() == 0);
    pool.advance(61min, 1min);
    BOOST_TEST(pool.worker_status_of(0).sessions == 0u);
    BOOST_TEST(pool.worker_status_of(1).sessions == 0u);
}

BOOST_AUTO_TEST_CASE(a_checkout_prefers_a_worker) {
    binding_pool pool(by_hint, 3);
    for (const std::uint32_t slot : {2u, 0u, 1u}) {
        const auto preferred = pool.checkout(checkout_options().worker(pool.id_of_slot(slot)));
        BOOST_REQUIRE(preferred->value.has_value());
        BOOST_TEST(preferred->value->worker().slot == slot);
        const auto other = pool.checkout(checkout_options().worker(pool.id_of_slot(slot)));
        BOOST_REQUIRE(other->value.has_value()); // it is leased: another will do
        BOOST_TEST(other->value->worker().slot != slot);
    }
    auto gone = pool.id_of_slot(1);
    gone.generation = 7;
    BOOST_TEST(pool.checkout(checkout_options().worker(gone))->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_checkout_insists_on_a_worker) {
    binding_pool pool(by_hint);
    auto held = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    BOOST_REQUIRE(held->value.has_value());
    BOOST_TEST(held->value->worker().slot == 1u);
    const auto at_once = pool.checkout(wish(pool.id_of_slot(1), by_fail_fast));
    BOOST_TEST(at_once->code() == errc::worker_busy);
    const auto first = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    const auto second = pool.checkout(wish(pool.id_of_slot(1), by_queue).queue_timeout(5s));
    BOOST_TEST((!first->done && !second->done));
    BOOST_TEST(pool.status().queued == 2u);
    pool.execute(request("others"));
    BOOST_TEST(pool.serve(0) == "others");
    held->value.reset();
    pool.run_until_idle();
    BOOST_REQUIRE(first->value.has_value());
    BOOST_TEST(first->value->worker().slot == 1u);
    pool.advance(6s, 1s);
    BOOST_TEST(second->code() == errc::queue_timeout);
    auto gone = pool.id_of_slot(1);
    gone.generation = 7;
    const auto unknown = pool.checkout(wish(gone, by_queue));
    BOOST_TEST(unknown->code() == errc::unknown_worker);
    BOOST_TEST((unknown->info().worker == gone));
    BOOST_TEST(unknown->info().detail == make_error_code(errc::unknown_worker).message()); // no session
    BOOST_TEST(pool.checkout(wish(gone, by_fail_fast))->code() == errc::unknown_worker);
}

BOOST_AUTO_TEST_CASE(a_checkout_that_waits_for_a_worker_ends_with_it) {
    binding_pool pool(by_hint);
    const auto held = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    const auto waiting = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    const auto cancelled = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    cancelled->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(cancelled->code() == errc::cancelled);
    pool.kill(1);
    BOOST_TEST(waiting->code() == errc::unknown_worker);
    BOOST_TEST(pool.status().queued == 0u);
}

BOOST_AUTO_TEST_CASE(a_checkout_whose_worker_dies_as_it_drains_ends_with_it) {
    auto config = bound_config(by_queue);
    config.capacity = 2;
    config.schedule = scheduling::least_loaded;
    binding_pool pool(config);
    pool.bind(1);
    pool.call("running");
    const auto by_id = pool.checkout(wish(pool.id_of_slot(1), by_queue));
    BOOST_TEST(!by_id->done);
    pool.kill(1);
    BOOST_TEST(by_id->code() == errc::unknown_worker);
    pool.bind(0);
    pool.call("running");
    const auto of_session = pool.checkout(checkout_options().session("s"));
    const auto by_preference = pool.checkout(checkout_options().worker(pool.id_of_slot(0)));
    pool.kill(0);
    BOOST_TEST(of_session->code() == errc::session_worker_unavailable);
    pool.advance(10s, 100ms);
    BOOST_TEST(by_preference->value.has_value());
    BOOST_TEST(pool.status().queued == 0u);
}

/// Of two places of a worker one is leased, and a checkout waits for both: a call that waits behind it.
struct behind_checkout {
    static pool_config config() {
        auto config = bound_config(by_queue, 1);
        config.capacity = 2;
        return config;
    }

    explicit behind_checkout(checkout_options what) {
        pool.bind(0);
        BOOST_REQUIRE(held->value.has_value());
        checkout = pool.checkout(std::move(what));
        waiting = pool.call("waiting");
        BOOST_TEST((!checkout->done && pool.worker(0).take_calls().empty()));
    }

    binding_pool pool{config()};
    std::shared_ptr<manual_pool::outcome<lease>> held = pool.checkout(checkout_options().one_place());
    std::shared_ptr<manual_pool::outcome<lease>> checkout;
    std::shared_ptr<manual_pool::outcome<reply>> waiting;
};

BOOST_AUTO_TEST_CASE(a_call_behind_a_checkout_goes_on_when_that_gives_up) {
    behind_checkout cancelled(checkout_options().session("s"));
    cancelled.checkout->cancel.emit(asio::cancellation_type::terminal);
    cancelled.pool.run_until_idle();
    BOOST_TEST(cancelled.checkout->code() == errc::cancelled);
    BOOST_TEST(cancelled.pool.serve(0) == "waiting");
}

BOOST_AUTO_TEST_CASE(a_call_behind_a_checkout_goes_on_when_that_is_too_late) {
    behind_checkout late(checkout_options().session("s").queue_timeout(1s));
    late.pool.advance(2s, 100ms);
    BOOST_TEST(late.checkout->code() == errc::queue_timeout);
    BOOST_TEST(late.pool.serve(0) == "waiting");
}

BOOST_AUTO_TEST_CASE(a_call_behind_a_checkout_is_drained_by_a_shutdown) {
    behind_checkout ending(checkout_options().session("s"));
    ending.pool.shutdown();
    BOOST_TEST(ending.checkout->code() == errc::shutting_down);
    BOOST_TEST(ending.pool.serve(0) == "waiting");
    BOOST_TEST(ending.waiting->value.has_value());
}

BOOST_AUTO_TEST_CASE(a_call_behind_a_checkout_that_drains_its_worker_goes_on_when_that_gives_up) {
    binding_pool pool(behind_checkout::config());
    pool.bind(0);
    pool.call("long");
    pool.worker(0).take_call();
    const auto draining = pool.checkout();
    const auto waiting = pool.call("waiting");
    BOOST_TEST((!draining->done && pool.worker(0).take_calls().empty()));
    draining->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST(pool.serve(0) == "waiting");
    BOOST_TEST(waiting->value.has_value());
}

/// Of two places of the first worker one is leased, and a checkout insists on the whole of that worker.
struct behind_whole_worker {
    explicit behind_whole_worker(std::size_t workers = 1) : pool(config(workers)) {
        BOOST_REQUIRE(held->value.has_value());
        checkout = pool.checkout(wish(pool.id_of_slot(0), by_queue));
        BOOST_TEST(!checkout->done);
    }

    static pool_config config(std::size_t workers) {
        auto config = bound_config(by_hint, workers);
        config.capacity = 2;
        config.schedule = scheduling::least_loaded;
        return config;
    }

    void end_held() {
        held->value.reset();
        pool.run_until_idle();
    }

    /// Answers the calls of a worker; returns their commands.
    std::string serve_all(std::size_t index) {
        std::string commands;
        for (const auto& call : pool.worker(index).take_calls()) {
            commands += commands.empty() ? "" : ", ";
            commands += call.at("command").as_string();
            pool.worker(index).reply(id_of(call));
        }
        pool.run_until_idle();
        return commands;
    }

    binding_pool pool;
    std::shared_ptr<manual_pool::outcome<lease>> held =
        pool.checkout(checkout_options().one_place().worker(pool.id_of_slot(0)));
    std::shared_ptr<manual_pool::outcome<lease>> checkout;
};

BOOST_AUTO_TEST_CASE(calls_behind_a_checkout_that_insists_keep_their_order) {
    behind_whole_worker order;
    auto& pool = order.pool;
    const auto older = pool.execute(request("older"));
    const auto later = pool.execute(request("later"));
    const auto place = pool.checkout(checkout_options().one_place());
    BOOST_TEST(pool.worker(0).take_calls().empty()); // the checkout came before them
    BOOST_TEST(!place->done);
    order.end_held();
    BOOST_REQUIRE(order.checkout->value.has_value());
    order.checkout->value.reset();
    pool.run_until_idle();
    BOOST_TEST(order.serve_all(0) == "older, later");
    BOOST_TEST((older->value && later->value));
    BOOST_TEST(place->value.has_value());
}

BOOST_AUTO_TEST_CASE(calls_behind_a_checkout_that_insists_go_on_when_that_gives_up) {
    behind_whole_worker order;
    order.pool.execute(request("older"));
    order.pool.execute(request("later"));
    order.checkout->cancel.emit(asio::cancellation_type::terminal);
    order.pool.run_until_idle();
    BOOST_TEST(order.serve_all(0) == "older");
    BOOST_TEST(order.serve_all(0) == "later");
}

BOOST_AUTO_TEST_CASE(a_checkout_that_insists_holds_up_nobody_at_other_workers) {
    behind_whole_worker order(2);
    auto& pool = order.pool;
    pool.execute(request("first"));
    pool.execute(request("second"));
    pool.execute(request("older"));
    pool.execute(request("later"));
    BOOST_TEST(order.serve_all(1) == "first, second");
    BOOST_TEST(order.serve_all(1) == "older, later");
    BOOST_TEST(pool.worker(0).take_calls().empty());
    BOOST_TEST(!order.checkout->done);
}

BOOST_AUTO_TEST_CASE(a_call_that_came_before_a_checkout_that_insists_is_not_held_up) {
    binding_pool pool(behind_whole_worker::config(1));
    const auto held = pool.checkout(checkout_options().one_place());
    const auto whole = pool.checkout(); // of any worker
    const auto older = pool.execute(request("older"));
    const auto insists = pool.checkout(wish(pool.id_of_slot(0), by_queue));
    pool.execute(request("later"));
    whole->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST((pool.serve(0) == "older" && older->value));
    BOOST_TEST((pool.worker(0).take_calls().empty() && !insists->done));
}

BOOST_AUTO_TEST_CASE(a_call_of_a_session_goes_on_when_the_checkout_before_it_gives_up) {
    binding_pool pool(behind_whole_worker::config(1));
    pool.bind(0, "s", by_queue);
    const auto held = pool.checkout(checkout_options().one_place());
    const auto whole = pool.checkout(); // of any worker
    const auto strict = pool.execute(request("strict").session("s").affinity(by_queue));
    BOOST_TEST(pool.worker(0).take_calls().empty());
    whole->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST((pool.serve(0) == "strict" && strict->value));
}

BOOST_AUTO_TEST_CASE(nothing_is_pipelined_past_a_checkout_that_insists) {
    auto config = bound_config(by_hint, 1);
    config.pipeline_depth = 1;
    binding_pool pool(config);
    pool.execute(request("running"));
    const auto insists = pool.checkout(wish(pool.id_of_slot(0), by_queue).one_place());
    const auto later = pool.execute(request("later"));
    BOOST_TEST(pool.serve(0) == "running");
    BOOST_TEST((insists->value.has_value() && pool.worker(0).take_calls().empty()));
    insists->value.reset();
    pool.run_until_idle();
    BOOST_TEST((pool.serve(0) == "later" && later->value));
}

BOOST_AUTO_TEST_CASE(a_checkout_of_a_session_gets_its_worker) {
    for (const auto mode : {by_hint, by_queue, by_fail_fast}) {
        for (const std::uint32_t slot : {0u, 1u}) {
            binding_pool pool(mode);
            pool.bind(slot);
            const auto held = pool.checkout(checkout_options().session("s"));
            BOOST_REQUIRE(held->value.has_value());
            BOOST_TEST(held->value->worker().slot == slot);
            pool.execute(*held->value, request("mine").session("s"));
            BOOST_TEST(pool.serve(slot) == "mine");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_checkout_of_a_session_binds_one_that_has_no_worker) {
    binding_pool pool(by_queue);
    auto held = pool.checkout(checkout_options().session("s"));
    BOOST_REQUIRE(held->value.has_value());
    const auto id = held->value->worker();
    BOOST_TEST((pool.ask()->worker == id && pool.ask()->is_strict && pool.ask()->calls == 1u));
    const auto waiting = pool.call("waiting");
    BOOST_TEST(!waiting->done);
    pool.advance(2h, 10min); // it is in use
    BOOST_TEST((pool.ask()->worker == id));
    const auto other = pool.checkout(checkout_options().session("s").affinity(by_fail_fast));
    BOOST_TEST(other->code() == errc::worker_busy);
    BOOST_TEST((other->info().worker == id));
    held->value.reset();
    pool.run_until_idle();
    BOOST_TEST(pool.ask()->calls == 0u);
}

BOOST_AUTO_TEST_CASE(a_checkout_that_has_waited_for_any_worker_goes_to_the_one_its_session_has_now) {
    binding_pool pool(by_queue);
    pool.execute(request("a"));
    pool.execute(request("b"));
    const auto waiting = pool.checkout(checkout_options().session("s"));
    BOOST_TEST(!waiting->done);
    pool.bind(1);
    BOOST_TEST((pool.serve(0) == "a" && !waiting->done));
    BOOST_TEST(pool.serve(1) == "b");
    BOOST_REQUIRE(waiting->value.has_value());
    BOOST_TEST(waiting->value->worker().slot == 1u);
}

BOOST_AUTO_TEST_CASE(a_checkout_of_a_lost_or_superfluous_session_is_refused) {
    auto config = bound_config(by_queue);
    config.affinity.limit = 1;
    binding_pool pool(config);
    pool.bind(0);
    const auto too_many = pool.checkout(checkout_options().session("t"));
    BOOST_TEST(too_many->code() == errc::session_quota_exceeded);
    check_mentions(too_many->text(), "affinity.limit is 1");
    BOOST_TEST(pool.checkout(checkout_options().session("t").affinity(by_hint))->value.has_value());
    pool.kill(0);
    const auto lost = pool.checkout(checkout_options().session("s"));
    BOOST_TEST(lost->code() == errc::session_worker_unavailable);
    check_mentions(lost->text(), "it is gone, and with it what it knew of the session");
    BOOST_TEST(pool.status().leases == 0u);
}

BOOST_AUTO_TEST_CASE(options_that_exclude_each_other_are_refused) {
    binding_pool pool(by_hint);
    const auto both = pool.checkout(checkout_options().session("s").worker(pool.id_of_slot(0)));
    BOOST_TEST(both->code() == errc::invalid_config);
    check_mentions(both->text(), "session and worker exclude each other");
    BOOST_TEST(pool.checkout(checkout_options().session("\xff"))->code() == errc::invalid_session);
}

BOOST_AUTO_TEST_CASE(a_checkout_goes_anywhere_once_the_session_it_waits_for_is_forgotten) {
    binding_pool pool(by_queue);
    pool.bind(0);
    pool.call("running");
    const auto waiting = pool.checkout(checkout_options().session("s"));
    BOOST_TEST(!waiting->done);
    auto forgetting = [&]() -> asio::awaitable<void> {
        auto running = pool.facade().forget_session("s");
        co_await std::move(running);
    };
    pool.begin(forgetting());
    BOOST_REQUIRE(waiting->value.has_value());
    BOOST_TEST(waiting->value->worker().slot == 1u);
    BOOST_TEST((pool.ask()->worker == pool.id_of_slot(1)));
}

BOOST_AUTO_TEST_CASE(a_checkout_whose_session_is_forgotten_keeps_its_place_in_the_queue) {
    binding_pool pool(by_queue);
    pool.bind(0);
    pool.call("running");
    pool.execute(request("busy"));
    const auto checkout = pool.checkout(checkout_options().session("s"));
    const auto later = pool.execute(request("later"));
    auto forgetting = [&]() -> asio::awaitable<void> {
        auto running = pool.facade().forget_session("s");
        co_await std::move(running);
    };
    pool.begin(forgetting());
    BOOST_TEST((!checkout->done && !later->done));
    BOOST_TEST(pool.serve(1) == "busy");
    BOOST_REQUIRE(checkout->value.has_value());
    BOOST_TEST(checkout->value->worker().slot == 1u);
    BOOST_TEST(pool.serve(0) == "running");
    BOOST_TEST(pool.serve(0) == "later");
}

BOOST_AUTO_TEST_CASE(a_checkout_uses_its_session_until_it_fails) {
    auto config = bound_config(by_queue, 1);
    config.capacity = 2;
    config.queue.limit = 1;
    binding_pool pool(config);
    pool.bind(0);
    const auto in_use = [&] { return pool.ask()->calls; };
    const auto of_session = [] { return checkout_options().session("s"); };
    pool.execute(request("running"));
    const auto draining = pool.checkout(of_session());
    BOOST_TEST((!draining->done && in_use() == 1u));
    draining->cancel.emit(asio::cancellation_type::terminal);
    pool.run_until_idle();
    BOOST_TEST((draining->code() == errc::cancelled && in_use() == 0u));

    const auto held = pool.checkout(checkout_options().one_place());
    BOOST_REQUIRE(held->value.has_value());
    const auto waiting = pool.checkout(of_session().queue_timeout(1s));
    BOOST_TEST((!waiting->done && in_use() == 1u));
    const auto saturated = pool.checkout(of_session());
    BOOST_TEST((saturated->code() == errc::pool_saturated && in_use() == 1u));
    BOOST_TEST(pool.checkout(of_session().affinity(by_fail_fast))->code() == errc::worker_busy);
    pool.advance(1s, 100ms);
    BOOST_TEST((waiting->code() == errc::queue_timeout && in_use() == 0u));
    const auto last = pool.checkout(of_session());
    BOOST_TEST((!last->done && in_use() == 1u));
    pool.shutdown();
    BOOST_TEST((last->code() == errc::shutting_down && in_use() == 0u));
}

BOOST_AUTO_TEST_CASE(a_lease_whose_worker_ended_does_not_use_its_session) {
    binding_pool pool(by_queue);
    pool.bind(0);
    const auto held = pool.checkout(checkout_options().session("s"));
    BOOST_TEST(pool.ask()->calls == 1u);
    pool.kill(0);
    BOOST_TEST((held->value.has_value() && pool.ask()->is_lost && pool.ask()->calls == 0u));
}

BOOST_AUTO_TEST_CASE(a_session_is_known_for_its_ttl_and_not_longer) {
    for (const auto mode : {by_hint, by_queue}) {
        auto config = bound_config(mode);
        config.affinity.ttl = 10s;
        binding_pool pool(config);
        pool.bind(0);
        pool.advance(10s, 1s);
        BOOST_TEST(pool.ask().has_value());
        pool.advance(1ms);
        BOOST_TEST(!pool.ask());
    }
}

BOOST_AUTO_TEST_CASE(a_session_used_in_the_moment_in_which_it_expires_in_the_store_is_kept) {
    auto config = bound_config(by_queue);
    config.sessions = std::make_shared<session_store>();
    binding_pool pool(config);
    auto& store = *config.sessions;
    complete(store.create("s", session_data().ttl(10s)));
    pool.bind(0);
    pool.call("long");
    pool.advance(10s, 1s);
    BOOST_TEST(pool.serve(0) == "long");
    pool.advance(1ms);
    BOOST_TEST(complete(store.cleanup_expired()) == 1u);
    pool.run_until_idle();
    BOOST_TEST(pool.ask().has_value());
    complete(store.create("s", session_data().ttl(10s)));
    pool.advance(11s, 1s);
    BOOST_TEST(complete(store.cleanup_expired()) == 1u);
    pool.run_until_idle();
    BOOST_TEST(!pool.ask());
}

BOOST_AUTO_TEST_CASE(to_forget_a_session_tells_whether_a_worker_was_known) {
    binding_pool pool(by_queue, 1);
    bool was_known = true;
    auto forget = [&](std::string session) -> asio::awaitable<void> {
        auto running = pool.facade().forget_session(std::move(session));
        was_known = co_await std::move(running);
    };
    pool.bind(0, "t");
    pool.execute(request("busy"));
    pool.call("waiting"); // for its first worker
    pool.begin(forget("s"));
    BOOST_TEST(!was_known);
    pool.begin(forget("t"));
    BOOST_TEST(was_known);
    pool.begin(forget("t"));
    BOOST_TEST(!was_known);
}

BOOST_AUTO_TEST_CASE(beyond_the_limit_the_session_goes_that_was_used_longest_ago) {
    auto config = bound_config(by_hint);
    config.affinity.limit = 3;
    binding_pool pool(config);
    for (const auto* each : {"a", "b", "c", "a", "d"}) {
        pool.bind(0, each);
    }
    BOOST_TEST((pool.ask("a") && !pool.ask("b") && pool.ask("c") && pool.ask("d")));
}

BOOST_AUTO_TEST_CASE(the_store_keeps_the_worker_that_served_a_session_last) {
    auto config = bound_config(by_queue);
    config.sessions = std::make_shared<session_store>();
    binding_pool pool(config);
    auto& store = *config.sessions;
    pool.bind(1);
    BOOST_TEST(!complete(store.get("s"))); // a pool creates no session there
    complete(store.create("s"));
    BOOST_TEST(!complete(store.get("s"))->last_worker_id());
    pool.call("work");
    pool.serve(1);
    BOOST_TEST((complete(store.peek("s"))->last_worker_id() == pool.id_of_slot(1)));
    pool.bind(0);
    const auto seen = complete(store.get("s"));
    BOOST_TEST((seen->last_worker_id() == pool.id_of_slot(0)));
    pool.bind(1);
    BOOST_TEST((seen->last_worker_id() == pool.id_of_slot(0))); // as it was when it was read
    BOOST_TEST((complete(store.get("s"))->last_worker_id() == pool.id_of_slot(1)));
}

BOOST_AUTO_TEST_CASE(ids_of_workers_are_read_as_they_are_written) {
    const worker_id id{"gpu.pool-1", 3, 12345678901234567890u};
    BOOST_TEST((to_worker_id(to_string(id)) == id));
    for (const auto* const text : {"", "pool", "pool/1", "pool#1", "/1#1", "pool/#1", "pool/1#", "pool/1#1 ",
                                   "pool/-1#1", "pool/+1#1", "pool/1#1#1", "a/b/1#1", "po ol/1#1",
                                   "pool/4294967296#1", "pool/1#18446744073709551616", "pool#1/1"}) {
        BOOST_TEST(!to_worker_id(text), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
