// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A worker of the least possible cost, for what the host can do: one command, which returns its argument
// `value`.
//
// Its argument is the capacity it offers. It believes the host blindly: the frames it cuts up are those of
// the benchmarks, not those of anybody.

#include <boost/endian/conversion.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

namespace {

constexpr int exit_host_gone = 70;
constexpr std::size_t header_size = 8;

[[noreturn]] void leave(int status) {
    std::_Exit(status);
}

std::uint32_t load_number(const char* from) {
    return boost::endian::endian_load<std::uint32_t, 4, boost::endian::order::big>(
        reinterpret_cast<const unsigned char*>(from));
}

void append_number(std::string& out, std::size_t number) {
    unsigned char bytes[4];
    boost::endian::endian_store<std::uint32_t, 4, boost::endian::order::big>(
        bytes, static_cast<std::uint32_t>(number));
    out.append(reinterpret_cast<const char*>(bytes), sizeof bytes);
}

void append_header(std::string& out, std::size_t json_length) {
    append_number(out, json_length + 4);
    append_number(out, json_length);
}

void append_frame(std::string& out, std::string_view json) {
    append_header(out, json.size());
    out += json;
}

void write_all(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto count = ::write(fd, bytes.data(), bytes.size());
        if (count <= 0) {
            leave(exit_host_gone);
        }
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
}

void send_message(int fd, std::string_view json) {
    std::string frame;
    append_frame(frame, json);
    write_all(fd, frame);
}

/// What stands between `before` and the first `after` behind it.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const auto begin = text.find(before) + before.size();
    return text.substr(begin, text.find(after, begin) - begin);
}

/// Cuts up what arrives.
class connection {
public:
    explicit connection(int fd) : fd_(fd), buffer_(1 << 18, '\0') {}

    int fd() const noexcept { return fd_; }

    /// Blocks until something arrives; calls on_json for each message that is whole.
    template <class OnJson>
    void receive(OnJson on_json) {
        if (end_ == buffer_.size()) {
            buffer_.resize(2 * buffer_.size());
        }
        const auto count = ::read(fd_, buffer_.data() + end_, buffer_.size() - end_);
        if (count <= 0) {
            leave(exit_host_gone);
        }
        end_ += static_cast<std::size_t>(count);
        std::size_t at = 0;
        while (end_ - at >= header_size && end_ - at >= load_number(buffer_.data() + at) + 4) {
            on_json(std::string_view(buffer_).substr(at + header_size, load_number(buffer_.data() + at + 4)));
            at += load_number(buffer_.data() + at) + 4;
        }
        std::memmove(buffer_.data(), buffer_.data() + at, end_ - at);
        end_ -= at;
    }

private:
    int fd_;
    std::string buffer_;
    std::size_t end_ = 0;
};

[[noreturn]] void serve_control(connection control) {
    for (;;) {
        control.receive([&](std::string_view message) {
            if (message.starts_with(R"({"type":"ping")")) {
                const auto sequence = between(message, R"("seq":)", "}");
                send_message(control.fd(), R"({"type":"pong","seq":)" + std::string(sequence) +
                                               R"(,"in_flight":0,"completed":0})");
            } else if (message.starts_with(R"({"type":"shutdown")")) {
                leave(0);
            }
        });
    }
}

[[noreturn]] void serve_calls(connection data) {
    std::string answers;
    std::string body;
    for (;;) {
        data.receive([&](std::string_view call) {
            constexpr std::string_view args = R"("args":{"value":)";
            const auto begin = call.find(args) + args.size();
            body = R"({"type":"result","id":)";
            body += between(call, R"("id":)", ",");
            body += R"(,"value":)";
            body += call.substr(begin, call.size() - begin - 2); // the braces of args and of the message
            body += '}';
            append_frame(answers, body);
        });
        write_all(data.fd(), answers);
        answers.clear();
    }
}

int descriptor(const char* name) {
    const char* const text = std::getenv(name);
    if (text == nullptr) {
        std::fputs("skep_bench_echo_worker is started by a pool\n", stderr);
        leave(64);
    }
    return std::atoi(text);
}

} // namespace

int main(int count, char** values) {
    connection data(descriptor("SKEP_DATA_FD"));
    connection control(descriptor("SKEP_CONTROL_FD"));
    const std::string capacity = count > 1 ? values[1] : "1";
    send_message(data.fd(), R"({"type":"hello","protocol":1,"token":")" +
                                std::string(std::getenv("SKEP_TOKEN")) + R"(","pid":)" +
                                std::to_string(::getpid()) + R"(,"sdk":"bench","capacity":)" + capacity +
                                R"(,"control":true,"commands":["echo"]})");
    bool welcome = false;
    while (!welcome) {
        control.receive([&](std::string_view) { welcome = true; });
    }
    send_message(data.fd(), R"({"type":"ready"})");
    std::thread(serve_control, std::move(control)).detach();
    serve_calls(std::move(data));
}
