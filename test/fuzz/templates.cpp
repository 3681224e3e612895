// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A template that sends any text to its host gets a valid report or answer out of it, or none.

#include "check.hpp"
#include "wire/template_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skep::fuzz {

namespace {

void check(std::string_view text) {
    if (const auto report = decode_template_report(text)) {
        require(report->pid > 0, "a template has a pid");
        require(text.size() <= most_template_bytes, "a long text is no report");
    }
    if (const auto answer = decode_fork_answer(text)) {
        require(answer->pid >= 0, "a worker has a valid pid");
        require(answer->pid == 0 || answer->error.empty(), "a worker has no error");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    check({reinterpret_cast<const char*>(data), size});
    return 0;
}

} // namespace skep::fuzz
