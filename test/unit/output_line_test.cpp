// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a line that a worker prints is handed on with.

#include "support/fake_runtime.hpp"
#include "support/log_capture.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(output_line_test)

namespace {

using ids = std::vector<std::string>;

/// A pool whose workers print as the test says, and the ids that came with the last line.
class printing_pool {
public:
    explicit printing_pool(pool_config config = fake_config()) : pool_(heard_by(*this, std::move(config))) {}

    running_pool* operator->() noexcept { return &pool_; }

    const ids& print(const std::string& text = "busy") {
        return print(pool_.status().workers.at(0).id, text);
    }

    const ids& print(const worker_id& by, const std::string& text = "busy") {
        heard_ = {"nothing"};
        pool_.runtime().print({by, false, text});
        return heard_;
    }

private:
    static pool_config heard_by(printing_pool& self, pool_config config) {
        config.output.handler = [&self](const output_line& line) {
            self.heard_.assign(line.correlation_ids.begin(), line.correlation_ids.end());
        };
        return config;
    }

    ids heard_;
    running_pool pool_;
};

pool_config with_capacity(std::size_t capacity) {
    auto config = fake_config();
    config.capacity = capacity;
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(one_that_is_printed_outside_a_call_bears_no_id) {
    printing_pool pool;
    BOOST_TEST(pool.print().empty());
    pool->warm_up();
    BOOST_TEST(pool.print().empty());
}

BOOST_AUTO_TEST_CASE(one_of_a_call_bears_the_callers_id_or_the_one_made) {
    printing_pool pool;
    pool->execute(request("x").correlation_id("mine"));
    BOOST_TEST(pool.print() == ids{"mine"});
    pool->serve();
    const auto made = pool->execute(request("x"));
    const ids printed = pool.print();
    pool->serve();
    BOOST_TEST(printed == ids{made->value->correlation_id});
}

BOOST_AUTO_TEST_CASE(calls_that_the_worker_cannot_have_begun_did_not_print_it) {
    auto config = with_capacity(2);
    config.pipeline_depth = 4;
    printing_pool pool(config);
    for (const auto* id : {"a", "b", "c"}) {
        pool->execute(request("x").correlation_id(id));
    }
    BOOST_TEST((pool.print() == ids{"a", "b"}));
    const auto calls = pool->worker(0).take_calls();
    pool->worker(0).reply(id_of(calls.at(0)));
    pool->run_until_idle();
    BOOST_TEST((pool.print() == ids{"b", "c"}));
}

BOOST_AUTO_TEST_CASE(a_call_that_was_given_up_may_still_print) {
    auto config = fake_config();
    config.cancel_grace = 1h;
    printing_pool pool(config);
    pool->execute(request("x").correlation_id("late").timeout(1s));
    pool->advance(2s);
    BOOST_TEST(pool.print() == ids{"late"});
    pool->worker(0).reply(pool->worker(0).take_call());
    pool->run_until_idle();
}

BOOST_AUTO_TEST_CASE(no_more_ids_than_64_are_listed) {
    printing_pool pool(with_capacity(100));
    for (int i = 0; i < 100; ++i) {
        pool->execute(request("x").correlation_id(std::to_string(i)));
    }
    const auto& printed = pool.print();
    BOOST_TEST(printed.size() == 64u);
    BOOST_TEST(printed.front() == "0");
}

BOOST_AUTO_TEST_CASE(a_worker_on_its_way_out_is_known_and_a_stranger_is_none) {
    printing_pool pool;
    pool->execute(request("x").correlation_id("old"));
    const auto old = pool->status().workers.at(0).id;
    const auto restarting = pool->begin(pool->facade().restart(old));
    pool->execute(request("x").correlation_id("new"));
    BOOST_REQUIRE(pool->launched() == 2u);
    BOOST_TEST(pool.print(old) == ids{"old"});
    BOOST_TEST(pool.print(worker_id{"default", 0, old.generation + 1}) == ids{"new"});
    BOOST_TEST(pool.print(worker_id{"default", 0, 99}).empty());
    BOOST_TEST(pool.print(worker_id{"default", 99, 1}).empty());
    pool->serve(0);
    pool->serve(1);
}

BOOST_AUTO_TEST_CASE(the_log_shows_the_ids) {
    const log_capture log;
    auto config = with_capacity(2);
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    running_pool pool(config);
    const auto id = pool.status().workers.at(0).id;
    pool.runtime().print({id, false, "idle"});
    pool.run_until_idle();
    BOOST_TEST(log.count("default/0#1 stdout: idle") == 1);
    pool.execute(request("x").correlation_id("a"));
    pool.execute(request("x").correlation_id("b"));
    pool.runtime().print({id, true, "busy"});
    pool.run_until_idle();
    const auto by_worker = " by pid " + std::to_string(pool.status().workers.at(0).pid);
    BOOST_TEST(log.count("default/0#1 stderr [a b]: busy" + by_worker) == 1, log.text());
}

BOOST_AUTO_TEST_CASE(records_name_the_session_of_the_call_that_they_are_about) {
    const log_capture log;
    auto config = with_capacity(2);
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    running_pool pool(config);
    const auto id = pool.status().workers.at(0).id;
    pool.execute(request("x").correlation_id("a").session("s"));
    pool.runtime().print({id, true, "in a"});
    pool.execute(request("x").correlation_id("b").session("t"));
    pool.runtime().print({id, true, "in either"});
    pool.worker(0).send_control(
        {{"type", "log"}, {"level", "error"}, {"text", "in b"}, {"correlation_id", "b"}});
    pool.worker(0).send_control({{"type", "log"}, {"level", "error"}, {"text", "in none"}});
    pool.run_until_idle();
    BOOST_TEST(log.count("in a (session s)") == 1);
    BOOST_TEST(log.count("in b (session t)") == 1);
    BOOST_TEST(log.count("(session") == 2);
}

BOOST_AUTO_TEST_CASE(what_its_code_logs_is_logged_with_level_and_logger) {
    const log_capture log;
    auto config = with_capacity(1);
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    running_pool pool(config);
    pool.worker(0).send_control({{"type", "log"}, {"level", "info"}, {"text", "quiet"}});
    pool.worker(0).send_control(
        {{"type", "log"}, {"level", "error"}, {"logger", "model"}, {"text", "no weights"}});
    pool.run_until_idle();
    BOOST_TEST(log.count("quiet") == 0);
    BOOST_TEST(log.count("default/0#1 model: no weights") == 1);
}

BOOST_AUTO_TEST_CASE(what_its_code_has_logged_is_among_its_last_words) {
    running_pool pool(with_capacity(1));
    const auto call = pool.execute(request("x"));
    pool.worker(0).send_control(
        {{"type", "log"}, {"level", "error"}, {"logger", "model"}, {"text", "no weights"}});
    pool.worker(0).send_control({{"type", "log"}, {"level", "debug"}, {"text", "giving up"}});
    pool.run_until_idle();
    pool.worker(0).exit(exit_status::exited(1));
    pool.run_until_idle();
    BOOST_TEST(call->info().output_tail.find("model: no weights\ngiving up\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_handler_gets_what_its_code_logs_too) {
    std::vector<std::string> seen;
    auto config = with_capacity(1);
    config.output.handler = [&](const output_line& line) {
        seen.push_back(std::string(line.text) + (line.is_stderr ? " as stderr of " : " of ") +
                       std::string(line.correlation_ids.front()));
        throw std::runtime_error("the handler's own");
    };
    running_pool pool(config);
    pool.worker(0).send_control({{"type", "log"},
                                 {"level", "info"},
                                 {"logger", "model"},
                                 {"text", "loaded"},
                                 {"correlation_id", "c"}});
    pool.run_until_idle();
    BOOST_REQUIRE(seen.size() == 1u);
    BOOST_TEST(seen.front() == "model: loaded as stderr of c");
    BOOST_TEST(pool.status().live == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
