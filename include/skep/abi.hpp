// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

/// @file
/// Binds a program to a library that is built with the same settings. Included by the headers that need Asio.

#pragma once

#include <skep/export.hpp>

#include <boost/asio/cancellation_signal.hpp> // defines the settings, and the default size of the cache
#include <boost/version.hpp>

// Further settings of the kind in export.hpp.

#define SKEP_SETTING_PASTE(prefix, suffix) prefix##suffix
#define SKEP_SETTING_NUMBER(prefix, number) SKEP_SETTING_PASTE(prefix, number)
#define SKEP_SETTING_BOOST SKEP_SETTING_NUMBER(boost_, BOOST_VERSION)
#define SKEP_SETTING_CACHE                                                                                   \
    SKEP_SETTING_NUMBER(asio_recycling_cache_, BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE)

#if defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT)
#define SKEP_SETTING_REACTOR asio_on_io_uring
#elif defined(BOOST_ASIO_HAS_IO_URING)
#define SKEP_SETTING_REACTOR asio_on_epoll_with_io_uring
#elif defined(BOOST_ASIO_HAS_EPOLL)
#define SKEP_SETTING_REACTOR asio_on_epoll
#else
#define SKEP_SETTING_REACTOR asio_on_select
#endif

#if defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING) || defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
#define SKEP_SETTING_TRACKING asio_with_handler_tracking
#else
#define SKEP_SETTING_TRACKING asio_without_handler_tracking
#endif

#if defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING)
#define SKEP_SETTING_BLOCKS asio_without_small_block_recycling
#else
#define SKEP_SETTING_BLOCKS asio_with_small_block_recycling
#endif

#if defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
#define SKEP_SETTING_FRAMES asio_without_awaitable_frame_recycling
#else
#define SKEP_SETTING_FRAMES asio_with_awaitable_frame_recycling
#endif

#if defined(BOOST_ASIO_DISABLE_THREADS)
#define SKEP_SETTING_THREADS asio_without_threads
#else
#define SKEP_SETTING_THREADS asio_with_threads
#endif

namespace skep::built_with {

SKEP_API extern const char SKEP_SETTING_BOOST;
SKEP_API extern const char SKEP_SETTING_REACTOR;
SKEP_API extern const char SKEP_SETTING_TRACKING;
SKEP_API extern const char SKEP_SETTING_BLOCKS;
SKEP_API extern const char SKEP_SETTING_FRAMES;
SKEP_API extern const char SKEP_SETTING_THREADS;
SKEP_API extern const char SKEP_SETTING_CACHE;

[[gnu::used, gnu::retain]] static const char* const wanted[] = {
    &SKEP_SETTING_BOOST,  &SKEP_SETTING_REACTOR, &SKEP_SETTING_TRACKING, &SKEP_SETTING_BLOCKS,
    &SKEP_SETTING_FRAMES, &SKEP_SETTING_THREADS, &SKEP_SETTING_CACHE};

} // namespace skep::built_with

// Tells the library the location of its shipped files. In a build tree, the build system knows it. In an
// installation, this header has the same prefix. See process/shipped_files.hpp.
#if !defined(SKEP_BUILDING_LIBRARY)
namespace skep::shipped {

#if defined(SKEP_SHIPPED_SDK) && defined(SKEP_SHIPPED_GUARD)
[[gnu::used, gnu::retain]] SKEP_API inline const char sdk[] = SKEP_SHIPPED_SDK;
[[gnu::used, gnu::retain]] SKEP_API inline const char guard[] = SKEP_SHIPPED_GUARD;
#else
[[gnu::used, gnu::retain]] SKEP_API inline const char header[] = __FILE__;
#endif

} // namespace skep::shipped
#endif
