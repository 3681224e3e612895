// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "redis/session_scripts.hpp"

#include <string>

namespace skep::session_scripts {

namespace {

// Lua numbers are doubles: microseconds since 1970 are exact, but Lua would print them rounded.
constexpr auto* time = R"(
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_ms = math.floor(now / 1000)
local function digits(n) return string.format('%.0f', n) end
local function trim(index, most)
  local expired = redis.call('ZCOUNT', index, '-inf', '(' .. digits(now_ms))
  local count = math.min(expired, most)
  if count > 0 then redis.call('ZREMRANGEBYRANK', index, 0, count - 1) end
  return count
end
)";

// A version is never below the clock, so that versions stay unique even if the server has lost the last one.
constexpr auto* session = R"(
local key, index, versions, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
local version, ttl = unpack(redis.call('HMGET', key, 'version', 'ttl'))
-- Comes last: where the script has taken longer than the ttl, the key is gone with it.
local function access(ttl)
  local ends = digits(now_ms + math.ceil(ttl / 1000000))
  redis.call('ZADD', index, ends, id)
  redis.call('HSET', key, 'seen', digits(now))
  redis.call('PEXPIREAT', key, ends)
end
local function since(field) return math.max(0, now - redis.call('HGET', key, field)) end
local function next_version()
  local next = math.max((redis.call('GET', versions) or 0) + 1, now)
  redis.call('SET', versions, digits(next))
  return digits(next)
end
-- For scripts whose last argument says how long the data may be: a longer reply would end the connection.
local function read()
  if redis.call('HSTRLEN', key, 'data') > tonumber(ARGV[#ARGV]) then error('TOOLONG') end
  local stored = redis.call('HMGET', key, 'version', 'ttl', 'created', 'data')
  local worker = redis.call('HGET', key, 'worker')
  return {stored[1], stored[2], stored[3], stored[4], since('born'), since('seen'), worker}
end
local function read_and_access()
  local found = read()
  found[6] = 0
  access(ttl)
  return found
end
)";

std::string script(const char* body) {
    return std::string(time) + session + body;
}

} // namespace

std::string_view insert() {
    static const auto text = script(R"(
local quota, new_ttl, created, data = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local count = redis.call('ZCOUNT', index, digits(now_ms), '+inf')
if version then
  return {0, count, 0, read_and_access()}
end
if count >= quota then return {0, count, trim(index, 100)} end
local first = next_version()
redis.call('HSET', key, 'version', first, 'ttl', new_ttl, 'created', created, 'born', digits(now), 'data', data)
local trimmed = trim(index, 100)
access(new_ttl)
return {1, count + 1, trimmed, first}
)");
    return text;
}

std::string_view find() {
    static const auto text = script(R"(
if not version then return false end
return ARGV[2] == '1' and read_and_access() or read()
)");
    return text;
}

std::string_view replace() {
    static const auto text = script(R"(
if not version then return false end
if version ~= ARGV[2] then return 0 end
local changed = next_version()
redis.call('HSET', key, 'version', changed, 'ttl', ARGV[3], 'data', ARGV[4])
local age = since('born')
local worker = redis.call('HGET', key, 'worker')
access(ARGV[3])
return {changed, age, worker}
)");
    return text;
}

std::string_view touch() {
    static const auto text = script(R"(
if not version then return 0 end
access(ttl)
return 1
)");
    return text;
}

std::string_view record_worker() {
    static const auto text = script(R"(
if not version then return 0 end
redis.call('HSET', key, 'worker', ARGV[2])
access(ttl)
return 1
)");
    return text;
}

std::string_view remove() {
    static const auto text = script(R"(
if not version then return 0 end
redis.call('ZREM', index, id)
return redis.call('DEL', key)
)");
    return text;
}

std::string_view sweep() {
    static const auto text = std::string(time) + "return trim(KEYS[1], tonumber(ARGV[1]))";
    return text;
}

} // namespace skep::session_scripts
