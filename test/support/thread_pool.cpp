// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A library for scripts: threads that Python does not know, as those of gRPC and OpenBLAS.

#include <pthread.h>
#include <unistd.h>

namespace {

void* work(void*) {
    for (;;) {
        pause();
    }
}

} // namespace

/// Starts `count` threads with a name of at most 15 characters. Returns the number of threads started.
extern "C" int start_pool(int count, const char* name) {
    int started = 0;
    pthread_t thread{};
    while (started < count && pthread_create(&thread, nullptr, work, nullptr) == 0) {
        pthread_setname_np(thread, name);
        pthread_detach(thread);
        ++started;
    }
    return started;
}
