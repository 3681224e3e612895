// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/boost_log.hpp>

#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/log/trivial.hpp>
#include <boost/make_shared.hpp>
#include <boost/test/unit_test.hpp>

#include <sstream>
#include <string>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(boost_log)

namespace {

namespace logging = boost::log;
namespace expr = boost::log::expressions;

/// A sink that writes one line for each record while it lives.
class text_sink {
public:
    template <class Formatter>
    explicit text_sink(Formatter formatter) {
        sink_->locked_backend()->add_stream(text_);
        sink_->set_formatter(formatter);
        logging::core::get()->add_sink(sink_);
    }
    ~text_sink() { logging::core::get()->remove_sink(sink_); }
    text_sink(const text_sink&) = delete;
    text_sink& operator=(const text_sink&) = delete;

    template <class Filter>
    void filter(Filter filter) {
        sink_->set_filter(filter);
    }

    std::string text() const {
        sink_->flush();
        return text_->str();
    }

private:
    using sink = logging::sinks::synchronous_sink<logging::sinks::text_ostream_backend>;

    boost::shared_ptr<std::ostringstream> text_ = boost::make_shared<std::ostringstream>();
    boost::shared_ptr<sink> sink_ = boost::make_shared<sink>();
};

log_record said(log_source source, std::string text) {
    log_record record;
    record.level = log_level::error;
    record.source = source;
    record.pool = "blue";
    record.text = std::move(text);
    return record;
}

log_record said_by_worker(std::string text) {
    auto record = said(log_source::worker, std::move(text));
    record.worker = worker_id{"blue", 1, 2};
    record.pid = 42;
    record.session = "s";
    record.correlation_id = "c";
    record.logger = "stderr";
    return record;
}

} // namespace

BOOST_AUTO_TEST_CASE(records_have_attributes_that_filters_see) {
    text_sink sink(expr::stream << expr::attr<std::string>("Pool") << '|' << expr::attr<std::string>("Worker")
                                << '|' << expr::attr<std::string>("Session") << '|'
                                << expr::attr<std::string>("CorrelationID") << '|'
                                << expr::attr<std::string>("Logger") << '|' << expr::smessage);
    sink.filter(expr::attr<std::string>("Channel") == "skep.worker" && expr::attr<int>("Pid") == 42);
    const auto handler = boost_log_handler();
    handler(said_by_worker("first"));
    auto other = said_by_worker("of another process");
    other.pid = 43;
    handler(other);
    handler(said(log_source::pool, "of the pool"));
    BOOST_TEST(sink.text() == "blue|blue/1#2|s|c|stderr|skep pool blue: blue/1#2 stderr [c]: first\n");
}

BOOST_AUTO_TEST_CASE(members_without_a_value_are_no_attributes) {
    text_sink sink(
        expr::stream << expr::attr<std::string>("Channel") << ' ' << expr::attr<std::string>("Pool") << ' '
                     << (expr::has_attr("Worker") || expr::has_attr("Pid") || expr::has_attr("Session") ||
                         expr::has_attr("CorrelationID") || expr::has_attr("Logger"))
                     << ' ' << expr::smessage);
    boost_log_handler()(said_by_worker("full"));
    boost_log_handler()(said(log_source::pool, "of the pool"));
    BOOST_TEST(sink.text() == "skep.worker blue true skep pool blue: blue/1#2 stderr [c]: full\n"
                              "skep blue false skep pool blue: of the pool\n");
}

BOOST_AUTO_TEST_CASE(levels_are_severities) {
    text_sink sink(expr::stream << logging::trivial::severity);
    for (const auto level : {log_level::debug, log_level::info, log_level::warning, log_level::error}) {
        auto record = said(log_source::pool, "x");
        record.level = level;
        boost_log_handler()(record);
    }
    BOOST_TEST(sink.text() == "debug\ninfo\nwarning\nerror\n");
}

BOOST_AUTO_TEST_CASE(a_record_cannot_be_forged) {
    text_sink sink(expr::stream << expr::attr<std::string>("CorrelationID") << '|'
                                << expr::attr<std::string>("Logger") << '|' << expr::smessage);
    auto record = said_by_worker("a\r\nskep pool blue: forged\u009b2J\u202e\u2028\xff");
    record.correlation_id = "c\n2026-01-01 forged";
    record.logger = "m\x1b[2J";
    boost_log_handler()(record);
    BOOST_TEST(sink.text() ==
               "c\\n2026-01-01 forged|m\\x1b[2J|skep pool blue: blue/1#2 m\\x1b[2J [c\\n2026-01-01 forged]: "
               "a\\x0d\\nskep pool blue: forged\\u009b2J\\u202e\\u2028\\xff\n");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
