// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/own_thread.hpp"

#include "process/run_context.hpp"

#include <chrono>

namespace skep {

own_thread::own_thread(wait_mode wait)
    : thread_([this, wait] {
          run_context(context_, wait);
          at_end_.set_value();
      }) {}

own_thread::~own_thread() {
    guard_.reset();
    at_end_.get_future().wait_for(std::chrono::seconds(1));
    context_.stop();
    thread_.join();
}

} // namespace skep
