// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/spawner_task.hpp"

#include <exception>

namespace skep {

namespace {

/// Leaves the words out if there is no memory for them.
template <class Function>
void keep_if_possible(Function&& words) noexcept {
    try {
        words();
    } catch (const std::exception&) {}
}

} // namespace

void spawner_task::run(guard& process_guard) noexcept {
    try {
        start(process_guard);
        failed = false;
        return;
    } catch (const error& e) {
        keep_if_possible([&] { reason = e.info(); });
    } catch (const std::exception& e) {
        keep_if_possible([&] { reason.detail = e.what(); });
    }
    release();
}

} // namespace skep
