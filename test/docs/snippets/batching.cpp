// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The code that lib/pool/BATCHING.md quotes.

#include <skep/pool_config.hpp>
#include <skep/request.hpp>
#include <skep/worker_server.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace batching_guide {

struct embedding_model {
    std::vector<std::vector<double>> embed(const std::vector<std::string>& texts);
};

void add_batch_command(skep::worker_server& server, embedding_model& model) {
    server.on_batch("embed", {.most = 32}, [&](skep::batch_calls calls) {
        std::vector<std::string> texts;
        for (const auto* const call : calls) {
            texts.push_back(call->arg<std::string>("text"));
        }
        return model.embed(texts); // as many results
    });
}

void set_limits(skep::pool_config& config) {
    config.commands["embed"].batch = 16;
    config.commands["embed"].batch_wait = 2ms;
}

skep::request classify(skep::blob image) {
    auto call = skep::request("classify").attach(std::move(image)).batch_key("224x224");
    return call;
}

} // namespace batching_guide
