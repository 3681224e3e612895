// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include <boost/log/core.hpp>
#include <boost/log/expressions.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/make_shared.hpp>

#include <sstream>
#include <string>

namespace skep::test {

/// All that is logged while it lives.
class log_capture {
public:
    log_capture() : text_(boost::make_shared<std::ostringstream>()), sink_(boost::make_shared<sink>()) {
        namespace expr = boost::log::expressions;
        sink_->set_formatter(
            expr::stream
            << expr::smessage
            << expr::if_(expr::has_attr<std::string>(
                   "Session"))[expr::stream << " (session " << expr::attr<std::string>("Session") << ')']
            << expr::if_(expr::has_attr<int>("Pid"))[expr::stream << " by pid " << expr::attr<int>("Pid")]);
        sink_->locked_backend()->add_stream(text_);
        boost::log::core::get()->add_sink(sink_);
    }
    ~log_capture() { boost::log::core::get()->remove_sink(sink_); }
    log_capture(const log_capture&) = delete;
    log_capture& operator=(const log_capture&) = delete;

    std::string text() const {
        sink_->flush();
        return text_->str();
    }

    /// How often `part` stands in it.
    int count(const std::string& part) const {
        const auto all = text();
        int found = 0;
        for (auto at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) {
            ++found;
        }
        return found;
    }

private:
    using sink = boost::log::sinks::synchronous_sink<boost::log::sinks::text_ostream_backend>;

    boost::shared_ptr<std::ostringstream> text_;
    boost::shared_ptr<sink> sink_;
};

} // namespace skep::test
