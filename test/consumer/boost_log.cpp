// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A program that hands a record to Boost.Log, which writes it to standard output without sinks of the
// program's own.

#include <skep/boost_log.hpp>
#include <skep/pool_config.hpp>

int main() {
    skep::pool_config config;
    config.log_handler = skep::boost_log_handler();
    skep::log_record record;
    record.pool = config.name;
    record.text = "hello";
    config.log_handler(record);
}
