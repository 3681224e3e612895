// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Whatever comes over a whole connection to an admin server, cut anywhere and repeated, every answer is a
// whole and known one, a refusal is the last, the server takes little memory, and it answers the next client.
// Only a client that has sent much more than was read may lose the end of its answers: the server reads on
// for a while before it closes, not for ever.

#include "check.hpp"
#include <skep/admin.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <sanitizer/allocator_interface.h>
#include <string>
#include <string_view>
#include <vector>

namespace skep::fuzz {

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

// What an input may hold besides the bytes that are sent.
constexpr char end_of_piece = '\x01'; // the server is to read what has come
constexpr char repeat = '\x02';       // the last 64 bytes, as often as the next byte times 64 says
constexpr char stop_reading = '\x03'; // of answers
constexpr std::size_t repeated = 64;

constexpr std::size_t most_memory = 512u << 10;  // a page of 40 KiB, and what a connection may buffer
constexpr std::size_t most_kept = 4u << 20;      // of answers
constexpr std::size_t most_ignored = 256u << 10; // that a server reads after its last answer

/// An admin server over a pool that is never started. All on this thread.
struct site {
    site()
        : workers(context, pool_config::python("none.py")),
          admin(context.get_executor(), workers, options()) {
        context.poll();
    }

    static admin_options options() {
        admin_options chosen;
        chosen.token = "0123456789abcdef";
        chosen.connections = 16;
        return chosen;
    }

    asio::io_context context{1};
    pool workers;
    admin_server admin;
};

/// One connection, and what has come back over it.
class client {
public:
    client(site& with, std::string& answers) : site_(with), answers_(answers) {
        answers_.clear();
        connect({asio::ip::address_v4::loopback(), with.admin.port()});
        socket_.non_blocking(true);
        memory_before_ = __sanitizer_get_current_allocated_bytes();
    }

    /// Returns when all was sent, or the server takes no more; reads answers meanwhile if it `reads`.
    void send(std::string_view bytes, bool reads = true) {
        reads_ = reads;
        boost::system::error_code ec;
        for (int idle = 0; !bytes.empty() && !ec && idle < 3;) {
            const auto count = socket_.write_some(asio::buffer(bytes.data(), bytes.size()), ec);
            bytes.remove_prefix(count);
            sent_ += count;
            idle = count > 0 ? 0 : idle + 1;
            note(ec);
            if (ec == asio::error::would_block) {
                ec = {};
            }
            turn();
        }
    }

    /// Says that no more comes, and reads what there is. Returns true if the server has closed.
    bool finish() {
        boost::system::error_code ec;
        reads_ = true;
        socket_.shutdown(tcp::socket::shutdown_send, ec);
        for (int i = 0; i < 10'000 && !has_ended_ && !is_stream(); ++i) {
            turn();
        }
        return has_ended_;
    }

    bool is_stream() const { return answers_.find("text/event-stream") != std::string::npos; }

    /// The server closed while it had not read everything, and the answers that were under way are lost.
    bool was_reset() const { return was_reset_; }

private:
    /// Goes on when the fuzzer's timer interrupts it.
    void connect(const tcp::endpoint& server) {
        boost::system::error_code ec;
        socket_.connect(server, ec);
        while (ec == asio::error::interrupted) {
            socket_.wait(tcp::socket::wait_write, ec);
        }
        require(!ec, "the server can be reached");
    }

    void turn() {
        site_.context.restart();
        site_.context.poll();
        const auto taken = __sanitizer_get_current_allocated_bytes();
        require(taken < memory_before_ + most_memory, "a connection takes little memory");
        while (reads_ && read()) {}
    }

    bool read() {
        std::array<char, 4096> bytes;
        boost::system::error_code ec;
        const auto count = socket_.read_some(asio::buffer(bytes), ec);
        answers_.append(bytes.data(), std::min(count, most_kept - answers_.size()));
        has_ended_ = has_ended_ || (ec && ec != asio::error::would_block);
        note(ec);
        return !ec;
    }

    void note(const boost::system::error_code& ec) {
        was_reset_ = was_reset_ || ec == asio::error::connection_reset || ec == asio::error::broken_pipe;
        require(!was_reset_ || sent_ > most_ignored, "who sends little gets whole answers");
    }

    site& site_;
    std::string& answers_;
    asio::io_context context_{1};
    tcp::socket socket_{context_};
    std::size_t memory_before_ = 0;
    std::size_t sent_ = 0;
    bool reads_ = true;
    bool has_ended_ = false;
    bool was_reset_ = false;
};

bool is_known(unsigned status) {
    constexpr std::array<unsigned, 10> known{200, 400, 401, 404, 405, 409, 413, 421, 431, 503};
    return std::find(known.begin(), known.end(), status) != known.end();
}

/// One answer at the beginning of `bytes`, which it removes. False if there can be no more.
bool take_answer(std::string_view& bytes, bool may_lack_body) {
    http::response_parser<http::string_body> head;
    head.skip(true);
    boost::system::error_code ec;
    const auto size = head.put(asio::buffer(bytes.data(), bytes.size()), ec);
    require(!ec && head.is_header_done(), "an answer is one of HTTP");
    const auto& answer = head.get();
    require(is_known(answer.result_int()), "an answer has a status that is meant");
    require(answer.has_content_length(), "an answer has a length");
    require(answer["X-Content-Type-Options"] == "nosniff", "an answer has the fields that every answer has");
    const auto length = std::stoul(std::string(answer[http::field::content_length]));
    bytes.remove_prefix(size);
    const bool lacks_body = may_lack_body && (bytes.empty() || bytes.starts_with("HTTP/1."));
    require(lacks_body || length <= bytes.size(), "an answer is whole");
    bytes.remove_prefix(lacks_body ? 0 : length);
    const bool is_refusal = answer.result_int() == 413 || answer.result_int() == 431;
    require(!is_refusal || !answer.keep_alive(), "a refusal is the last answer");
    return answer.keep_alive();
}

void check_answers(std::string_view answers, bool may_lack_body) {
    bool more = true;
    while (!answers.empty()) {
        require(more, "nothing follows the last answer");
        more = take_answer(answers, may_lack_body);
    }
}

/// What is sent at once, and whether answers are read from then on.
struct step {
    std::string bytes;
    bool reads = true;
};

std::vector<step> steps_of(std::string_view script) {
    std::vector<step> steps(1);
    std::string sent; // the end of it
    for (std::size_t i = 0; i < script.size(); ++i) {
        auto& piece = steps.back().bytes;
        if (script[i] == repeat && i + 1 < script.size()) {
            const auto times = static_cast<unsigned char>(script[++i]) * repeated;
            const auto all = sent + piece;
            const auto part = all.substr(all.size() - std::min(all.size(), repeated));
            for (std::size_t k = 0; k < times; ++k) {
                piece += part;
            }
        } else if (script[i] != end_of_piece && script[i] != stop_reading) {
            piece += script[i];
            continue;
        }
        sent = piece.substr(piece.size() - std::min(piece.size(), repeated));
        steps.push_back({{}, steps.back().reads && script[i] != stop_reading});
    }
    return steps;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    static site here;
    static std::string answers;
    answers.reserve(most_kept);
    const std::string_view script(reinterpret_cast<const char*>(data), size);
    const auto steps = steps_of(script); // before the memory is measured
    {
        client one(here, answers);
        for (const auto& each : steps) {
            one.send(each.bytes, each.reads);
        }
        const bool has_ended = one.finish();
        require(has_ended || one.is_stream(), "the server closes after the last answer");
        if (!one.is_stream() && !one.was_reset() && answers.size() < most_kept) {
            check_answers(answers, script.find("HEAD") != std::string_view::npos);
        }
    }
    client probe(here, answers);
    probe.send("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    require(probe.finish() && answers.ends_with("ok\n"), "the next client is answered");
    return 0;
}

} // namespace skep::fuzz
