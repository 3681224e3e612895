// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The user's own handler of log records: what it gets, and that nothing it does harms the pool.

#include "process/local_context.hpp"
#include "support/fake_runtime.hpp"
#include "support/text.hpp"
#include "telemetry/log.hpp"
#include "telemetry/log_queue.hpp"
#include <skep/pool_manager.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <future>
#include <set>
#include <stdexcept>
#include <thread>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(own_log_handler)

namespace {

using texts = std::vector<std::string>;

/// A pool's log whose records reach the handler as the test runs the context.
class logging_bench {
public:
    explicit logging_bench(log_handler handler) : around(make_local_context(context.get_executor())) {
        config.name = "blue";
        config.log_handler = std::move(handler);
        around.wall_now = [] { return std::chrono::system_clock::time_point(7s); };
        around.write_log_line = [this](std::string_view line) { standard_error += line; };
    }

    /// Runs what is posted, the handler's calls among it.
    void deliver() {
        context.restart();
        context.poll();
    }

    pool_log log() const { return pool_log(config, around); }

    asio::io_context context;
    pool_config config;
    pool_context around;
    std::string standard_error;
};

log_handler into(std::vector<log_record>& records) {
    return [&records](const log_record& record) { records.push_back(record); };
}

pool_config logging_to(log_handler handler, log_level level = log_level::debug) {
    auto config = fake_config();
    config.output.handler = nullptr;
    config.log_level = level;
    config.log_handler = std::move(handler);
    return config;
}

std::vector<log_record> of_workers(const std::vector<log_record>& records) {
    std::vector<log_record> result;
    for (const auto& each : records) {
        if (each.source == log_source::worker) {
            result.push_back(each);
        }
    }
    return result;
}

} // namespace

BOOST_AUTO_TEST_CASE(gets_each_member_of_a_record) {
    std::vector<log_record> records;
    logging_bench bench(into(records));
    const auto log = bench.log();
    const worker_id worker{"blue", 1, 2};
    const std::vector<std::string> ids{"a", "b"};
    log_subject about;
    about.source = log_source::worker;
    about.worker = &worker;
    about.pid = 42;
    about.session = "s";
    about.correlation_id = "c";
    about.concurrent_ids = ids;
    about.logger = "model";
    log(log_level::error, "text\n", about);
    bench.deliver();
    BOOST_REQUIRE(records.size() == 1u);
    const auto& record = records.front();
    BOOST_TEST((record.time == std::chrono::system_clock::time_point(7s)));
    BOOST_TEST((record.level == log_level::error));
    BOOST_TEST((record.source == log_source::worker));
    BOOST_TEST(record.pool == "blue");
    BOOST_TEST((record.worker == worker));
    BOOST_TEST(record.pid == 42);
    BOOST_TEST(record.session == "s");
    BOOST_TEST(record.correlation_id == "c");
    BOOST_TEST(record.concurrent_ids == ids, boost::test_tools::per_element());
    BOOST_TEST(record.logger == "model");
    BOOST_TEST(record.text == "text\n");
    BOOST_TEST(bench.standard_error == "");
}

BOOST_AUTO_TEST_CASE(a_record_of_the_pool_has_no_worker) {
    std::vector<log_record> records;
    logging_bench bench(into(records));
    bench.log()(log_level::warning, "text");
    bench.deliver();
    BOOST_REQUIRE(records.size() == 1u);
    BOOST_TEST((records.front().source == log_source::pool));
    BOOST_TEST(!records.front().worker);
    BOOST_TEST(records.front().pid == 0);
}

BOOST_AUTO_TEST_CASE(is_called_later_in_order_and_not_below_the_level) {
    texts seen;
    logging_bench bench([&](const log_record& record) { seen.push_back(record.text); });
    const auto log = bench.log();
    log(log_level::error, "first");
    log(log_level::info, "too low");
    log(log_level::warning, "second");
    BOOST_TEST(seen.empty());
    bench.deliver();
    const texts expected{"first", "second"};
    BOOST_TEST(seen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(leaves_the_executor_to_others_between_many_records) {
    int seen = 0;
    logging_bench bench([&](const log_record&) { ++seen; });
    const auto log = bench.log();
    for (int i = 0; i < 1000; ++i) {
        log(log_level::error, "x");
    }
    int seen_by_other = 0;
    asio::post(bench.context, [&] { seen_by_other = seen; });
    bench.deliver();
    BOOST_TEST(seen_by_other > 0);
    BOOST_TEST(seen_by_other < 1000);
    BOOST_TEST(seen == 1000);
}

BOOST_AUTO_TEST_CASE(that_throws_has_its_records_on_standard_error) {
    texts seen;
    logging_bench bench([&](const log_record& record) {
        seen.push_back(record.text);
        if (record.text == "first") {
            throw std::runtime_error("the handler's own");
        }
        if (record.text == "second") {
            throw 42;
        }
    });
    const auto log = bench.log();
    for (const auto* const text : {"first", "second", "third"}) {
        log(log_level::error, text);
    }
    bench.deliver();
    BOOST_TEST(seen.size() == 3u);
    BOOST_TEST(bench.standard_error == "1970-01-01T00:00:07.000Z error skep pool blue: first\n"
                                       "1970-01-01T00:00:07.000Z error skep pool blue: second\n");
}

BOOST_AUTO_TEST_CASE(that_is_too_slow_is_told_how_much_it_has_missed) {
    std::vector<log_record> records;
    logging_bench bench(into(records));
    const auto log = bench.log();
    const std::string mebibyte(1u << 20, 'x');
    for (std::size_t bytes = 0; bytes < 2 * log_queue::capacity; bytes += mebibyte.size()) {
        log(log_level::error, mebibyte);
    }
    log(log_level::error, "would fit, and comes too late");
    bench.deliver();
    const auto delivered = log_queue::capacity / mebibyte.size() - 1; // as a record has more than its text
    BOOST_REQUIRE(records.size() == delivered + 1);
    const auto& note = records.back();
    BOOST_TEST(note.text == "18 log records were dropped: config.log_handler is too slow");
    BOOST_TEST((note.level == log_level::warning && note.source == log_source::pool));
    BOOST_TEST(note.pool == "blue");
    BOOST_TEST((note.time == std::chrono::system_clock::time_point(7s)));
    log(log_level::error, "again in time");
    bench.deliver();
    BOOST_TEST(records.back().text == "again in time");
}

BOOST_AUTO_TEST_CASE(that_blocks_does_not_block_the_pools_strand) {
    std::promise<void> entered;
    std::promise<void> release;
    logging_bench bench([&](const log_record&) {
        entered.set_value();
        release.get_future().wait();
    });
    const auto log = bench.log();
    asio::post(bench.around.executor, [&] { log(log_level::error, "x"); });
    std::thread blocked([&] { bench.context.run(); });
    entered.get_future().wait();
    std::promise<void> runs;
    asio::post(bench.around.executor, [&] { runs.set_value(); });
    bench.context.run_one();
    const bool is_free = runs.get_future().wait_for(0s) == std::future_status::ready;
    release.set_value();
    blocked.join();
    BOOST_TEST(is_free);
}

BOOST_AUTO_TEST_CASE(may_outlive_the_pool_and_goes_with_the_context) {
    auto resource = std::make_shared<int>(0);
    const std::weak_ptr<int> is_alive = resource;
    {
        logging_bench bench([resource = std::move(resource)](const log_record&) { ++*resource; });
        {
            const auto log = bench.log();
            log(log_level::error, "x");
        }
        bench.config.log_handler = nullptr;
        BOOST_TEST(!is_alive.expired());
    }
    BOOST_TEST(is_alive.expired());
}

BOOST_AUTO_TEST_CASE(gets_the_levels_and_loggers_of_workers) {
    std::vector<log_record> records;
    running_pool pool(logging_to(into(records)));
    pool.execute(request("x").correlation_id("c").session("s"));
    for (const auto* const level : {"debug", "info", "warning", "error"}) {
        pool.worker(0).send_control({{"type", "log"},
                                     {"level", level},
                                     {"logger", "model"},
                                     {"text", "no weights"},
                                     {"correlation_id", "c"}});
    }
    pool.run_until_idle();
    const auto said = of_workers(records);
    std::vector<log_level> levels;
    for (const auto& each : said) {
        levels.push_back(each.level);
        BOOST_TEST(each.logger == "model");
        BOOST_TEST(each.text == "no weights");
        BOOST_TEST((each.worker == worker_id{"default", 0, 1}));
        BOOST_TEST(each.pid == pool.status().workers.at(0).pid);
        BOOST_TEST(each.correlation_id == "c");
        BOOST_TEST(each.session == "s");
    }
    BOOST_TEST((levels == std::vector<log_level>{log_level::debug, log_level::info, log_level::warning,
                                                 log_level::error}));
}

BOOST_AUTO_TEST_CASE(gets_lines_that_workers_print) {
    std::vector<log_record> records;
    auto config = logging_to(into(records));
    config.capacity = 2;
    running_pool pool(config);
    const auto id = pool.status().workers.at(0).id;
    pool.execute(request("x").correlation_id("a"));
    pool.runtime().print({id, false, "of a"});
    pool.execute(request("x").correlation_id("b"));
    pool.runtime().print({id, true, "of either"});
    pool.run_until_idle();
    const auto said = of_workers(records);
    BOOST_REQUIRE(said.size() == 2u);
    BOOST_TEST((said[0].logger == "stdout" && said[0].level == log_level::info && said[0].text == "of a"));
    BOOST_TEST((said[0].correlation_id == "a" && said[0].concurrent_ids.empty()));
    BOOST_TEST((said[1].logger == "stderr" && said[1].level == log_level::warning));
    BOOST_TEST(said[1].correlation_id == "");
    BOOST_TEST((said[1].concurrent_ids == texts{"a", "b"}));
}

BOOST_AUTO_TEST_CASE(gets_nothing_of_workers_below_the_level) {
    std::vector<log_record> records;
    running_pool pool(logging_to(into(records), log_level::error));
    for (const auto* const level : {"warning", "error"}) {
        pool.worker(0).send_control({{"type", "log"}, {"level", level}, {"text", level}});
    }
    pool.runtime().print({pool.status().workers.at(0).id, true, "a warning"});
    pool.run_until_idle();
    BOOST_REQUIRE(records.size() == 1u);
    BOOST_TEST(records.front().text == "error");
}

BOOST_AUTO_TEST_CASE(that_throws_each_time_does_not_harm_calls) {
    int seen = 0;
    running_pool pool(logging_to(
        [&](const log_record&) {
            ++seen;
            throw std::runtime_error("the handler's own");
        },
        log_level::warning));
    const auto call = pool.execute(request("x"));
    pool.runtime().print({pool.status().workers.at(0).id, true, "x"});
    BOOST_TEST(pool.serve() == "x");
    BOOST_TEST(call->value.has_value());
    BOOST_TEST(seen > 0);
}

BOOST_AUTO_TEST_CASE(may_call_the_pool) {
    running_pool* running = nullptr;
    std::vector<pool_phase> phases;
    auto config = logging_to([&](const log_record& record) {
        if (running != nullptr && record.level == log_level::warning) {
            const auto note = [&](const std::exception_ptr&, const pool_status& status) {
                phases.push_back(status.phase);
            };
            asio::co_spawn(running->facade().get_executor(), running->facade().status(), note);
            const auto drop = [](const std::exception_ptr&, const reply&) {};
            asio::co_spawn(running->facade().get_executor(), running->facade().execute(request("again")),
                           drop);
        }
    });
    config.workers = 2;
    running_pool pool(config);
    running = &pool;
    pool.warm_up(0);
    crash_worker(pool, 0);
    BOOST_TEST((phases == std::vector<pool_phase>{pool_phase::running}));
    running = nullptr;
    BOOST_TEST(pool.serve(1) == "again");
}

namespace {

class refusing_delegate final : public initialization_delegate {
public:
    asio::awaitable<void> before_first_worker() override {
        throw std::runtime_error("no licence");
        co_return;
    }
};

pool_config failing(std::string name) {
    auto config = fake_config();
    config.name = std::move(name);
    config.launch.program = "true";
    config.log_level = log_level::warning;
    config.initialization.delegate = std::make_shared<refusing_delegate>();
    return config;
}

} // namespace

BOOST_AUTO_TEST_CASE(of_a_manager_is_for_pools_without_one) {
    std::vector<log_record> of_manager;
    std::vector<log_record> of_pool;
    manager_config config;
    config.log_handler = into(of_manager);
    config.pools = {failing("red"), failing("green")};
    config.pools.back().log_handler = into(of_pool);
    asio::io_context context;
    pool_manager manager(context, std::move(config));
    manager.add(failing("blue"));
    asio::co_spawn(context, manager.start(), [](const std::exception_ptr&) {});
    while (of_manager.size() + of_pool.size() < 3 && context.run_one_for(10s) > 0) {}
    const auto pools_of = [](const std::vector<log_record>& records) {
        std::set<std::string> names;
        for (const auto& each : records) {
            names.insert(each.pool);
        }
        return names;
    };
    BOOST_TEST((pools_of(of_manager) == std::set<std::string>{"red", "blue"}));
    BOOST_TEST((pools_of(of_pool) == std::set<std::string>{"green"}));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
