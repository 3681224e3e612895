// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/redis_protocol.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace skep {

namespace {

struct refusal {
    std::string_view kind;
    std::string_view meaning;
};

constexpr std::array<refusal, 11> known_refusals{{
    {"TOOLONG", "the session takes more than this service's session_bytes"},
    {"WRONGTYPE", "a key under the prefix holds something else"},
    {"OOM", "the server has no memory left"},
    {"NOAUTH", "the server wants a password"},
    {"WRONGPASS", "the server does not accept username and password"},
    {"NOPERM", "the user may not do that"},
    {"READONLY", "the server is a replica that does not take changes"},
    {"LOADING", "the server is still loading its data"},
    {"BUSY", "the server is busy with a script"},
    {"MISCONF", "the server cannot save its data, and takes no changes"},
    {"MOVED", "the server is part of a cluster"},
}};

constexpr std::size_t longest_kind = 32;

bool is_capital(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z';
}

} // namespace

std::string redis_command(const std::vector<std::string_view>& words) {
    std::vector<const char*> texts;
    std::vector<std::size_t> lengths;
    for (const auto word : words) {
        texts.push_back(word.data());
        lengths.push_back(word.size());
    }
    char* formatted = nullptr;
    const auto length =
        ::redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), texts.data(), lengths.data());
    if (length < 0) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<char, decltype(&::redisFreeCommand)> owner(formatted, &::redisFreeCommand);
    return {formatted, static_cast<std::size_t>(length)};
}

std::string redis_refusal(std::string_view message) {
    for (const auto& [kind, meaning] : known_refusals) {
        // Anywhere in the text: before Redis 7, a script's error starts with a prefix.
        if (message.find(kind) != std::string_view::npos) {
            return std::string(kind) + ": " + std::string(meaning);
        }
    }
    message = message.substr(0, longest_kind);
    const auto end = std::find_if_not(message.begin(), message.end(), is_capital);
    return "the server refused it: " + std::string(message.begin(), end);
}

redis_parser::redis_parser(std::size_t reply_bytes) : scanner_(reply_bytes), reader_(::redisReaderCreate()) {
    if (!reader_) {
        throw std::bad_alloc();
    }
}

void redis_parser::feed(std::string_view bytes) {
    const auto good = scanner_.scan(bytes);
    if (::redisReaderFeed(reader_.get(), bytes.data(), good) != REDIS_OK) {
        throw std::bad_alloc();
    }
}

redis_reply redis_parser::take() {
    void* reply = nullptr;
    if (problem_.empty() && ::redisReaderGetReply(reader_.get(), &reply) != REDIS_OK) {
        problem_ = "does not speak Redis' protocol"; // according to hiredis
    } else if (reply == nullptr && problem_.empty()) {
        problem_ = scanner_.problem();
    }
    return redis_reply(static_cast<redisReply*>(reply));
}

} // namespace skep
