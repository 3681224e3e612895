// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// A client that sends anything over its link takes little memory of a node. The node serves other clients as
// before once the link has ended, and nothing is left of the link and its calls.

#include "hostile_peer.hpp"
#include "remote/node_core.hpp"
#include "remote/node_pool.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
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
constexpr auto good_wish = R"({"v":1,"pool":"default","client":"raw"})";
constexpr auto good_welcome = R"({"type":"welcome","limits":{}})";

pool_config quiet(std::size_t workers) {
    pool_config config;
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

/// A node with a pool, and a client that behaves well.
class site {
public:
    site() : workers_(context_.get_executor(), quiet(2)) {
        add_commands();
        time_.run(workers_.pool().start());
        node_ = std::make_shared<node_core>(repeatable_context(context_), setup(), bus_.connect());
        asio::post(node_->executor(), [this] { node_->start(); });
        client_.emplace(make_node_pool(repeatable_context(context_), config_of_nodes(quiet(1)), node_demand(),
                                       bus_.connect()));
        time_.run(client_->start());
        check_service();
    }

    /// The first byte of a script says how far the client gets before it misbehaves.
    void attack(std::string_view script) {
        const auto memory_before = __sanitizer_get_current_allocated_bytes();
        {
            hostile_peer peer(context_, time_, bus_);
            open(peer, script.empty() ? '\0' : script[0]);
            peer.run(script.substr(script.empty() ? 0 : 1));
            const auto memory = __sanitizer_get_current_allocated_bytes();
            require(memory < memory_before + most_memory, "a client takes little memory");
            end(peer);
        }
        require(node_->links() == 1, "nothing is left of the link");
        require(running_ == 0, "nothing is left of the calls");
        check_service();
    }

private:
    void add_commands() {
        workers_.on("double", [](worker_call& call) { return 2 * call.arg<int>("n"); });
        workers_.on("echo", [](worker_call& call) { return call.args(); });
        workers_.on("wait", [this](worker_call&) { return wait(); });
        workers_.on("stream", [](worker_call& call) { return send_chunks(call); });
        workers_.on("ask", [](worker_call& call) { return ask_for_tool(call); });
    }

    asio::awaitable<int> wait() {
        struct counted {
            int& count;
            ~counted() { --count; }
        };
        const counted one{++running_};
        co_await testing::sleep_for(1h);
        co_return 1;
    }

    static asio::awaitable<int> send_chunks(worker_call& call) {
        for (int i = 0; i < 20; ++i) {
            co_await call.send(i);
        }
        co_return 1;
    }

    static asio::awaitable<boost::json::value> ask_for_tool(worker_call& call) {
        auto asking = call.call_host("lookup", boost::json::object());
        auto answer = co_await std::move(asking);
        co_return std::move(answer.value);
    }

    node_setup setup() {
        node_setup chosen;
        chosen.name = "node";
        chosen.pools.emplace("default", served_pool(workers_.pool(), [] {
                                 return load_view{0, 0, 2, true};
                             }));
        chosen.limits.frame_bytes = chosen.limits.json_bytes = 64u << 10;
        chosen.limits.json_depth = 10;
        return chosen;
    }

    void open(hostile_peer& peer, char stage) {
        const auto name = std::to_string(++opened_);
        const auto inbox = "_INBOX.raw" + name + ".1";
        peer.carrier().subscribe(inbox);
        peer.set_link(inbox, "skep.default.node.node." + name);
        if (stage != 'n') {
            link_message request;
            request.kind = link_kind::open;
            request.body = good_wish;
            peer.tell(request);
            time_.run_until_idle();
        }
        if (stage != 'n' && stage != 'o') {
            peer.send(frame_of(good_welcome));
            time_.run_until_idle();
        }
    }

    void end(hostile_peer& peer) {
        link_message farewell;
        farewell.kind = link_kind::close;
        farewell.body = "done";
        peer.tell(farewell);
        time_.run_until_idle();
        for (int i = 0; i < 40 && (node_->links() > 1 || running_ > 0); ++i) {
            time_.advance(500ms, 500ms); // further links of the client
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
        require(answer && answer->as<int>() == 42, "another client is served");
    }

    boost::asio::io_context context_;
    testing::virtual_time time_{context_};
    test::local_bus bus_;
    testing::fake_pool workers_;
    std::shared_ptr<node_core> node_;
    std::optional<pool> client_;
    int running_ = 0; ///< calls of "wait"
    int opened_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) noexcept {
    static auto& here = *new site; // lives until the program ends
    here.attack({reinterpret_cast<const char*>(data), size});
    return 0;
}

} // namespace skep::fuzz
