// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "worker/tool_failure.hpp"

#include "core/text.hpp"
#include <skep/error.hpp>

#include <boost/asio/error.hpp>
#include <boost/core/demangle.hpp>
#include <boost/system/system_error.hpp>

#include <typeinfo>

namespace skep {

namespace {

bool is_cancellation(const boost::system::system_error& problem) {
    return problem.code() == boost::asio::error::operation_aborted || problem.code() == errc::cancelled;
}

} // namespace

tool_failure failure_of(const std::exception_ptr& problem) {
    try {
        std::rethrow_exception(problem);
    } catch (const tool_error& failure) {
        return {"skep.ToolError", to_utf8(failure.what()), to_utf8(failure.code()), failure.data()};
    } catch (const boost::system::system_error& failure) {
        const auto type = is_cancellation(failure) ? std::string("skep.Cancelled")
                                                   : boost::core::demangle(typeid(failure).name());
        return {type, to_utf8(failure.what()), {}, {}};
    } catch (const std::exception& failure) {
        return {boost::core::demangle(typeid(failure).name()), to_utf8(failure.what()), {}, {}};
    } catch (...) {
        return {"unknown", "it threw something that is no std::exception", {}, {}};
    }
}

} // namespace skep
