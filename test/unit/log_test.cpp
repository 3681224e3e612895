// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"
#include "support/in_a_child.hpp"
#include "support/text.hpp"
#include "telemetry/log.hpp"

#include <boost/asio/system_executor.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

using namespace skep;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(log_test)

namespace {

/// What is written to standard error while `body` runs.
template <class Body>
std::string standard_error_of(Body body) {
    char name[] = "/tmp/skep_log_XXXXXX";
    const int file = ::mkstemp(name);
    const int kept = ::dup(STDERR_FILENO);
    ::dup2(file, STDERR_FILENO);
    body();
    ::dup2(kept, STDERR_FILENO);
    ::close(kept);
    ::close(file);
    std::ifstream in(name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::remove(name);
    return text;
}

} // namespace

log_record said(std::string text, log_level level = log_level::warning,
                std::chrono::system_clock::time_point time = {}) {
    log_record record;
    record.time = time;
    record.level = level;
    record.pool = "blue";
    record.text = std::move(text);
    return record;
}

constexpr std::chrono::system_clock::time_point in_may(1'780'000'000s + 7ms);

BOOST_AUTO_TEST_CASE(a_line_has_time_level_pool_and_text) {
    BOOST_TEST(log_line(said("a worker was lost", log_level::warning, in_may)) ==
               "2026-05-28T20:26:40.007Z warning skep pool blue: a worker was lost\n");
    BOOST_TEST(log_line(said("one\ntwo", log_level::info, in_may)) ==
               "2026-05-28T20:26:40.007Z info skep pool blue: one\\ntwo\n");
}

BOOST_AUTO_TEST_CASE(a_line_cannot_be_forged) {
    const auto line = log_line(said(std::string("a\r\x1B[2J\0b\tc\x7F", 11)));
    BOOST_TEST(line == "1970-01-01T00:00:00.000Z warning skep pool blue: a\\x0d\\x1b[2J\\x00b\tc\\x7f\n");
}

BOOST_AUTO_TEST_CASE(a_line_of_a_worker_begins_with_worker_logger_and_calls) {
    auto record = said("text");
    record.source = log_source::worker;
    record.worker = worker_id{"blue", 1, 2};
    BOOST_TEST(log_line(record).ends_with(" blue: blue/1#2: text\n"), log_line(record));
    record.logger = "model\n";
    record.correlation_id = "c";
    BOOST_TEST(log_line(record).ends_with(" blue: blue/1#2 model\\n [c]: text\n"), log_line(record));
    record.correlation_id = "";
    record.concurrent_ids = {"a", "b"};
    BOOST_TEST(log_line(record).ends_with(" blue: blue/1#2 model\\n [a b]: text\n"), log_line(record));
}

BOOST_AUTO_TEST_CASE(as_json_it_has_what_is_known) {
    auto record = said("a \"b\"\n\xFF", log_level::error, in_may);
    record.source = log_source::worker;
    record.worker = worker_id{"blue", 1, 2};
    record.pid = 42;
    record.session = "s";
    record.correlation_id = "c";
    record.logger = "model";
    BOOST_TEST(
        log_line(record, log_format::json) ==
        R"({"at":"2026-05-28T20:26:40.007Z","level":"error","channel":"skep.worker","pool":"blue",)"
        R"("worker":"blue/1#2","pid":42,"session":"s","correlation_id":"c","logger":"model","text":"a \"b\"\n)"
        "\xEF\xBF\xBD\"}\n");
    BOOST_TEST(log_line(said("x", log_level::info, in_may), log_format::json) ==
               R"({"at":"2026-05-28T20:26:40.007Z","level":"info","channel":"skep","pool":"blue","text":"x"})"
               "\n");
    record = said("x");
    record.concurrent_ids = {"a", "b"};
    const auto line = log_line(record, log_format::json);
    BOOST_TEST(skep::test::contains(line, R"("concurrent_ids":["a","b"])"), line);
}

BOOST_AUTO_TEST_CASE(as_json_nothing_acts_on_a_terminal_and_all_is_told) {
    const auto line = log_line(said("\u009b2J\u202e\x7f"), log_format::json);
    BOOST_TEST(line.find(R"("text":"\u009b2J\u202e\u007f")") != std::string::npos, line);
}

/// Standard error is the far end of a pipe while this lives.
class piped_standard_error {
public:
    piped_standard_error() : kept_(::dup(STDERR_FILENO)) {
        BOOST_REQUIRE(::pipe(ends_.data()) == 0);
        ::dup2(ends_[1], STDERR_FILENO);
        ::close(ends_[1]);
    }
    ~piped_standard_error() {
        ::dup2(kept_, STDERR_FILENO);
        ::close(kept_);
        close_reader();
    }
    piped_standard_error(const piped_standard_error&) = delete;
    piped_standard_error& operator=(const piped_standard_error&) = delete;

    void close_reader() {
        if (ends_[0] >= 0) {
            ::close(std::exchange(ends_[0], -1));
        }
    }

    /// What is in the pipe, which must not be empty.
    std::string read() const {
        std::string text(1 << 20, '\0');
        text.resize(static_cast<std::size_t>(::read(ends_[0], text.data(), text.size())));
        return text;
    }

private:
    int kept_;
    std::array<int, 2> ends_{};
};

BOOST_AUTO_TEST_CASE(a_reader_that_does_not_read_holds_nobody_up) {
    pool_config config;
    const pool_log log(config, make_local_context(boost::asio::system_executor()));
    std::string first;
    std::string then;
    {
        const piped_standard_error pipe;
        for (int i = 0; i < 5000; ++i) {
            log(log_level::warning, std::string(100, 'x'));
        }
        first = pipe.read();
        log(log_level::warning, "now it fits");
        then = pipe.read();
    }
    BOOST_TEST(first.size() > 30'000u);
    BOOST_TEST(first.ends_with("x\n"));
    BOOST_TEST(then.starts_with("skep: "), then);
    BOOST_TEST(skep::test::contains(then, " lines were left out here\n"), then);
    BOOST_TEST(then.ends_with("now it fits\n"), then);
}

BOOST_AUTO_TEST_CASE(a_reader_that_is_gone_ends_nobody) {
    pool_config config;
    const pool_log log(config, make_local_context(boost::asio::system_executor()));
    {
        piped_standard_error pipe;
        pipe.close_reader();
        for (int i = 0; i < 10; ++i) {
            log(log_level::warning, "into the void");
        }
    }
    sigset_t pending;
    ::sigpending(&pending);
    BOOST_TEST(::sigismember(&pending, SIGPIPE) == 0);
    standard_error_of([&] { log(log_level::warning, "takes the count of lines along"); });
}

BOOST_AUTO_TEST_CASE(a_file_that_may_not_grow_ends_nobody) {
    const int code = skep::test::in_a_child([] {
        pool_config config;
        const pool_log log(config, make_local_context(boost::asio::system_executor()));
        ::dup2(::memfd_create("log", MFD_CLOEXEC), STDERR_FILENO);
        const ::rlimit none{0, 0};
        ::setrlimit(RLIMIT_FSIZE, &none);
        log(log_level::warning, "into a file");
        return ::lseek(STDERR_FILENO, 0, SEEK_END) == 0 ? 0 : 1;
    });
    BOOST_TEST(code == 0);
}

BOOST_AUTO_TEST_CASE(without_a_set_up_it_goes_to_standard_error) {
    pool_config config;
    config.name = "blue";
    const auto text = standard_error_of([&] {
        const pool_log log(config, make_local_context(boost::asio::system_executor()));
        log(log_level::info, "not wanted");
        log(log_level::warning, "first");
        log(log_level::error, "second", std::make_exception_ptr(std::runtime_error("why")));
    });
    BOOST_TEST(!skep::test::contains(text, "not wanted"), text);
    BOOST_TEST(skep::test::contains(text, "Z warning skep pool blue: first\n"), text);
    BOOST_TEST(skep::test::contains(text, "Z error skep pool blue: second: why\n"), text);
}

BOOST_AUTO_TEST_CASE(a_handler_that_writes_to_standard_error) {
    const auto record = said("one\ntwo", log_level::error, in_may);
    BOOST_TEST(standard_error_of([&] { stderr_log_handler()(record); }) == log_line(record));
    BOOST_TEST(standard_error_of([&] { stderr_log_handler(log_format::json)(record); }) ==
               log_line(record, log_format::json));
}

BOOST_AUTO_TEST_CASE(the_format_of_the_lines_is_the_configurations) {
    pool_config config;
    config.log_format = log_format::json;
    const auto text = standard_error_of([&] {
        const pool_log log(config, make_local_context(boost::asio::system_executor()));
        log(log_level::warning, "first");
    });
    BOOST_TEST(text.ends_with(R"("pool":"default","text":"first"})"
                              "\n"),
               text);
}

BOOST_AUTO_TEST_SUITE_END()
