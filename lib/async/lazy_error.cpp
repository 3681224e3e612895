// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/text.hpp"
#include <skep/lazy_error.hpp>

#include <boost/asio/error.hpp>

#include <new>
#include <utility>

namespace skep {

lazy_error::lazy_error(errc code, error_info&& info)
    : code_(code), story_(std::make_shared<error::story>(std::move(info))) {}

/// An error already has its text, so the shared story stays unchanged.
lazy_error::lazy_error(const error& cause) noexcept
    : code_(cause.kind()), story_(std::const_pointer_cast<error::story>(cause.story_)) {}

lazy_error::lazy_error(std::exception_ptr cause) noexcept {
    if (!cause) {
        return;
    }
    try {
        std::rethrow_exception(cause);
    } catch (const error& failure) {
        *this = lazy_error(failure);
    } catch (...) {
        foreign_ = std::move(cause);
    }
}

error lazy_error::to_error() const {
    if (foreign_) {
        return error_of_foreign();
    }
    try {
        return story_ ? error(story_, code_) : error(code_, error_info());
    } catch (const std::bad_alloc&) {
        return {code_, error_info()};
    }
}

error lazy_error::error_of_foreign() const {
    try {
        std::rethrow_exception(foreign_);
    } catch (const std::bad_alloc&) {
        return {errc::out_of_memory, {}};
    } catch (const boost::system::system_error& failure) {
        if (failure.code() == boost::asio::error::operation_aborted) {
            return {errc::cancelled, {}};
        }
    } catch (...) {}
    error_info info;
    info.remote_message = text_of(foreign_);
    return {errc::remote_error, std::move(info)};
}

std::exception_ptr lazy_error::to_exception() const noexcept {
    if (foreign_) {
        return foreign_;
    }
    try {
        return std::make_exception_ptr(to_error());
    } catch (const std::bad_alloc&) {
        return std::current_exception();
    }
}

} // namespace skep
