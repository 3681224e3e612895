// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Workers that are forked from a template.

#include "support/leak_audit.hpp"
#include "support/log_capture.hpp"
#include "support/run.hpp"

#include <boost/json/serialize.hpp>

#include <csignal>
#include <mutex>
#include <optional>
#include <set>

namespace skep::test {

namespace {

/// A pool of the script that plays its template by hand.
pool_config forked_pool(std::size_t workers = 1, const std::string& behaviour = {}) {
    auto config = quick(python_pool("integration/workers/forked.py", workers));
    config.launch.preload = true;
    config.launch.environment["BEHAVIOUR"] = behaviour;
    config.start.timeout = 60s;
    return config;
}

asio::awaitable<json::object> facts_of(pool& workers) {
    request call("facts");
    const auto answer = co_await workers.execute(std::move(call));
    co_return answer.value.as_object();
}

/// Waits until `count` workers have been forked and the last one is ready.
asio::awaitable<bool> has_forked(pool& workers, std::uint64_t count) {
    auto is_up = [&workers, count]() -> asio::awaitable<bool> {
        const auto status = co_await workers.status();
        co_return status.preload->forks == count&& status.starting == 0 && status.live == status.desired;
    };
    const bool is = co_await eventually(is_up);
    co_return is;
}

/// Calls without a pause until `stop()`.
class steady_load {
public:
    steady_load(asio::io_context& context, pool& workers, int callers) : workers_(workers), open_(callers) {
        for (int i = 0; i < callers; ++i) {
            asio::co_spawn(context, call_until_stop(), [this](std::exception_ptr problem) {
                failures_ += problem ? 1 : 0;
                --open_;
            });
        }
    }

    /// Returns how many calls have failed.
    asio::awaitable<int> stop() {
        is_over_ = true;
        auto has_ended = [this] { return open_ == 0; };
        const bool ended = co_await eventually(has_ended);
        BOOST_TEST(ended);
        co_return failures_;
    }

    int answers() const { return answers_; }

private:
    asio::awaitable<void> call_until_stop() {
        while (!is_over_) {
            request call = request("echo").arg("value", answers_);
            co_await workers_.execute(std::move(call));
            ++answers_;
        }
    }

    pool& workers_;
    int open_;
    int answers_ = 0;
    int failures_ = 0;
    bool is_over_ = false;
};

/// The most processes of a pool that status and audit have seen at once.
struct process_peak {
    std::size_t workers = 0;
    std::size_t nurseries = 0;
    bool is_wanted = true;
    bool has_ended = false;

    asio::awaitable<void> watch(pool& watched) {
        while (is_wanted) {
            const auto status = co_await watched.status();
            workers = std::max(workers, status.workers.size());
            nurseries = std::max(nurseries, guards().size() - 1);
            co_await pause(2ms);
        }
        has_ended = true;
    }

    asio::awaitable<void> stop() {
        is_wanted = false;
        auto is_over = [this] { return has_ended; };
        const bool ended = co_await eventually(is_over);
        BOOST_TEST(ended);
    }
};

/// The lines that workers and templates print.
class printed_lines {
public:
    output_handler handler() {
        return [this](const output_line& line) {
            const std::lock_guard lock(mutex_);
            text_ += std::string(line.text) + "\n";
        };
    }

    bool has(const std::string& part) const {
        const std::lock_guard lock(mutex_);
        return contains(text_, part);
    }

private:
    mutable std::mutex mutex_;
    std::string text_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(preload)

BOOST_AUTO_TEST_CASE(workers_are_forked_from_one_template) {
    with_pool(forked_pool(3), [](pool& workers) -> asio::awaitable<void> {
        const auto facts = co_await facts_of(workers);
        BOOST_TEST(facts.at("role").as_string() == "nursery");
        const auto status = co_await template_of(workers);
        BOOST_TEST((status.state == template_state::ready));
        BOOST_TEST(status.forks == 3u);
        BOOST_TEST(status.templates == 1u);
        BOOST_TEST(is_alive(status.pid));
        BOOST_TEST((status.preload_time > 0s));
        BOOST_TEST(status.objections.empty());
    });
}

BOOST_AUTO_TEST_CASE(each_slot_has_its_arguments_and_variables) {
    auto config = forked_pool(2);
    config.schedule = scheduling::round_robin;
    config.launch.args.push_back("common");
    config.launch.slot_args = {{"a", "b"}, {}};
    config.launch.slot_environment["SLOT"] = {"first", "second"};
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        std::set<std::string> seen;
        for (int i = 0; i < 2; ++i) {
            const auto facts = co_await facts_of(workers);
            seen.insert(json::serialize(facts.at("arguments")) + json::serialize(facts.at("slot")));
        }
        BOOST_TEST(seen.contains(R"(["common","a","b"]"first")"));
        BOOST_TEST(seen.contains(R"(["common"]"second")"));
        const auto status = co_await template_of(workers);
        BOOST_TEST(status.forks == 2u);
    });
}

BOOST_AUTO_TEST_CASE(the_exit_status_of_a_forked_worker_is_known) {
    with_pool(forked_pool(), [](pool& workers) -> asio::awaitable<void> {
        request leaving("leave");
        leaving.arg("status", 9);
        auto leave = workers.execute(std::move(leaving));
        const auto left = co_await failure_of(std::move(leave));
        BOOST_TEST(left.code() == errc::worker_lost);
        BOOST_TEST((left.info().status == exit_status::exited(9)), left.what());
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
        request dying("die");
        dying.arg("number", SIGSEGV);
        auto die = workers.execute(std::move(dying));
        const auto died = co_await failure_of(std::move(die));
        BOOST_TEST((died.info().status == exit_status::signalled(SIGSEGV)), died.what());
        const bool healed_again = co_await is_healed(workers);
        BOOST_TEST(healed_again);
        const auto status = co_await template_of(workers);
        BOOST_TEST(status.forks == 3u);
        BOOST_TEST(status.templates == 1u);
    });
}

/// More ends of orphans than the socket of the nursery holds.
BOOST_AUTO_TEST_CASE(the_exit_status_is_known_among_those_of_many_orphans) {
    with_pool(forked_pool(), [](pool& workers) -> asio::awaitable<void> {
        request starting("start_orphans");
        starting.arg("count", 600);
        co_await workers.execute(std::move(starting));
        request leaving("leave");
        leaving.arg("status", 9);
        auto leave = workers.execute(std::move(leaving));
        const auto left = co_await failure_of(std::move(leave));
        BOOST_TEST((left.info().status == exit_status::exited(9)), left.what());
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
}

BOOST_AUTO_TEST_CASE(what_workers_and_templates_print_is_captured) {
    printed_lines lines;
    auto config = forked_pool();
    config.output.handler = lines.handler();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request saying("say");
        saying.arg("text", "the worker is up");
        co_await workers.execute(std::move(saying));
        auto is_printed = [&] { return lines.has("the worker is up") && lines.has("the template is up"); };
        const bool is = co_await eventually(is_printed);
        BOOST_TEST(is);
    });
}

BOOST_AUTO_TEST_CASE(a_process_that_has_left_the_group_ends_with_the_pool) {
    pid_t stray = 0;
    with_pool(forked_pool(), [&](pool& workers) -> asio::awaitable<void> {
        request starting("start_stray");
        const json::value started = co_await value_of(workers, std::move(starting));
        stray = started.to_number<pid_t>();
        const auto facts = co_await facts_of(workers);
        ::kill(facts.at("pid").to_number<pid_t>(), SIGKILL);
        const bool replaced = co_await has_forked(workers, 2);
        BOOST_TEST(replaced);
        BOOST_TEST(is_alive(stray));
    });
    BOOST_TEST(!is_alive(stray));
}

BOOST_AUTO_TEST_CASE(a_rolling_restart_makes_a_template_first) {
    with_pool(forked_pool(2), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await template_of(workers);
        const auto old_worker = co_await facts_of(workers);
        co_await workers.rolling_restart();
        const auto after = co_await template_of(workers);
        BOOST_TEST(after.pid != before.pid);
        BOOST_TEST(after.templates == 2u);
        BOOST_TEST(after.forks == 4u);
        const auto new_worker = co_await facts_of(workers);
        BOOST_TEST(new_worker.at("parent") != old_worker.at("parent"));
        const bool ended = co_await is_gone(before.pid);
        BOOST_TEST(ended);
        const bool has_left = co_await is_gone(old_worker.at("parent").to_number<pid_t>());
        BOOST_TEST(has_left);
    });
}

/// Memory peaks at one more template and one more generation of workers.
BOOST_AUTO_TEST_CASE(rolling_restarts_under_load_fail_no_call) {
    constexpr std::size_t size = 3;
    auto config = quick(basic_pool(size));
    config.launch.preload = true;
    config.launch.preload_fallback = false;
    config.start.timeout = 60s;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        co_await workers.start();
        steady_load load(context, workers, 6);
        process_peak peak;
        asio::co_spawn(context, peak.watch(workers),
                       [](std::exception_ptr problem) { BOOST_TEST(!problem); });
        for (int i = 0; i < 3; ++i) {
            const int before = load.answers();
            co_await workers.rolling_restart();
            auto goes_on = [&] { return load.answers() > before + 20; };
            const bool is_answered = co_await eventually(goes_on);
            BOOST_TEST(is_answered);
        }
        co_await peak.stop();
        const int failures = co_await load.stop();
        BOOST_TEST(failures == 0);
        BOOST_TEST(peak.workers <= 2 * size);
        BOOST_TEST(peak.nurseries <= 3u); // the last workers of a generation may still be on their way out
        const auto status = co_await template_of(workers);
        BOOST_TEST(status.templates == 4u);
        BOOST_TEST(status.forks == 4 * size);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(a_rolling_restart_to_a_broken_script_keeps_workers_and_template) {
    const scratch_folder folder;
    const auto script = folder / "worker.py";
    const std::string workers_folder = std::string(SKEP_TEST_DIR) + "/integration/workers/";
    std::filesystem::copy_file(workers_folder + "forked.py", script);
    std::filesystem::copy_file(workers_folder + "template_by_hand.py", folder / "template_by_hand.py");
    auto config = forked_pool();
    config.launch.args = {script};
    config.launch.preload_fallback = false;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await template_of(workers);
        const auto old_worker = co_await facts_of(workers);
        write_file(script, "raise ValueError('no model')\n");
        auto restarting = workers.rolling_restart();
        const auto failure = co_await failure_of(std::move(restarting));
        BOOST_TEST(failure.code() == errc::restart_failed);
        BOOST_TEST(contains(failure.what(), "ValueError: no model"), failure.what());
        const auto after = co_await template_of(workers);
        BOOST_TEST(after.pid == before.pid);
        BOOST_TEST((after.state == template_state::ready));
        const auto worker = co_await facts_of(workers);
        BOOST_TEST(worker.at("pid") == old_worker.at("pid"));
    });
}

BOOST_AUTO_TEST_CASE(a_template_that_dies_is_replaced_before_a_worker_needs_it) {
    with_pool(forked_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await template_of(workers);
        ::kill(before.pid, SIGKILL);
        auto is_made_again = [&workers, &before]() -> asio::awaitable<bool> {
            const auto after = co_await template_of(workers);
            co_return after.templates == 2 && after.pid != before.pid&& after.state == template_state::ready;
        };
        const bool is = co_await eventually(is_made_again);
        BOOST_TEST(is);
        const auto after = co_await template_of(workers);
        BOOST_TEST(after.forks == 1u);
        const auto facts = co_await facts_of(workers); // the worker lives on
        ::kill(facts.at("pid").to_number<pid_t>(), SIGKILL);
        const bool forked = co_await has_forked(workers, 2);
        BOOST_TEST(forked);
        const auto last = co_await template_of(workers);
        BOOST_TEST(last.pid == after.pid);
    });
}

BOOST_AUTO_TEST_CASE(a_killed_nursery_takes_its_template_along_and_no_worker) {
    with_pool(forked_pool(), [](pool& workers) -> asio::awaitable<void> {
        const auto before = co_await facts_of(workers);
        const auto old_template = co_await template_of(workers);
        ::kill(before.at("parent").to_number<pid_t>(), SIGKILL);
        const bool has_ended = co_await is_gone(old_template.pid);
        BOOST_TEST(has_ended);
        const auto after = co_await facts_of(workers);
        BOOST_TEST(after.at("pid") == before.at("pid"));
        request leaving("leave");
        leaving.arg("status", 9);
        auto leave = workers.execute(std::move(leaving));
        const auto left = co_await failure_of(std::move(leave));
        BOOST_TEST(left.code() == errc::worker_lost);
        BOOST_TEST(left.info().status.was_taken(), left.what());
        BOOST_TEST(left.info().status.was_unreported(), left.what());
        BOOST_TEST(contains(left.what(), "the nursery of its template"), left.what());
        BOOST_TEST(!contains(left.what(), "SIGCHLD"), left.what());
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
        const auto new_template = co_await template_of(workers);
        BOOST_TEST(new_template.templates == 2u);
    });
}

BOOST_AUTO_TEST_CASE(workers_of_a_template_with_objections_are_started_without_it) {
    with_pool(forked_pool(2, "refuse"), [](pool& workers) -> asio::awaitable<void> {
        const auto facts = co_await facts_of(workers);
        BOOST_TEST(facts.at("parent").to_number<pid_t>() == ::getpid());
        const auto status = co_await template_of(workers);
        BOOST_TEST((status.state == template_state::refused));
        BOOST_TEST(status.forks == 0u);
        BOOST_TEST(status.objections == std::vector<std::string>{"3 threads: a, b, c"});
    });
}

BOOST_AUTO_TEST_CASE(events_and_the_log_tell_of_templates) {
    auto config = forked_pool();
    config.log_level = log_level::warning;
    config.log_handler = capturing_handler();
    const log_capture log;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        auto starts = workers.events().subscribe<events::template_started>();
        auto ends = workers.events().subscribe<events::template_ended>();
        const auto first = co_await template_of(workers);
        co_await workers.rolling_restart();
        auto starting = starts.next();
        const auto start = co_await std::move(starting);
        BOOST_REQUIRE(start);
        const auto second = co_await template_of(workers);
        BOOST_TEST(start->pid == second.pid);
        BOOST_TEST(start->pool == "default");
        BOOST_TEST((start->preload_time > 0s));
        auto ending = ends.next();
        const auto end = co_await std::move(ending);
        BOOST_REQUIRE(end);
        BOOST_TEST(end->is_planned);
        BOOST_TEST(end->pid == first.pid);
        BOOST_TEST(log.count("template") == 0, log.text());
        ::kill(second.pid, SIGKILL);
        const bool has_died = co_await is_gone(second.pid);
        BOOST_TEST(has_died);
        request leaving("leave");
        leaving.arg("status", 3);
        auto leave = workers.execute(std::move(leaving));
        co_await failure_of(std::move(leave));
        auto dying = ends.next();
        const auto death = co_await std::move(dying);
        BOOST_REQUIRE(death);
        BOOST_TEST(!death->is_planned);
        BOOST_TEST(death->reason == "it has ended");
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
    });
    BOOST_TEST(log.count("the template of the workers has ended: it has ended") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(a_script_that_fails_is_quoted) {
    const scratch_folder folder;
    auto config = forked_pool();
    config.launch.args = {write_file(folder / "broken.py", "raise ValueError('no model')\n")};
    config.launch.preload_fallback = false;
    const auto failure = start_failure(config);
    BOOST_TEST(contains(failure.what(), "has ended before it was ready: exit code 1"), failure.what());
    BOOST_TEST(contains(failure.what(), "ValueError: no model"), failure.what());
}

BOOST_AUTO_TEST_CASE(a_program_that_cannot_be_executed_is_named) {
    const scratch_folder folder;
    auto config = forked_pool();
    config.launch.program = write_file(folder / "worker", "#!/nowhere/interpreter\n");
    config.launch.preload_fallback = false;
    std::filesystem::permissions(config.launch.program, std::filesystem::perms::owner_all);
    const auto failure = start_failure(config);
    BOOST_TEST(contains(failure.what(), config.launch.program), failure.what());
    BOOST_TEST(contains(failure.what(), "No such file or directory"), failure.what());
}

BOOST_AUTO_TEST_CASE(workers_with_the_sdk_are_forked) {
    auto config = quick(python_pool("integration/workers/basic.py", 3));
    config.launch.preload = true;
    config.launch.preload_fallback = false;
    with_pool(config, [](pool& workers) -> asio::awaitable<void> {
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(is_alive(pid));
        const auto status = co_await template_of(workers);
        BOOST_TEST(status.forks == 3u);
    });
}

BOOST_AUTO_TEST_CASE(without_a_fallback_objections_fail_the_start) {
    auto config = forked_pool(1, "refuse");
    config.launch.preload_fallback = false;
    const auto failure = start_failure(config);
    BOOST_TEST(contains(failure.what(), "3 threads: a, b, c"), failure.what());
}

BOOST_AUTO_TEST_CASE(a_template_that_names_another_process_is_not_believed) {
    auto config = forked_pool(1, "lie");
    config.launch.preload_fallback = false;
    const auto failure = start_failure(config);
    BOOST_TEST(contains(failure.what(), "is not a new child of the nursery"), failure.what());
}

BOOST_AUTO_TEST_CASE(a_template_that_hangs_is_killed) {
    auto config = forked_pool(1, "hang");
    config.start.timeout = 5s;
    const auto failure = start_failure(config);
    BOOST_TEST(failure.code() == errc::start_failed, failure.what());
}

BOOST_AUTO_TEST_CASE(a_shutdown_ends_a_template_that_loads_its_script) {
    printed_lines lines;
    auto config = forked_pool(1, "slow");
    config.output.handler = lines.handler();
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        std::optional<errc> outcome;
        asio::co_spawn(context, workers.start(), [&](std::exception_ptr problem) {
            try {
                std::rethrow_exception(problem);
            } catch (const error& e) {
                outcome = e.kind();
            }
        });
        auto is_printed = [&] { return lines.has("the template is up"); };
        const bool is = co_await eventually(is_printed);
        BOOST_TEST(is);
        co_await workers.shutdown();
        auto has_ended = [&] { return outcome.has_value(); };
        const bool ended = co_await eventually(has_ended);
        BOOST_TEST(ended);
        BOOST_TEST((outcome == errc::shutting_down));
    });
}

BOOST_AUTO_TEST_CASE(a_failed_fork_fails_the_start) {
    const auto failure = start_failure(forked_pool(1, "fail"));
    BOOST_TEST(contains(failure.what(), "fork: no"), failure.what());
}

BOOST_AUTO_TEST_CASE(a_destroyed_pool_leaves_nothing) {
    pid_t template_pid = 0;
    pid_t worker_pid = 0;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), forked_pool());
        co_await workers.start();
        const auto status = co_await workers.status();
        template_pid = status.preload->pid;
        worker_pid = status.workers.front().pid;
    });
    BOOST_TEST(!is_alive(template_pid));
    BOOST_TEST(!is_alive(worker_pid));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
