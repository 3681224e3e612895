// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/event_bus.hpp>
#include <skep/initiate_coroutine.hpp>
#include <skep/pool_manager.hpp>
#include <skep/session_store.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/system_executor.hpp>

namespace skep::detail {

boost::asio::any_io_executor system_executor() {
    return boost::asio::system_executor();
}

template <class T>
void run_coroutine(boost::asio::awaitable<T> coroutine, completion<T>&& caller) {
    const auto executor = caller.get_executor();
    boost::asio::co_spawn(executor, std::move(coroutine), std::move(caller));
}

template <class T>
using coroutine = boost::asio::awaitable<T>;

template SKEP_API void run_coroutine(coroutine<void>, completion<void>&&);
template SKEP_API void run_coroutine(coroutine<bool>, completion<bool>&&);
template SKEP_API void run_coroutine(coroutine<std::size_t>, completion<std::size_t>&&);
template SKEP_API void run_coroutine(coroutine<session>, completion<session>&&);
template SKEP_API void run_coroutine(coroutine<std::optional<session>>, completion<std::optional<session>>&&);
template SKEP_API void run_coroutine(coroutine<std::optional<boost::json::value>>,
                                     completion<std::optional<boost::json::value>>&&);
template SKEP_API void run_coroutine(coroutine<session_store_stats>, completion<session_store_stats>&&);
template SKEP_API void run_coroutine(coroutine<std::optional<event>>, completion<std::optional<event>>&&);
template SKEP_API void run_coroutine(coroutine<manager_report>, completion<manager_report>&&);
template SKEP_API void run_coroutine(coroutine<std::vector<pool_status>>,
                                     completion<std::vector<pool_status>>&&);

} // namespace skep::detail
