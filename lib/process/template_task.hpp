// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "process/spawner_task.hpp"
#include "process/template_launcher.hpp"

#include <memory>

namespace skep {

/// Makes a template: one with the present script, or one for a template that has ended.
class template_task final : public spawner_task {
public:
    using action = void (preload::*)(const template_maker&, launch_abort&);

    template_task(std::shared_ptr<template_source> source, action act);

private:
    void start(guard& process_guard) override;

    std::shared_ptr<template_source> source_;
    const action act_;
};

} // namespace skep
