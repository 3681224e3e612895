// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The floor under the library: a blocking client in the manner of C that talks to one worker, started as the
// pool starts it and with the same frames, and does nothing a caller could do without.
//
//     skep_bench_raw serial|pipelined KEY=VALUE...    calls to a worker; depth= of them open; epoll=1: waits
//                                                     as an event loop must instead of in read()
//     skep_bench_raw socketpair|python-echo bytes=N   no worker: a child that sends N bytes back
//     skep_bench_raw python-tokens                    no worker: a Python program that streams

#include "process/environment.hpp"
#include "process/launcher.hpp"
#include "raw_io.hpp"
#include "raw_modes.hpp"
#include "wire/frame.hpp"
#include "wire/host_messages.hpp"
#include <skep/abi.hpp> // where the SDK is

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace skep::bench {

namespace {

/// Answers are small and come back in order here, so a buffer that is read empty needs no ring.
class raw_worker {
public:
    explicit raw_worker(const arguments& args) : data_(make_socketpair()), control_(make_socketpair()) {
        const auto config = make_config(args);
        if (args.number("epoll", 0) != 0) {
            watch_data();
        }
        const auto host = take_host_state();
        launch_spec spec;
        spec.executable = find_program(config.launch, host);
        spec.arguments.push_back(config.launch.program);
        spec.arguments.insert(spec.arguments.end(), config.launch.args.begin(), config.launch.args.end());
        spec.environment = worker_environment(config.launch, 1,
                                              {{"SKEP_PROTOCOL", "1"},
                                               {"SKEP_TRANSPORT", "socket"},
                                               {"SKEP_DATA_FD", "3"},
                                               {"SKEP_CONTROL_FD", "4"},
                                               {"SKEP_TOKEN", std::string(32, '0')},
                                               {"SKEP_WORKER", "default/0#1"},
                                               {"SKEP_POOL", "default"}},
                                              host);
        spec.descriptors =
            worker_descriptors(-1, STDERR_FILENO, STDERR_FILENO, data_.there.get(), control_.there.get(), -1);
        launch_abort never;
        process_ = launcher()(spec, never);
        shake_hands(config);
    }

    void send_call() {
        const auto length = std::snprintf(
            out_.data() + out_size_ + frame_header_size, out_.size() - out_size_ - frame_header_size,
            R"({"type":"call","id":%zu,"command":"echo","deadline_ms":60000,"args":{"value":"hello"}})",
            ++sent_);
        const auto json_length = static_cast<std::uint32_t>(length);
        boost::endian::endian_store<std::uint32_t, 4, boost::endian::order::big>(
            reinterpret_cast<unsigned char*>(out_.data() + out_size_), json_length + 4);
        boost::endian::endian_store<std::uint32_t, 4, boost::endian::order::big>(
            reinterpret_cast<unsigned char*>(out_.data() + out_size_ + 4), json_length);
        out_size_ += frame_header_size + json_length;
    }

    void flush() {
        write_all(data_.here.get(), out_.data(), out_size_);
        out_size_ = 0;
    }

    /// Blocks for the next answers; how many there are.
    std::size_t receive_answers() {
        std::size_t frames = 0;
        while (frames == 0) {
            in_size_ += receive(in_.data() + in_size_, in_.size() - in_size_);
            std::size_t at = 0;
            while (in_size_ - at >= 4 && in_size_ - at >= frame_size(at)) {
                check_answer(at);
                at += frame_size(at);
                ++frames;
            }
            std::memmove(in_.data(), in_.data() + at, in_size_ - at);
            in_size_ -= at;
        }
        return frames;
    }

private:
    void watch_data() {
        events_ = unique_fd(::epoll_create1(EPOLL_CLOEXEC));
        epoll_event interest{};
        interest.events = EPOLLIN | EPOLLET;
        if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, data_.here.get(), &interest) != 0) {
            fail("epoll_ctl");
        }
    }

    std::size_t receive(char* to, std::size_t size) {
        if (events_.get() < 0) {
            return read_some(data_.here.get(), to, size);
        }
        for (;;) {
            const auto count = ::recv(data_.here.get(), to, size, MSG_DONTWAIT);
            if (count > 0) {
                return static_cast<std::size_t>(count);
            }
            epoll_event event{};
            if (count == 0 || errno != EAGAIN || ::epoll_wait(events_.get(), &event, 1, -1) < 0) {
                fail("recv");
            }
        }
    }

    std::size_t frame_size(std::size_t at) const noexcept {
        return 4 + boost::endian::endian_load<std::uint32_t, 4, boost::endian::order::big>(
                       reinterpret_cast<const unsigned char*>(in_.data() + at));
    }

    void check_answer(std::size_t at) const {
        constexpr std::string_view expected = R"({"type":"result","id":)";
        if (std::memcmp(in_.data() + at + frame_header_size, expected.data(), expected.size()) != 0) {
            throw std::runtime_error("an answer is none: " + std::string(in_.data() + at, frame_size(at)));
        }
    }

    void shake_hands(const pool_config& config) {
        data_.there.reset();
        control_.there.reset();
        skip_message(); // hello
        std::string welcome;
        const worker_id worker{"default", 0, 1};
        append_welcome(welcome,
                       {worker, config.heartbeat, config.limits, config.capacity, "", "warning", {}});
        write_all(control_.here.get(), welcome.data(), welcome.size());
        skip_message(); // ready
    }

    void skip_message() {
        read_all(data_.here.get(), in_.data(), 4);
        read_all(data_.here.get(), in_.data() + 4, frame_size(0) - 4);
    }

    fd_pair data_;
    fd_pair control_;
    unique_fd events_;
    launched_child process_;
    std::array<char, 1 << 16> out_;
    std::array<char, 1 << 16> in_;
    std::size_t out_size_ = 0;
    std::size_t in_size_ = 0;
    std::size_t sent_ = 0;
};

figures measure_serial(const arguments& args) {
    raw_worker worker(args);
    const auto span = args.span("span");
    const auto cpu = cpu_time();
    auto samples = time_each(span, [&] {
        worker.send_call();
        worker.flush();
        worker.receive_answers();
    });
    const auto cpu_per_call = (cpu_time() - cpu).count() * 1e6 / (1.1 * static_cast<double>(samples.size()));
    return {{"p50_us", percentile(samples, 0.5)},
            {"p99_us", percentile(samples, 0.99)},
            {"cpu_us", cpu_per_call}};
}

figures measure_pipelined(const arguments& args) {
    raw_worker worker(args);
    for (auto left = args.number("depth"); left > 0; --left) {
        worker.send_call();
    }
    const auto span = std::chrono::duration_cast<duration>(args.span("span"));
    const auto exchange = [&](time_point end) {
        std::size_t answered = 0;
        while (now() < end) {
            worker.flush();
            const auto count = worker.receive_answers();
            for (std::size_t i = 0; i < count; ++i) {
                worker.send_call();
            }
            answered += count;
        }
        return static_cast<double>(answered);
    };
    exchange(now() + span / 4);
    const auto cpu = cpu_time();
    const auto begin = now();
    const auto calls = exchange(begin + span);
    return {{"calls_per_s", calls / seconds(now() - begin).count()},
            {"cpu_us", (cpu_time() - cpu).count() * 1e6 / calls}};
}

} // namespace

} // namespace skep::bench

int main(int count, char** values) {
    using namespace skep::bench;
    return run_mode(count, values,
                    {{"serial", measure_serial},
                     {"pipelined", measure_pipelined},
                     {"socketpair", measure_socketpair},
                     {"python-echo", measure_python_echo},
                     {"python-tokens", measure_python_tokens}});
}
