// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/text.hpp"
#include <skep/exit_class.hpp>

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <set>
#include <string>
#include <vector>

using namespace skep;
using test::contains;

namespace skep {

std::ostream& operator<<(std::ostream& out, exit_class kind) {
    return out << to_string(kind);
}

} // namespace skep

BOOST_AUTO_TEST_SUITE(exit_class_test)

namespace {

using enum exit_class;

constexpr int class_count = 9;

exit_verdict classify(exit_status status, std::string_view last_words = {}) {
    exit_evidence evidence;
    evidence.status = status;
    evidence.last_words = last_words;
    return classify_exit(evidence);
}

exit_class class_of_words(std::string_view last_words, exit_status status = exit_status::exited(1)) {
    return classify(status, last_words).kind;
}

} // namespace

BOOST_AUTO_TEST_CASE(names_go_both_ways) {
    std::set<std::string_view> names;
    for (int i = 0; i < class_count; ++i) {
        const auto kind = static_cast<exit_class>(i);
        names.insert(to_string(kind));
        BOOST_TEST((exit_class_of(to_string(kind)) == kind));
    }
    BOOST_TEST(names.size() == static_cast<std::size_t>(class_count));
    BOOST_TEST(to_string(out_of_memory) == "out_of_memory");
    BOOST_TEST(to_string(killed_by_someone) == "killed_by_someone");
    for (const auto name : {"", "oom", "Segfault", "segfault "}) {
        BOOST_TEST(!exit_class_of(name).has_value(), name);
    }
}

BOOST_AUTO_TEST_CASE(which_ends_are_crashes) {
    for (const auto kind : {segfault, exit_class::abort, out_of_memory, gpu, exit_class::error}) {
        BOOST_TEST(is_crash(kind), kind);
    }
    for (const auto kind : {unknown, clean, killed_by_us, killed_by_someone}) {
        BOOST_TEST(!is_crash(kind), kind);
    }
}

BOOST_AUTO_TEST_CASE(by_status_alone) {
    const std::vector<std::pair<int, exit_class>> signals{
        {SIGSEGV, segfault},          {SIGBUS, segfault},           {SIGILL, segfault},
        {SIGFPE, segfault},           {SIGABRT, exit_class::abort}, {SIGKILL, killed_by_someone},
        {SIGTERM, killed_by_someone}, {SIGINT, killed_by_someone},  {SIGHUP, killed_by_someone},
        {SIGPIPE, killed_by_someone}, {SIGXCPU, killed_by_someone}};
    for (const auto& [signal, kind] : signals) {
        BOOST_TEST(classify(exit_status::signalled(signal)).kind == kind, "signal " << signal);
        BOOST_TEST(classify(exit_status::exited(128 + signal)).kind == kind, "exit code " << 128 + signal);
    }
    const std::vector<std::pair<int, exit_class>> codes{{0, clean},
                                                        {1, exit_class::error},
                                                        {2, exit_class::error},
                                                        {70, exit_class::error},
                                                        {127, exit_class::error},
                                                        {128, exit_class::error},
                                                        {139, segfault},
                                                        {134, exit_class::abort},
                                                        {137, killed_by_someone},
                                                        {143, killed_by_someone},
                                                        {130, killed_by_someone},
                                                        {160, exit_class::error},
                                                        {255, exit_class::error}};
    for (const auto& [code, kind] : codes) {
        BOOST_TEST(classify(exit_status::exited(code)).kind == kind, "exit code " << code);
    }
    BOOST_TEST(classify(exit_status()).kind == unknown);
}

BOOST_AUTO_TEST_CASE(the_evidence_is_for_people) {
    BOOST_TEST(classify(exit_status::signalled(SIGSEGV)).evidence == "signal 11 (Segmentation fault)");
    BOOST_TEST(classify(exit_status::exited(139)).evidence ==
               "exit code 139, by which a shell reports signal 11 (Segmentation fault)");
    BOOST_TEST(classify(exit_status::exited(3)).evidence == "exit code 3");
    BOOST_TEST(classify(exit_status()).evidence == "unknown exit status");
    BOOST_TEST(classify(exit_status::exited(1), "MemoryError\n").evidence ==
               "exit code 1; its last words are of \"MemoryError\"");
    BOOST_TEST(classify(exit_status::exited(1), "RuntimeError: cuda error: oops").evidence ==
               "exit code 1; its last words are of \"CUDA\"");
}

BOOST_AUTO_TEST_CASE(killed_by_us_needs_our_signal_and_an_end_that_follows_from_it) {
    const std::vector<std::pair<exit_status, exit_class>> table{
        {exit_status::signalled(SIGKILL), killed_by_us},
        {exit_status::signalled(SIGTERM), killed_by_us},
        {exit_status::exited(137), killed_by_us},
        {exit_status::exited(143), killed_by_us},
        {exit_status::exited(1), killed_by_us}, // its handler of SIGTERM
        {exit_status(), killed_by_us},
        {exit_status::exited(0), clean}, // it complied
        {exit_status::signalled(SIGSEGV), segfault},
        {exit_status::signalled(SIGABRT), exit_class::abort},
    };
    for (const auto& [status, kind] : table) {
        exit_evidence evidence;
        evidence.status = status;
        evidence.killed_by_pool = true;
        BOOST_TEST(classify_exit(evidence).kind == kind, to_string(status));
    }
}

BOOST_AUTO_TEST_CASE(our_own_signal_comes_before_lack_of_memory) {
    exit_evidence evidence;
    evidence.status = exit_status::signalled(SIGKILL);
    evidence.killed_by_pool = true;
    evidence.oom_kill = true;
    evidence.last_words = "MemoryError";
    BOOST_TEST(classify_exit(evidence).kind == killed_by_us);
}

BOOST_AUTO_TEST_CASE(the_kernels_kill_for_lack_of_memory) {
    const std::vector<std::pair<exit_status, exit_class>> table{
        {exit_status::signalled(SIGKILL), out_of_memory},
        {exit_status::exited(137), out_of_memory},
        {exit_status(), out_of_memory},
        {exit_status::signalled(SIGTERM), killed_by_someone},
        {exit_status::signalled(SIGSEGV), segfault}, // the kernel uses SIGKILL: it was another process
        {exit_status::exited(1), exit_class::error},
        {exit_status::exited(0), clean},
    };
    for (const auto& [status, kind] : table) {
        exit_evidence evidence;
        evidence.status = status;
        evidence.oom_kill = true;
        const auto verdict = classify_exit(evidence);
        BOOST_TEST(verdict.kind == kind, to_string(status));
        BOOST_TEST(contains(verdict.evidence, "the kernel counted an out-of-memory kill on this machine") ==
                   (kind == out_of_memory));
    }
}

BOOST_AUTO_TEST_CASE(it_said_so_itself) {
    for (const auto words : {
             "MemoryError",
             "MemoryError\n",
             "MemoryError: too large\n\n",
             "Traceback (most recent call last):\n  File \"m.py\", line 3, in load\n    "
             "grow()\nMemoryError\n",
             "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array\n",
             "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
             "sh: fork: Cannot allocate memory\r\n",
             "OSError: [Errno 12] Cannot allocate memory",
             "Out of memory",
             "FATAL: out of memory\nbye\n",
             "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
             "java.lang.OutOfMemoryError: Java heap space",
             "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.",
         }) {
        BOOST_TEST(class_of_words(words) == out_of_memory, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGABRT)) == out_of_memory, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGKILL)) == out_of_memory, words);
        BOOST_TEST(class_of_words(words, exit_status::exited(137)) == out_of_memory, words);
        BOOST_TEST(class_of_words(words, exit_status::exited(0)) == clean, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGTERM)) == killed_by_someone, words);
        BOOST_TEST(class_of_words(words, exit_status()) == unknown, words);
    }
}

BOOST_AUTO_TEST_CASE(words_of_memory_that_are_not_the_cause) {
    const std::string traceback = "Traceback (most recent call last):\n  File \"m.py\", line 3\n";
    for (const auto& words : std::vector<std::string>{
             "",
             "\n\n\n",
             "caught MemoryError, using smaller batches\n" + traceback + "ValueError: bad input\n",
             "MemoryError\none\ntwo\nthree\nfour\n",
             traceback + "    raise MemoryError from None\nKeyError: 'x'\n",
             "MemoryErrorHandler is installed\n",
             "a big cache cannot run out of memory\n",
             "ValueError: the job must not run out of memory\n",
         }) {
        BOOST_TEST(class_of_words(words) == exit_class::error, words);
    }
}

BOOST_AUTO_TEST_CASE(the_gpu) {
    for (const auto words : {
             "RuntimeError: CUDA error: an illegal memory access was encountered\n"
             "CUDA kernel errors might be asynchronously reported at some other API call.\n"
             "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n"
             "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n\n",
             "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", // of a device
             "RuntimeError: cuda error: out of memory",
             "RuntimeError: HIP out of memory. Tried to allocate 20 MiB",
             "HIP error: invalid device function",
             "hipErrorNoBinaryForGpu: Unable to find code object",
             "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
             "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate(handle)",
             "RuntimeError: No CUDA GPUs are available",
             "cudaErrorLaunchFailure: unspecified launch failure",
             "GPU has fallen off the bus",
             "fatal: GPU hang detected",
             "terminate called after throwing an instance of 'c10::Error'\n"
             "  what():  CUDA error: device-side assert triggered\n"
             "CUDA kernel errors might be asynchronously reported at some other API call.\n"
             "For debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n"
             "Exception raised from c10_cuda_check at CUDAException.cpp:43 (most recent call first):\n"
             "frame #0: c10::Error::Error() + 0x57\nframe #1: one\nframe #2: two\nframe #3: three\nframe #4: "
             "four\n",
         }) {
        BOOST_TEST(class_of_words(words) == gpu, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGABRT)) == gpu, words);
        BOOST_TEST(class_of_words(words, exit_status::exited(134)) == gpu, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGSEGV)) == segfault, words);
        BOOST_TEST(class_of_words(words, exit_status::signalled(SIGKILL)) == killed_by_someone, words);
        BOOST_TEST(class_of_words(words, exit_status::exited(0)) == clean, words);
    }
}

BOOST_AUTO_TEST_CASE(words_of_the_gpu_that_are_not_the_cause) {
    const std::string traceback = "Traceback (most recent call last):\n  File \"m.py\", line 3\n";
    for (const auto& words : std::vector<std::string>{
             "using CUDA 12.1\nGPU 0: A100\n",
             "CUDA error, falling back to the CPU\n" + traceback + "ValueError: bad input\n",
             traceback + "    raise RuntimeError(\"CUDA error\")\nKeyError: 'x'\n",
             "CUDA error\none\ntwo\nthree\nfour\n",
             "KeyError: 'gpu'",
             "ValueError: GPU count must be positive",
             "error: cannot open /data/gpu/model.bin",
             "train-gpu.py: error: unknown option",
             "gpu.py: error: unknown option",
             "error: bad value in --gpu",
             "error: the ship failed",
             "fatal: barracuda failed",
             "RuntimeError: failed as the tensors are on cuda:0 and cpu",
             "RuntimeError: failed in fork of relationship",
         }) {
        BOOST_TEST(class_of_words(words) == exit_class::error, words);
    }
}

BOOST_AUTO_TEST_CASE(hostile_last_words_are_survived_and_not_repeated) {
    std::string words(100'000, '\xff');
    words += std::string("\0\n: \n::\n'\n\x80MemoryError\n", 24);
    const auto verdict = classify(exit_status::exited(1), words);
    BOOST_TEST(verdict.kind == out_of_memory);
    BOOST_TEST(is_utf8(verdict.evidence));
    for (std::size_t cut = 0; cut < 40; ++cut) {
        classify(exit_status::exited(1), std::string_view(words).substr(words.size() - cut));
    }
}

BOOST_AUTO_TEST_CASE(the_stacks_of_faulthandler_hide_no_cause_and_are_none) {
    std::string stacks = "Fatal Python error: Aborted\n\n";
    for (int i = 0; i < 20; ++i) {
        stacks += "Thread 0x00007f (most recent call first):\n  File \"/srv/cuda error.py\", line 1 in f\n\n";
    }
    stacks += "Current thread 0x00007f (most recent call first):\n  File \"worker.py\", line 2 in g\n\n"
              "Extension modules: cuda, errors (total: 2)\n";
    const auto cause = "terminate called after throwing an instance of 'std::bad_alloc'\n"
                       "  what():  std::bad_alloc\n";
    BOOST_TEST(class_of_words(cause + stacks, exit_status::signalled(SIGABRT)) == out_of_memory);
    BOOST_TEST(class_of_words(stacks, exit_status::signalled(SIGABRT)) == exit_class::abort);
}

BOOST_AUTO_TEST_SUITE_END()
