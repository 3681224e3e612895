// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "process/environment.hpp"
#include "process/launcher.hpp"
#include "raw_io.hpp"
#include "raw_modes.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace skep::bench {

namespace {

/// Sends back what it is sent, message by message, until there is no more.
[[noreturn]] void echo(int fd, std::string& message) {
    try {
        for (;;) {
            read_all(fd, message.data(), message.size());
            write_all(fd, message.data(), message.size());
        }
    } catch (const std::exception&) {
        ::_exit(0);
    }
}

std::vector<double> time_echo(int fd, std::string& message, seconds span) {
    return time_each(span, [&] {
        write_all(fd, message.data(), message.size());
        read_all(fd, message.data(), message.size());
    });
}

/// A Python program with its end of a socketpair as descriptor 3. Killed in the end.
class python_program {
public:
    python_program(const arguments& args, std::vector<std::string> options) : wires_(make_socketpair()) {
        auto config = pool_config::python(args.text("script"), args.text("python"));
        const auto host = take_host_state();
        launch_spec spec;
        spec.executable = find_program(config.launch, host);
        spec.arguments = std::move(config.launch.args);
        spec.arguments.insert(spec.arguments.begin(), config.launch.program);
        spec.arguments.insert(spec.arguments.end(), options.begin(), options.end());
        spec.environment = worker_environment(config.launch, 1, {}, host);
        spec.descriptors = worker_descriptors(-1, STDERR_FILENO, STDERR_FILENO, wires_.there.get(), -1, -1);
        launch_abort never;
        process_ = launcher()(spec, never);
        wires_.there.reset();
    }

    int wire() const noexcept { return wires_.here.get(); }
    pid_t pid() const noexcept { return process_.pid(); }

private:
    fd_pair wires_;
    launched_child process_;
};

/// Cuts a stream into what has its length before it, and looks no further.
class text_counter {
public:
    explicit text_counter(int fd) : fd_(fd), buffer_(std::size_t{64} << 10, '\0') {}

    /// Blocks for the next texts; how many there are.
    std::size_t receive() {
        size_ += read_some(fd_, buffer_.data() + size_, buffer_.size() - size_);
        std::size_t count = 0;
        std::size_t at = 0;
        while (size_ - at >= 4 && size_ - at >= text_size(at)) {
            at += text_size(at);
            ++count;
        }
        std::memmove(buffer_.data(), buffer_.data() + at, size_ - at);
        size_ -= at;
        return count;
    }

private:
    std::size_t text_size(std::size_t at) const noexcept {
        return 4 + boost::endian::endian_load<std::uint32_t, 4, boost::endian::order::big>(
                       reinterpret_cast<const unsigned char*>(buffer_.data() + at));
    }

    int fd_;
    std::string buffer_;
    std::size_t size_ = 0;
};

} // namespace

figures measure_socketpair(const arguments& args) {
    auto wires = make_socketpair();
    std::string message(args.number("bytes"), 'x');
    const auto child = ::fork();
    if (child < 0) {
        fail("fork");
    }
    if (child == 0) {
        wires.here.reset();
        echo(wires.there.get(), message);
    }
    wires.there.reset();
    auto samples = time_echo(wires.here.get(), message, args.span("span"));
    wires.here.reset();
    ::waitpid(child, nullptr, 0);
    return {{"call_us", median(std::move(samples))}};
}

figures measure_python_echo(const arguments& args) {
    const python_program other(args, {"echo", args.text("bytes")});
    std::string message(args.number("bytes"), 'x');
    return {{"call_us", median(time_echo(other.wire(), message, args.span("span")))}};
}

figures measure_python_tokens(const arguments& args) {
    const python_program other(args, {"tokens"});
    text_counter texts(other.wire());
    const auto span = std::chrono::duration_cast<duration>(args.span("span"));
    texts.receive(); // it has started
    const auto count_until = [&](time_point end) {
        std::size_t count = 0;
        while (now() < end) {
            count += texts.receive();
        }
        return static_cast<double>(count);
    };
    count_until(now() + span / 4);
    const auto cpu = cpu_time();
    const auto its_cpu = cpu_time(other.pid());
    const auto begin = now();
    const auto count = count_until(begin + span);
    return {{"chunks_per_s", count / seconds(now() - begin).count()},
            {"cpu_us", (cpu_time() - cpu).count() * 1e6 / count},
            {"worker_cpu_us", (cpu_time(other.pid()) - its_cpu).count() * 1e6 / count}};
}

} // namespace skep::bench
