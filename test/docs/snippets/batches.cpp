// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Code of lib/server/README.md about batches.

#include <skep/worker_server.hpp>

#include <string>
#include <vector>

namespace batch_guide {

struct text_model {
    std::vector<std::vector<float>> encode(const std::vector<std::string>& texts) const {
        return std::vector<std::vector<float>>(texts.size());
    }
};

void register_batches(skep::worker_server& server, const text_model& model) {
    server.on_batch("embed", {.most = 32}, [&](skep::batch_calls calls) {
        std::vector<std::string> texts;
        for (const auto* const call : calls) {
            texts.push_back(call->arg<std::string>("text"));
        }
        return model.encode(texts);
    });
}

} // namespace batch_guide
