// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/local_context.hpp"
#include "support/in_a_child.hpp"
#include "support/text.hpp"
#include "telemetry/log.hpp"

#include <boost/asio/system_executor.hpp>
#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/make_shared.hpp>
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

BOOST_AUTO_TEST_CASE(a_line_has_time_level_pool_and_text) {
    const std::chrono::system_clock::time_point moment(1'780'000'000s + 7ms);
    BOOST_TEST(log_line(moment, log_level::warning, "blue", "a worker was lost") ==
               "2026-05-28T20:26:40.007Z warning skep pool blue: a worker was lost\n");
    BOOST_TEST(log_line(moment, log_level::info, "blue", "one\ntwo") ==
               "2026-05-28T20:26:40.007Z info skep pool blue: one\\ntwo\n");
}

BOOST_AUTO_TEST_CASE(a_line_cannot_be_forged) {
    const auto line = log_line({}, log_level::warning, "blue", std::string("a\r\x1B[2J\0b\tc\x7F", 11));
    BOOST_TEST(line == "1970-01-01T00:00:00.000Z warning skep pool blue: a\\x0d\\x1b[2J\\x00b\tc\\x7f\n");
}

/// Of a worker with pid 42, during call c of session s.
log_subject what_it_said(const worker_id& who) {
    log_subject about;
    about.channel = "skep.worker";
    about.worker = &who;
    about.pid = 42;
    about.session = "s";
    about.correlation_id = "c";
    return about;
}

BOOST_AUTO_TEST_CASE(as_json_it_has_what_is_known) {
    const std::chrono::system_clock::time_point moment(1'780'000'000s + 7ms);
    const worker_id who{"blue", 1, 2};
    auto about = what_it_said(who);
    about.logger = "model";
    about.label = "for the eye alone";
    BOOST_TEST(
        json_log_line(moment, log_level::error, "blue", "a \"b\"\n\xFF", about) ==
        R"({"at":"2026-05-28T20:26:40.007Z","level":"error","channel":"skep.worker","pool":"blue",)"
        R"("worker":"blue/1#2","pid":42,"session":"s","correlation_id":"c","logger":"model","text":"a \"b\"\n)"
        "\xEF\xBF\xBD\"}\n");
    BOOST_TEST(json_log_line(moment, log_level::info, "blue", "x", {}) ==
               R"({"at":"2026-05-28T20:26:40.007Z","level":"info","channel":"skep","pool":"blue","text":"x"})"
               "\n");
}

BOOST_AUTO_TEST_CASE(records_have_attributes_that_filters_see) {
    namespace logging = boost::log;
    namespace expr = boost::log::expressions;
    const auto stream = boost::make_shared<std::ostringstream>();
    using text_sink = logging::sinks::synchronous_sink<logging::sinks::text_ostream_backend>;
    const auto sink = boost::make_shared<text_sink>();
    sink->locked_backend()->add_stream(stream);
    sink->set_filter(expr::attr<std::string>("Channel") == "skep.worker" && expr::attr<int>("Pid") == 42);
    sink->set_formatter(
        expr::stream << expr::attr<std::string>("Pool") << '|' << expr::attr<std::string>("Worker") << '|'
                     << expr::attr<std::string>("Session") << '|' << expr::attr<std::string>("CorrelationID")
                     << '|' << expr::attr<std::string>("Logger") << '|' << expr::smessage);
    logging::core::get()->add_sink(sink);
    pool_config config;
    config.log_to = log_destination::boost_log;
    config.name = "blue";
    const pool_log log(config, make_local_context(boost::asio::system_executor()));
    const worker_id who{"blue", 1, 2};
    auto about = what_it_said(who);
    about.logger = "stderr";
    log(log_level::error, "first", about);
    about.pid = 43;
    log(log_level::error, "of another process", about);
    log(log_level::error, "of the pool");
    logging::core::get()->remove_sink(sink);
    BOOST_TEST(stream->str() == "blue|blue/1#2|s|c|stderr|skep pool blue: first\n");
}

BOOST_AUTO_TEST_CASE(a_record_cannot_be_forged_either) {
    namespace logging = boost::log;
    namespace expr = boost::log::expressions;
    const auto stream = boost::make_shared<std::ostringstream>();
    using text_sink = logging::sinks::synchronous_sink<logging::sinks::text_ostream_backend>;
    const auto sink = boost::make_shared<text_sink>();
    sink->locked_backend()->add_stream(stream);
    sink->set_formatter(expr::stream << expr::attr<std::string>("CorrelationID") << '|'
                                     << expr::attr<std::string>("Logger") << '|' << expr::smessage);
    logging::core::get()->add_sink(sink);
    pool_config config;
    config.log_to = log_destination::boost_log;
    config.name = "blue";
    const pool_log log(config, make_local_context(boost::asio::system_executor()));
    const worker_id who{"blue", 1, 2};
    auto about = what_it_said(who);
    about.correlation_id = "c\n2026-01-01 forged";
    about.logger = "m\x1b[2J";
    about.label = "blue/1#2 m\n: ";
    log(log_level::error, "a\r\nskep pool blue: forged\u009b2J\u202e\u2028\xff", about);
    logging::core::get()->remove_sink(sink);
    BOOST_TEST(stream->str() == "c\\n2026-01-01 forged|m\\x1b[2J|skep pool blue: blue/1#2 m\\n: "
                                "a\\x0d\\nskep pool blue: forged\\u009b2J\\u202e\\u2028\\xff\n");
}

BOOST_AUTO_TEST_CASE(as_json_nothing_acts_on_a_terminal_and_all_is_told) {
    const auto line = json_log_line({}, log_level::error, "blue", "\u009b2J\u202e\x7f", {});
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

BOOST_AUTO_TEST_SUITE_END()
