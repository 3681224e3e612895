// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/call_failure.hpp"

#include "core/text.hpp"
#include "wire/answer_messages.hpp"
#include "wire/json_writer.hpp"
#include <skep/worker_errors.hpp>

#include <boost/asio/error.hpp>
#include <boost/core/demangle.hpp>
#include <boost/system/system_error.hpp>

#include <typeinfo>
#include <utility>

namespace skep {

namespace {

error_message message_of(std::string type, std::string text) {
    error_message message;
    message.type = std::move(type);
    message.message = std::move(text);
    return message;
}

std::string type_of(const std::exception& problem) {
    return boost::core::demangle(typeid(problem).name());
}

} // namespace

call_failure cancelled_failure() {
    return {"skep.Cancelled", "the caller has cancelled the call"};
}

void refuse_unsendable(const std::string& description) {
    try {
        throw;
    } catch (const too_large& problem) {
        throw call_failure("skep.ResultTooLarge",
                           description + " is too large for the host: " + problem.what());
    } catch (const unsendable& problem) {
        throw call_failure("skep.UnserializableResult", description + " cannot be sent: " + problem.what());
    }
}

error_message describe(const std::exception_ptr& problem, bool is_interrupted) {
    try {
        std::rethrow_exception(problem);
    } catch (const call_failure& failure) {
        return message_of(failure.type(), failure.what());
    } catch (const passed_on_error& error) {
        return error.message();
    } catch (const worker_error& failure) {
        const bool is_derived = typeid(failure) != typeid(worker_error);
        auto message = message_of(is_derived ? type_of(failure) : "skep.Error", failure.what());
        message.code = failure.code();
        message.data = failure.data();
        return message;
    } catch (const invalid_arguments& failure) {
        return message_of("skep.InvalidArguments", failure.what());
    } catch (const host_tool_error& failure) {
        return message_of("skep.HostError", failure.what());
    } catch (const boost::system::system_error& failure) {
        if (is_interrupted && failure.code() == boost::asio::error::operation_aborted) {
            const auto cancelled = cancelled_failure();
            return message_of(cancelled.type(), cancelled.what());
        }
        return message_of(type_of(failure), text_of(problem));
    } catch (const std::exception& failure) {
        return message_of(type_of(failure), text_of(problem));
    } catch (...) {
        return message_of("unknown", "an exception that is no std::exception");
    }
}

} // namespace skep
