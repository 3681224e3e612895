// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include <skep/exit_class.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <initializer_list>
#include <vector>

namespace skep {

namespace {

constexpr std::array<std::string_view, 9> names{"unknown",  "clean",        "error",
                                                "segfault", "abort",        "out_of_memory",
                                                "gpu",      "killed_by_us", "killed_by_someone"};

// --- Exit status
// -------------------------------------------------------------------------------------------------

/// Returns the signal that ended the process, including exit code 128+n of a shell or launcher; 0 if none.
int signal_of(const exit_status& status) {
    const int reported = status.code() - 128;
    return reported >= 1 && reported <= 31 ? reported : status.signal();
}

exit_class class_of(const exit_status& status) {
    switch (signal_of(status)) {
    case 0: break;
    case SIGSEGV:
    case SIGBUS:
    case SIGILL:
    case SIGFPE: return exit_class::segfault;
    case SIGABRT: return exit_class::abort;
    default: return exit_class::killed_by_someone;
    }
    if (!status.known()) {
        return exit_class::unknown;
    }
    return status.success() ? exit_class::clean : exit_class::error;
}

std::string describe(const exit_status& status) {
    const int signal = signal_of(status);
    if (signal == 0 || status.by_signal()) {
        return to_string(status);
    }
    return to_string(status) + ", by which a shell reports " + to_string(exit_status::signalled(signal));
}

// --- Last output
// -------------------------------------------------------------------------------------------------

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        std::string line(text.substr(0, end));
        std::transform(line.begin(), line.end(), line.begin(),
                       [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
        lines.push_back(std::move(line));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

/// Returns true for an empty line, and for a line of source or of a stack: such lines may contain any word.
/// Includes the lines that faulthandler prints beside the frames.
bool is_stack(const std::string& line) {
    static constexpr std::array<std::string_view, 7> beginnings{
        "    ",      "  file \"",      "  binary file \"",  "frame #",
        "thread 0x", "current thread", "extension modules:"};
    return line.find_first_not_of(" \t\r") == std::string::npos ||
           std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view each) { return line.starts_with(each); });
}

/// Returns true if the line begins the account of a fatal error; the whole account is about that error.
bool begins_account(const std::string& line) {
    return line.starts_with("traceback (most recent") || line.starts_with("terminate called");
}

/// Returns the lines, in lower case, that explain the end: the last account of a fatal error, or else the
/// last few lines.
std::vector<std::string> cause_in(std::string_view last_words) {
    constexpr std::ptrdiff_t longest_account = 10;
    constexpr std::ptrdiff_t few = 4;
    auto lines = lines_of(last_words);
    std::erase_if(lines, is_stack);
    const auto recent = [&](std::ptrdiff_t count) { return std::min(count, std::ssize(lines)); };
    const auto account =
        std::find_if(lines.rbegin(), lines.rbegin() + recent(longest_account), begins_account).base();
    const bool found = account != lines.end() - recent(longest_account);
    const auto begin = found ? account - 1 : lines.end() - recent(few);
    return {begin, lines.end()};
}

bool is_word(char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 || each == '_';
}

/// Returns true if the word stands alone: "hip" is not a word in "ship". A path, an option, a quoted or
/// dotted name, or a device like cuda:0 does not count either: it names a thing and reports no error.
bool stands_alone(const std::string& line, std::size_t begin, std::size_t end, bool only_begin) {
    const auto at = [&](std::size_t place) { return place < line.size() ? line[place] : ' '; };
    const auto is_one_of = [](char each, std::string_view set) { return set.find(each) != set.npos; };
    const char before = begin == 0 ? ' ' : line[begin - 1];
    const char after = at(end);
    const bool goes_on = is_one_of(after, "/\\") || (is_one_of(after, ".:") && is_word(at(end + 1)));
    return !is_word(before) && !is_one_of(before, "/\\-'\"`=.") && (only_begin || !is_word(after)) &&
           !goes_on;
}

bool mentions(const std::string& line, std::string_view word, bool only_begin) {
    for (auto at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
        if (stands_alone(line, at, at + word.size(), only_begin)) {
            return true;
        }
    }
    return false;
}

std::string_view first_of(const std::string& line, std::initializer_list<std::string_view> phrases) {
    for (const auto phrase : phrases) {
        if (line.find(phrase) != line.npos) {
            return phrase;
        }
    }
    return {};
}

/// Removes the type of a Python exception in front, so that a ValueError about GPUs does not count as an
/// error of the GPU.
std::string message_of(const std::string& line) {
    const std::string_view first = std::string_view(line).substr(0, line.find(": "));
    const bool is_type =
        first.size() < line.size() && (first.ends_with("error") || first.ends_with("exception")) &&
        std::all_of(first.begin(), first.end(), [](char each) { return is_word(each) || each == '.'; });
    return is_type ? line.substr(first.size() + 2) : line;
}

/// Returns the word that blames the GPU in a line; empty if the line does not blame it.
std::string_view gpu_word(const std::string& line) {
    struct word {
        std::string_view text;
        std::string_view name;
        bool only_begin; ///< for cudaErrorLaunchFailure, CUDA_ERROR_UNKNOWN
    };
    static constexpr std::array<word, 8> words{{{"cuda", "CUDA", true},
                                                {"cudnn", "cuDNN", true},
                                                {"cublas", "cuBLAS", true},
                                                {"hip", "HIP", false},
                                                {"hiperror", "HIP", true},
                                                {"hip_error", "HIP", true},
                                                {"gpu", "GPU", false},
                                                {"gpus", "GPU", false}}};
    const auto message = message_of(line);
    const bool is_bad = !first_of(message, {"error", "fail", "fatal", "illegal", "out of memory",
                                            "not available", "unavailable", "no cuda", "assert", "timed out",
                                            "timeout", " hang", " hung", "lost", "fallen off", "status_"})
                             .empty();
    const auto found = std::find_if(words.begin(), words.end(), [&](const word& each) {
        return mentions(message, each.text, each.only_begin);
    });
    return is_bad && found != words.end() ? found->name : std::string_view();
}

/// Returns true if the phrase stands alone and not within a sentence such as "cannot run out of memory".
bool says(const std::string& line, std::string_view phrase) {
    const auto at = line.find(phrase);
    if (at == line.npos) {
        return false;
    }
    const auto before = line.find_last_not_of(" \t", at == 0 ? line.npos : at - 1);
    const bool begins = at == 0 || before == line.npos || !is_word(line[before]);
    return begins || !first_of(message_of(line), {"error", "fatal", "fail", "exception"}).empty();
}

/// Returns the words by which the line blames a lack of memory of the host, not of the GPU; empty if it does
/// not.
std::string_view memory_word(const std::string& line) {
    if (!gpu_word(line).empty()) {
        return {};
    }
    if (line.find("std::bad_alloc") != line.npos) {
        return "std::bad_alloc";
    }
    const auto error = line.find("memoryerror");
    const auto after = error + std::string_view("memoryerror").size();
    if (error != line.npos && (after == line.size() || !is_word(line[after]))) {
        return "MemoryError";
    }
    return says(line, "cannot allocate memory") ? "Cannot allocate memory"
           : says(line, "out of memory")        ? "Out of memory"
                                                : std::string_view();
}

std::string_view find_word(std::string_view last_words, std::string_view (*word_in)(const std::string&)) {
    for (const auto& line : cause_in(last_words)) {
        if (const auto word = word_in(line); !word.empty()) {
            return word;
        }
    }
    return {};
}

std::string saying(const exit_status& status, std::string_view word) {
    return describe(status) + "; its last words are of \"" + std::string(word) + "\"";
}

// --- Combination
// -------------------------------------------------------------------------------------------------

/// Returns true for an end caused by the pool's signal. A simultaneous crash counts as a crash; exit code 0
/// means that the worker complied.
bool is_our_doing(const exit_evidence& evidence, exit_class by_status) {
    return evidence.killed_by_pool && !evidence.status.success() && by_status != exit_class::segfault &&
           by_status != exit_class::abort;
}

/// The kernel kills by SIGKILL; after another kind of end, the victim was another process.
bool is_oom_kill(const exit_evidence& evidence) {
    return evidence.oom_kill && (signal_of(evidence.status) == SIGKILL || !evidence.status.known());
}

} // namespace

std::string_view to_string(exit_class kind) noexcept {
    return names.at(static_cast<std::size_t>(kind));
}

std::optional<exit_class> exit_class_of(std::string_view name) noexcept {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        return std::nullopt;
    }
    return static_cast<exit_class>(found - names.begin());
}

exit_verdict classify_exit(const exit_evidence& evidence) {
    const auto& status = evidence.status;
    const auto by_status = class_of(status);
    if (is_our_doing(evidence, by_status)) {
        return {exit_class::killed_by_us, describe(status) + "; the pool had sent it a signal"};
    }
    if (is_oom_kill(evidence)) {
        return {exit_class::out_of_memory,
                describe(status) + "; the kernel counted an out-of-memory kill on this machine"};
    }
    const bool ended_by_others = by_status == exit_class::killed_by_someone && signal_of(status) != SIGKILL;
    if (!status.known() || status.success() || ended_by_others) {
        return {by_status, describe(status)};
    }
    if (const auto word = find_word(evidence.last_words, memory_word); !word.empty()) {
        return {exit_class::out_of_memory, saying(status, word)};
    }
    if (by_status == exit_class::error || by_status == exit_class::abort) {
        if (const auto word = find_word(evidence.last_words, gpu_word); !word.empty()) {
            return {exit_class::gpu, saying(status, word)};
        }
    }
    return {by_status, describe(status)};
}

bool is_crash(exit_class kind) noexcept {
    switch (kind) {
    case exit_class::error:
    case exit_class::segfault:
    case exit_class::abort:
    case exit_class::out_of_memory:
    case exit_class::gpu: return true;
    default: return false;
    }
}

} // namespace skep
