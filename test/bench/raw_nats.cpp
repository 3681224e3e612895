// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "raw_nats.hpp"

#include "cluster.hpp"
#include "raw_io.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <nats/nats.h>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace skep::bench {

namespace {

constexpr const char* subject = "echo";
const std::string payload(128, 'x');
constexpr std::int64_t patience_ms = 10'000;

void expect(natsStatus status) {
    if (status != NATS_OK) {
        throw std::runtime_error(std::string("cnats: ") + natsStatus_GetText(status));
    }
}

template <auto Destroy>
struct destroyer {
    template <class T>
    void operator()(T* object) const {
        Destroy(object);
    }
};

using connection_ptr = std::unique_ptr<natsConnection, destroyer<natsConnection_Destroy>>;
using subscription_ptr = std::unique_ptr<natsSubscription, destroyer<natsSubscription_Destroy>>;
using message_ptr = std::unique_ptr<natsMsg, destroyer<natsMsg_Destroy>>;

connection_ptr connect(const std::string& url, bool asap) {
    natsOptions* made = nullptr;
    expect(natsOptions_Create(&made));
    const std::unique_ptr<natsOptions, destroyer<natsOptions_Destroy>> options(made);
    expect(natsOptions_SetURL(made, url.c_str()));
    expect(natsOptions_SetSendAsap(made, asap));
    natsConnection* connection = nullptr;
    expect(natsConnection_Connect(&connection, made));
    return connection_ptr(connection);
}

int size_of(std::string_view text) {
    return static_cast<int>(text.size());
}

void send_back(natsConnection* connection, natsSubscription*, natsMsg* message, void*) {
    const message_ptr owned(message);
    natsConnection_Publish(connection, natsMsg_GetReply(message), natsMsg_GetData(message),
                           natsMsg_GetDataLength(message));
}

/// Sends messages to the echo, and receives its answers at an inbox.
class inbox_caller {
public:
    inbox_caller(const std::string& url, bool asap) : connection_(connect(url, asap)) {
        natsSubscription* made = nullptr;
        expect(natsConnection_SubscribeSync(&made, connection_.get(), inbox_.c_str()));
        subscription_.reset(made);
    }

    void send() {
        expect(natsConnection_PublishRequest(connection_.get(), subject, inbox_.c_str(), payload.data(),
                                             size_of(payload)));
    }

    void receive() {
        natsMsg* answer = nullptr;
        expect(natsSubscription_NextMsg(&answer, subscription_.get(), patience_ms));
        const message_ptr owned(answer);
        if (natsMsg_GetDataLength(answer) != size_of(payload)) {
            throw std::runtime_error("the answer is no echo");
        }
    }

    /// Sends until the echo is there.
    void wait_for_echo() {
        for (const auto end = now() + std::chrono::milliseconds(patience_ms); now() < end;) {
            send();
            natsMsg* answer = nullptr;
            natsSubscription_NextMsg(&answer, subscription_.get(), patience_ms);
            const message_ptr owned(answer);
            if (owned && natsMsg_GetDataLength(answer) == size_of(payload)) {
                return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
        throw std::runtime_error("there is no echo");
    }

    natsConnection* connection() { return connection_.get(); }

private:
    const std::string inbox_ = "_INBOX.bench";
    connection_ptr connection_;
    subscription_ptr subscription_;
};

void make_request(natsConnection* connection) {
    natsMsg* answer = nullptr;
    expect(
        natsConnection_Request(&answer, connection, subject, payload.data(), size_of(payload), patience_ms));
    natsMsg_Destroy(answer);
}

} // namespace

figures serve_raw_echo(const arguments& args) {
    sigset_t end{};
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &end, nullptr); // in the threads of cnats, too
    const auto connection = connect(args.text("url"), args.number("asap") == 1);
    natsSubscription* made = nullptr;
    expect(natsConnection_Subscribe(&made, connection.get(), subject, &send_back, nullptr));
    const subscription_ptr subscription(made);
    int signal = 0;
    sigwait(&end, &signal);
    return {};
}

figures measure_raw_strict(const arguments& args) {
    cluster machines;
    machines.add("raw-echo", {"asap=1"});
    inbox_caller caller(machines.url(), true);
    caller.wait_for_echo();
    const auto exchange = [&] {
        caller.send();
        caller.receive();
    };
    const auto make_one = [&] { make_request(caller.connection()); };
    const auto span = args.span("span");
    const auto cpu = machines.cpu();
    auto samples = args.text("form") == "inbox" ? time_each(span, exchange) : time_each(span, make_one);
    // the warm-up is measured too, hence its share of the calls
    auto measured = cpu_of_one(machines.cpu() - cpu, 1.1 * static_cast<double>(samples.size()));
    measured.emplace_back("p50_us", percentile(samples, 0.5));
    return measured;
}

figures measure_raw_deep(const arguments& args) {
    cluster machines;
    const auto asap = args.text("asap");
    machines.add("raw-echo", {"asap=" + asap});
    inbox_caller caller(machines.url(), asap == "1");
    caller.wait_for_echo();
    for (auto left = args.number("depth"); left > 0; --left) {
        caller.send();
    }
    const auto exchange = [&](time_point end) {
        double answers = 0;
        for (; now() < end; ++answers) {
            caller.receive();
            caller.send();
        }
        return answers;
    };
    const auto span = std::chrono::duration_cast<duration>(args.span("span"));
    exchange(now() + span / 4);
    const auto cpu = machines.cpu();
    const auto begin = now();
    const auto answers = exchange(begin + span);
    const auto rate = answers / seconds(now() - begin).count();
    auto measured = cpu_of_one(machines.cpu() - cpu, answers);
    measured.emplace_back("calls_per_s", rate);
    return measured;
}

} // namespace skep::bench
