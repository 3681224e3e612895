// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/sealed_memory.hpp"
#include <skep/shared_buffer.hpp>

namespace skep {

shared_buffer::shared_buffer(std::size_t bytes) {
    if (bytes > 0) {
        memory_ = std::make_shared<sealed_memory>(bytes);
        bytes_ = memory_->room();
    }
}

blob shared_buffer::seal() noexcept {
    const auto memory = std::move(memory_);
    const auto size = std::exchange(bytes_, {}).size();
    if (!memory) {
        return {};
    }
    memory->seal();
    return sealed_memory::show(memory, 0, size);
}

} // namespace skep
