// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/served_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace skep {

void served_batch::add(std::shared_ptr<served_call> call) {
    call->join(*this);
    faces_.push_back(&call->face());
    calls_.push_back(std::move(call));
}

bool served_batch::is_cancelled() const noexcept {
    return std::all_of(calls_.begin(), calls_.end(), [](const auto& call) { return call->is_cancelled(); });
}

bool served_batch::was_interrupted() const noexcept {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const auto& call) { return call->was_interrupted(); });
}

void served_batch::interrupt_if_abandoned() {
    if (was_interrupted()) {
        handler_.cancel();
    }
}

void served_batch::answer(result results) {
    if (results.size() != calls_.size()) {
        answer(std::make_exception_ptr(std::length_error(
            "the handler of '" + calls_.front()->message().command + "' returned " +
            std::to_string(results.size()) + " results for a batch of " + std::to_string(calls_.size()))));
        return;
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
        if (const auto error = results[i].error()) {
            calls_[i]->answer(error);
        } else {
            calls_[i]->answer(std::move(results[i].value()));
        }
    }
}

void served_batch::answer(const std::exception_ptr& problem) {
    for (const auto& each : calls_) {
        each->answer(problem);
    }
}

} // namespace skep
