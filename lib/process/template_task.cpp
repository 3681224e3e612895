// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/template_task.hpp"

#include <functional>
#include <utility>

namespace skep {

template_task::template_task(std::shared_ptr<template_source> source, action act)
    : source_(std::move(source)), act_(act) {
    is_of_template = true;
}

void template_task::start(guard& process_guard) {
    std::invoke(act_, *source_->templates, source_->launch.with(process_guard), abort);
}

} // namespace skep
