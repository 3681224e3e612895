// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A node that sends anything over its link takes little memory of a client. The client's calls end with an
// answer or a failure that people can read, and other nodes serve as before.

#include "hostile_peer.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"
#include "wire/node_beacon.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <sanitizer/allocator_interface.h>
#include <string>
#include <string_view>
#include <utility>

namespace skep::fuzz {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_memory = 16u << 20;
constexpr int calls_at_a_time = 4;
constexpr auto good_hello = R"({"type":"hello","protocol":1,"token":"","pid":0,"sdk":"evil","capacity":4,)"
                            R"("slots":4,"commands":[]})";

pool_config quiet() {
    pool_config config;
    config.workers = 1;
    config.log_level = log_level::off;
    return config;
}

bool is_sound(const reply& answer) {
    return answer.attempts >= 1 && answer.queue_time >= 0s && answer.run_time >= 0s && answer.node;
}

bool is_sound(const error_info& info) {
    return info.attempts >= 0 && info.wait_time >= 0s && info.oldest_run_time >= 0s && info.pid >= 0;
}

/// A client with calls, and a node that behaves well.
class site {
public:
    site() : workers_(context_.get_executor(), quiet()) {
        workers_.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
        time_.run(workers_.pool().start());
        client_.emplace(make_node_pool(repeatable_context(context_), config_of_nodes(quiet()), node_demand(),
                                       bus_.connect()));
        time_.run(client_->start());
        node_ = std::make_shared<node_core>(repeatable_context(context_), setup(), bus_.connect());
        asio::post(node_->executor(), [this] { node_->start(); });
        check_service();
    }

    /// The first byte of a script says how far the node gets before it misbehaves.
    void attack(std::string_view script) {
        {
            hostile_peer peer(context_, time_, bus_);
            const auto name = "evil-" + std::to_string(++attacks_);
            peer.serve("skep.default.node." + name + ".*");
            peer.serve("skep.default.home");
            announce(peer, name);
            greet(peer, script.empty() ? '\0' : script[0]);
            begin_calls();
            const auto memory_before = __sanitizer_get_current_allocated_bytes();
            peer.run(script.substr(script.empty() ? 0 : 1));
            const auto memory = __sanitizer_get_current_allocated_bytes();
            require(memory < memory_before + most_memory, "a node takes little memory");
            end(peer);
        }
        require(open_calls_ == 0, "each call ends");
        check_service();
    }

private:
    node_setup setup() {
        node_setup chosen;
        chosen.name = "good";
        chosen.pools.emplace("default", served_pool(workers_.pool(), [] {
                                 return load_view{0, 0, 1, true};
                             }));
        return chosen;
    }

    void announce(hostile_peer& peer, const std::string& name) {
        node_beacon beacon;
        beacon.node = name;
        beacon.epoch = "e";
        beacon.interval = 1s;
        beacon.pools.emplace("default", load_view{0, 0, 4, true});
        peer.carrier().publish("skep.default.load", {}, {}, encode_beacon(beacon));
        for (int i = 0; i < 30 && !peer.has_link(); ++i) {
            time_.advance(100ms, 100ms);
        }
        require(peer.has_link(), "a client opens a link to each node");
    }

    void greet(hostile_peer& peer, char stage) {
        if (stage != 'n') {
            link_message consent;
            consent.kind = link_kind::accept;
            consent.body = "{}";
            consent.load.places = 4;
            peer.tell(consent);
            time_.run_until_idle();
        }
        if (stage != 'n' && stage != 'o') {
            peer.send(frame_of(good_hello));
            peer.send(frame_of(R"({"type":"ready"})"));
            time_.run_until_idle();
        }
    }

    /// Two calls with one answer, one that may be repeated and one of a session, and one with an answer in
    /// chunks.
    void begin_calls() {
        for (int i = 0; i < calls_at_a_time - 1; ++i) {
            auto call = request("double").arg("n", i).timeout(2s).idempotent(i == 0);
            call.tool("lookup", [](tool_call) -> asio::awaitable<tool_reply> { co_return tool_reply(1); });
            if (i == 1) {
                call.session("s" + std::to_string(attacks_)).affinity(affinity_mode::strict_queue);
            }
            begin(execute(std::move(call)));
        }
        begin(read_stream(request("double").arg("n", 1).timeout(2s)));
        time_.run_until_idle();
    }

    void begin(asio::awaitable<void> call) {
        ++open_calls_;
        asio::co_spawn(context_, std::move(call), [this](const std::exception_ptr& problem) {
            --open_calls_;
            check(problem);
        });
    }

    asio::awaitable<void> execute(request call) {
        auto running = client_->execute(std::move(call));
        const auto answer = co_await std::move(running);
        require(is_sound(answer), "an answer has facts within their limits");
    }

    asio::awaitable<void> read_stream(request call) {
        auto opening = client_->stream(std::move(call));
        auto chunks = co_await std::move(opening);
        for (;;) {
            auto reading = chunks.next();
            const auto chunk = co_await std::move(reading);
            if (!chunk) {
                break;
            }
        }
        require(is_sound(chunks.result()), "the end of a stream has facts within their limits");
    }

    static void check(const std::exception_ptr& problem) {
        if (!problem) {
            return;
        }
        try {
            std::rethrow_exception(problem);
        } catch (const error& failure) {
            require(!to_string(failure.kind()).empty(), "a failure has a code");
            require(!std::string_view(failure.what()).empty(), "a failure has a text");
            require(is_sound(failure.info()), "a failure has facts within their limits");
        } catch (const std::exception& failure) {
            std::fprintf(stderr, "%s\n", failure.what());
            require(false, "a call fails with an error");
        }
    }

    /// The calls that wait for an answer go to another node, or fail.
    void end(hostile_peer& peer) {
        link_message farewell;
        farewell.kind = link_kind::close;
        farewell.body = "done";
        peer.tell(farewell);
        for (int i = 0; i < 100 && open_calls_ > 0; ++i) {
            time_.advance(100ms, 100ms);
        }
    }

    void check_service() {
        std::optional<reply> answer;
        try {
            answer =
                time_.run(client_->execute(request("double").arg("n", 21).timeout(30s).idempotent(true)));
        } catch (const error& failure) {
            std::fprintf(stderr, "%s\n", failure.what());
        }
        require(answer && answer->as<int>() == 42, "another node serves the client");
    }

    boost::asio::io_context context_;
    testing::virtual_time time_{context_};
    test::local_bus bus_;
    testing::fake_pool workers_;
    std::shared_ptr<node_core> node_;
    std::optional<pool> client_;
    int open_calls_ = 0;
    int attacks_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    static auto& here = *new site; // lives until the program ends
    here.attack({reinterpret_cast<const char*>(data), size});
    return 0;
}

} // namespace skep::fuzz
