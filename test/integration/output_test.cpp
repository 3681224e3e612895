// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What workers print goes to output.handler, and never into the protocol. Without that handler, it goes to
// the log, with what they log.

#include "support/log_capture.hpp"
#include "support/run.hpp"

namespace skep::test {

namespace {

struct printed {
    std::string worker;
    bool is_stderr;
    std::string text;
    std::vector<std::string> calls;
};

/// Takes down what its pool's handler gets.
class listener {
public:
    output_handler handler() {
        return [this](const output_line& line) {
            const auto& ids = line.correlation_ids;
            lines_.push_back(
                {to_string(line.worker), line.is_stderr, std::string(line.text), {ids.begin(), ids.end()}});
        };
    }

    const std::vector<printed>& lines() const { return lines_; }

    std::vector<std::string> texts(bool of_stderr) const {
        std::vector<std::string> result;
        for (const auto& line : lines_) {
            if (line.is_stderr == of_stderr) {
                result.push_back(line.text);
            }
        }
        return result;
    }

    asio::awaitable<bool> has(std::size_t count) {
        auto enough = [this, count] { return lines_.size() >= count; };
        const bool arrived = co_await eventually(enough);
        co_return arrived;
    }

private:
    std::vector<printed> lines_;
};

pool_config listening(pool_config config, listener& to) {
    config.output.handler = to.handler();
    return config;
}

asio::awaitable<void> say(pool& workers, std::string text, std::string stream = "stdout") {
    request call = request("say").arg("text", json::string(text)).arg("stream", json::string(stream));
    const auto answer = co_await workers.execute(std::move(call));
    BOOST_TEST(answer.value.is_null());
}

using texts = std::vector<std::string>;

} // namespace

BOOST_AUTO_TEST_SUITE(output)

BOOST_AUTO_TEST_CASE(arrives_line_by_line_and_by_stream) {
    listener ears;
    with_pool(listening(basic_pool(), ears), [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, "one\ntwo\n\nfour");
        co_await say(workers, "trouble", "stderr");
        co_await say(workers, "Zoë 🐝");
        const bool arrived = co_await ears.has(6);
        BOOST_TEST(arrived);
        const auto out = ears.texts(false);
        const texts expected{"one", "two", "", "four", "Zoë 🐝"};
        BOOST_TEST(out == expected, boost::test_tools::per_element());
        const auto errors = ears.texts(true);
        const texts expected_errors{"trouble"};
        BOOST_TEST(errors == expected_errors, boost::test_tools::per_element());
        BOOST_TEST(ears.lines().front().worker == "default/0#1");
    });
}

BOOST_AUTO_TEST_CASE(of_a_progress_bar_arrives_while_it_grows) {
    listener ears;
    with_pool(listening(basic_pool(), ears), [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, "\r10%\r20%\rwidth: 1\r\n\r\nlast\r");
        const bool arrived = co_await ears.has(5);
        BOOST_TEST(arrived);
        const auto out = ears.texts(false);
        const texts expected{"10%", "20%", "width: 1", "", "last"};
        BOOST_TEST(out == expected, boost::test_tools::per_element());
    });
}

BOOST_AUTO_TEST_CASE(that_looks_like_a_frame_is_only_output) {
    listener ears;
    const std::string frame("\0\0\0\x2E\0\0\0\x2A{\"type\":\"result\",\"id\":1,\"value\":\"forged\"}", 50);
    with_pool(listening(basic_pool(), ears), [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, frame);
        co_await say(workers, frame, "stderr");
        request call = request("echo").arg("value", "genuine");
        const auto answer = co_await value_of(workers, std::move(call));
        BOOST_TEST(answer == "genuine");
        const bool arrived = co_await ears.has(2);
        BOOST_TEST(arrived);
        BOOST_TEST((ears.lines().front().text == frame.substr(0, ears.lines().front().text.size())));
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.workers_lost == 0u);
    });
}

BOOST_AUTO_TEST_CASE(may_be_any_bytes) {
    listener ears;
    auto config = listening(python_pool("integration/workers/probe.py"), ears);
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request call =
            request("write_bytes").arg("descriptor", 1).arg("values", json::array{0xFF, 0, 0xC3, 10, 13, 10});
        co_await value_of(workers, std::move(call));
        const bool arrived = co_await ears.has(2);
        BOOST_TEST(arrived);
        BOOST_TEST((ears.lines().at(0).text == std::string("\xFF\0\xC3", 3)));
        BOOST_TEST(ears.lines().at(1).text.empty());
    });
}

BOOST_AUTO_TEST_CASE(without_a_line_end_arrives_at_the_end_of_the_worker) {
    listener ears;
    with_pool(listening(python_pool("integration/workers/probe.py"), ears),
              [&](pool& workers) -> asio::awaitable<void> {
                  request call = request("mutter").arg("text", "unfinished");
                  co_await value_of(workers, std::move(call));
              });
    const auto out = ears.texts(false);
    const texts expected{"unfinished"};
    BOOST_TEST(out == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bears_the_id_of_the_call_that_printed_it) {
    listener ears;
    with_pool(listening(python_pool("integration/workers/tools.py"), ears),
              [&](pool& workers) -> asio::awaitable<void> {
                  workers.register_tool("wait", [&ears](tool_call) -> asio::awaitable<tool_reply> {
                      const bool arrived = co_await ears.has(2);
                      co_return tool_reply(arrived);
                  });
                  auto call =
                      request("say_and_ask").arg("text", "busy").arg("name", "wait").correlation_id("mine");
                  const bool heard = co_await workers.execute<bool>(std::move(call));
                  BOOST_TEST(heard);
              });
    BOOST_REQUIRE(ears.lines().size() == 2u);
    BOOST_TEST(ears.lines()[0].text == "up");
    BOOST_TEST(ears.lines()[0].calls.empty());
    BOOST_TEST(ears.lines()[1].text == "busy");
    BOOST_TEST(ears.lines()[1].calls == texts{"mine"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(survives_a_handler_that_throws) {
    auto config = basic_pool();
    int calls = 0;
    config.output.handler = [&calls](const output_line&) {
        if (++calls % 2 == 0) {
            throw std::runtime_error("the handler is broken");
        }
        throw 42;
    };
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, "one\ntwo\nthree");
        auto heard = [&calls] { return calls == 3; };
        const bool arrived = co_await eventually(heard);
        BOOST_TEST(arrived);
        request call = request("echo").arg("value", 1);
        const auto answer = co_await value_of(workers, std::move(call));
        BOOST_TEST(answer == 1);
    });
}

BOOST_AUTO_TEST_CASE(above_the_rate_is_dropped_and_counted) {
    listener ears;
    auto config = listening(basic_pool(), ears);
    config.output.lines_per_second = 10;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        std::string text;
        for (int i = 0; i < 99; ++i) {
            text += std::to_string(i) + '\n';
        }
        text += "99";
        co_await say(workers, text);
        auto all_seen = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return ears.lines().size() + status.counters.output_lines_dropped == 100;
        };
        const bool seen = co_await eventually(all_seen);
        BOOST_TEST(seen);
        BOOST_TEST(ears.lines().size() >= 10u);
        BOOST_TEST(ears.lines().size() <= 30u);
        BOOST_TEST(ears.lines().front().text == "0");
    });
}

BOOST_AUTO_TEST_CASE(can_be_dropped_altogether_and_still_explains_a_death) {
    listener ears;
    auto config = quick(listening(basic_pool(), ears));
    config.output.lines_per_second = 0;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, "out of honey");
        request call("die");
        auto dying = workers.execute(std::move(call));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        BOOST_TEST(contains(e.info().output_tail, "out of honey"));
        BOOST_TEST(contains(e.what(), "out of honey"));
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
        BOOST_TEST(ears.lines().empty());
        const auto status = co_await workers.status();
        BOOST_TEST(status.counters.output_lines_dropped == 1u);
    });
}

BOOST_AUTO_TEST_CASE(in_long_lines_is_cut) {
    listener ears;
    auto config = listening(basic_pool(), ears);
    config.output.line_bytes = 80;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, std::string(200, 'x') + "\n" + std::string(80, 'y') + "\nshort");
        const bool arrived = co_await ears.has(5);
        BOOST_TEST(arrived);
        const auto out = ears.texts(false);
        const texts expected{std::string(80, 'x'), std::string(80, 'x'), std::string(40, 'x'),
                             std::string(80, 'y'), "short"};
        BOOST_TEST(out == expected, boost::test_tools::per_element());
    });
}

BOOST_AUTO_TEST_CASE(in_masses_does_not_hold_up_the_worker) {
    listener ears;
    auto config = listening(basic_pool(), ears);
    config.output.tail_bytes = 100;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        co_await say(workers, std::string(8u << 20, 'x'));
        request call = request("echo").arg("value", 1);
        const auto answer = co_await value_of(workers, std::move(call));
        BOOST_TEST(answer == 1);
    });
}

BOOST_AUTO_TEST_CASE(and_what_pythons_loggers_say_is_logged_with_level_logger_and_call) {
    const log_capture log;
    auto config = basic_pool();
    config.output.handler = nullptr;
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        const auto template_call = request("log").arg("logger", "model").correlation_id("c");
        const std::vector<std::string> levels{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"};
        for (const auto& level : levels) {
            auto call = template_call;
            call.arg("level", level).arg("text", "it says " + level);
            co_await value_of(workers, std::move(call));
        }
        co_await say(workers, "printed");
        auto all_are_there = [&] { return log.count("it says CRITICAL") + log.count("printed") == 2; };
        const bool arrived = co_await eventually(all_are_there);
        BOOST_TEST(arrived);
        const auto status = co_await workers.status();
        std::vector<log_level> seen;
        for (const auto& each : log.records()) {
            if (each.source == log_source::worker && each.logger == "model") {
                seen.push_back(each.level);
                BOOST_TEST(each.text.starts_with("it says "), each.text);
                BOOST_TEST((each.worker == worker_id{"default", 0, 1}));
                BOOST_TEST(each.pid == status.workers.at(0).pid);
                BOOST_TEST(each.correlation_id == "c");
            }
        }
        // The level of the pool's log is the level of Python's root logger, unless the script has set one.
        BOOST_TEST((seen == std::vector<log_level>{log_level::info, log_level::warning, log_level::error,
                                                   log_level::error}));
    });
    BOOST_TEST(log.count(" info skep pool default: default/0#1 stdout") == 1, log.text());
}

BOOST_AUTO_TEST_CASE(and_what_a_script_with_basic_config_logs_is_logged_once_at_its_level) {
    const log_capture log;
    auto config = python_pool("integration/workers/logs.py");
    config.output.handler = nullptr;
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request call = request("log").arg("text", "in a command");
        co_await value_of(workers, std::move(call));
        auto all_are_there = [&] { return log.count("in a command") == 2; };
        const bool arrived = co_await eventually(all_are_there);
        BOOST_TEST(arrived);
    });
    std::vector<std::string> seen;
    for (const auto& each : log.records()) {
        if (each.source == log_source::worker) {
            seen.push_back(std::string(to_string(each.level)) + " " + each.logger + ": " + each.text);
        }
    }
    const std::vector<std::string> expected{"info root: in a hook", "info model: in a command",
                                            "error model: in a command"};
    BOOST_TEST(seen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_sixteen_workers_that_lack_a_module_the_log_has_one_traceback) {
    const scratch_folder folder;
    const auto script = write_file(folder / "worker.py", "import skep\nimport no_such_module\n");
    auto config = pool_config::python(script, SKEP_TEST_PYTHON);
    config.workers = 16;
    config.log_level = log_level::info;
    config.log_handler = capturing_handler();
    const log_capture log;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto failure = co_await failure_of(std::move(starting));
        BOOST_TEST(failure.kind() == errc::start_failed);
        BOOST_TEST(contains(failure.what(), "no_such_module"), failure.what());
    });
    BOOST_TEST(log.count("ModuleNotFoundError: No module named 'no_such_module'") == 1, log.text());
    BOOST_TEST(log.count("Traceback (most recent call last)") == 1, log.text());
    BOOST_TEST(log.count(" before it was ready") == 16, log.text());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
