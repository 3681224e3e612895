// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "remote/nats_connection.hpp"

#include "remote/nkey.hpp"

#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <utility>

namespace skep {

namespace {

/// The listeners of all connections, by number. cnats may call back after the end of a connection: a callback
/// has a number, and finds no listener then. The mutex is held during a callback.
struct listener_table {
    std::shared_mutex mutex;
    std::map<std::uintptr_t, nats_listener*> entries;
    std::uintptr_t last_number = 0;
};

/// Never destroyed, as threads of cnats run until the end of the program.
listener_table& listeners() {
    static auto* const table = new listener_table;
    return *table;
}

/// Calls `action(listener)` if the connection still exists. Without memory the report is lost: cnats is
/// written in C, and passes no exception on.
template <class Action>
void report(void* closure, const Action& action) noexcept {
    try {
        auto& table = listeners();
        const std::shared_lock lock(table.mutex);
        const auto found = table.entries.find(reinterpret_cast<std::uintptr_t>(closure));
        if (found != table.entries.end()) {
            action(*found->second);
        }
    } catch (const std::exception&) {}
}

void report_message(natsConnection*, natsSubscription*, natsMsg* data, void* closure) {
    nats_message message(data);
    report(closure, [&](nats_listener& listener) { listener.on_message(std::move(message)); });
}

/// Returns the text of this thread's last failure in cnats, without its line of code: "(conn.c:1909): ...".
std::string last_failure(natsStatus status) {
    const char* const detail = nats_GetLastError(nullptr);
    std::string_view text = detail != nullptr ? detail : "";
    const auto end = text.starts_with('(') ? text.find("): ") : text.npos;
    text.remove_prefix(end != text.npos ? end + 3 : 0);
    return std::string(!text.empty() ? text : natsStatus_GetText(status));
}

void report_problem(natsConnection*, natsSubscription*, natsStatus status, void* closure) {
    report(closure, [&](nats_listener& listener) { listener.on_problem(last_failure(status)); });
}

void report_loss(natsConnection*, void* closure) {
    report(closure, [](nats_listener& listener) { listener.on_loss(); });
}

void report_lame_duck(natsConnection*, void* closure) {
    report(closure, [](nats_listener& listener) { listener.on_lame_duck(); });
}

/// Throws nats_failure unless the status is OK.
void expect(natsStatus status) {
    if (status != NATS_OK) {
        throw nats_failure(status, last_failure(status));
    }
}

constexpr std::size_t most_ended = 100; ///< subscriptions that are kept for the reader

std::int64_t in_whole_ms(duration span) {
    return std::chrono::ceil<std::chrono::milliseconds>(span).count();
}

void set_identity(natsOptions* target, const nats_options& options) {
    if (!options.user.empty()) {
        expect(natsOptions_SetUserInfo(target, options.user.c_str(), options.password.c_str()));
    }
    if (!options.token.empty()) {
        expect(natsOptions_SetToken(target, options.token.c_str()));
    }
    if (!options.creds_file.empty()) {
        expect(natsOptions_SetUserCredentialsFromFiles(target, options.creds_file.c_str(), nullptr));
    }
    if (!options.nkey_seed_file.empty()) {
        const auto key = read_public_nkey(options.nkey_seed_file);
        if (!key) {
            throw nats_failure(NATS_INVALID_ARG,
                               "nkey_seed_file \"" + options.nkey_seed_file + "\" has no seed of a user");
        }
        expect(natsOptions_SetNKeyFromSeed(target, key->c_str(), options.nkey_seed_file.c_str()));
    }
}

void set_tls(natsOptions* target, const nats_options& options, const nats_address& server) {
    if (!server.has_tls) {
        return; // cnats looks at the system's authorities if the server asks for TLS
    }
    expect(natsOptions_SetSecure(target, true));
    expect(natsOptions_SetExpectedHostname(target, server.host.c_str()));
    if (!options.ca_file.empty()) {
        expect(natsOptions_LoadCATrustedCertificates(target, options.ca_file.c_str()));
    }
    if (!options.certificate_file.empty()) {
        expect(natsOptions_LoadCertificatesChain(target, options.certificate_file.c_str(),
                                                 options.key_file.c_str()));
    }
#if NATS_VERSION_NUMBER >= 0x030900
    if (options.tls_first) {
        expect(natsOptions_TLSHandshakeFirst(target));
    }
#endif
}

/// One server, without reconnects. A write that fails has an effect on the connection, and a limit.
void set_behaviour(natsOptions* target, const nats_options& options, const nats_address& server) {
    expect(natsOptions_SetURL(target, server.url.c_str()));
    expect(natsOptions_SetName(target, "skep"));
    expect(natsOptions_SetAllowReconnect(target, false));
    expect(natsOptions_SetTimeout(target, in_whole_ms(options.connect_timeout)));
    expect(natsOptions_SetWriteDeadline(target, in_whole_ms(options.connect_timeout)));
    expect(natsOptions_SetPingInterval(target, in_whole_ms(options.ping_interval)));
    expect(natsOptions_SetMaxPingsOut(target, 2));
    expect(natsOptions_SetSendAsap(target, true));              // otherwise each message waits for 1 ms
    expect(natsOptions_UseGlobalMessageDelivery(target, true)); // one thread, so one order of all messages
}

void set_listener(natsOptions* target, void* closure) {
    expect(natsOptions_SetErrorHandler(target, &report_problem, closure));
    expect(natsOptions_SetClosedCB(target, &report_loss, closure));
    expect(natsOptions_SetLameDuckModeCB(target, &report_lame_duck, closure));
}

bool is_ip_address(const std::string& host) {
    boost::system::error_code failure;
    boost::asio::ip::make_address(host, failure);
    return !failure;
}

struct memory_deleter {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

std::vector<std::string> announced_urls(natsConnection* connection) {
    char** made = nullptr;
    int count = 0;
    natsConnection_GetDiscoveredServers(connection, &made, &count);
    const std::unique_ptr<char*[], memory_deleter> list(made);
    std::vector<std::unique_ptr<char, memory_deleter>> texts;
    std::vector<std::string> urls;
    for (int i = 0; i < count; ++i) {
        texts.emplace_back(made[i]);
        urls.emplace_back(made[i]);
    }
    return urls;
}

} // namespace

nats_connection::registration::registration(nats_listener& listener) {
    auto& table = listeners();
    const std::unique_lock lock(table.mutex);
    number_ = ++table.last_number;
    table.entries.emplace(number_, &listener);
}

nats_connection::registration::~registration() {
    auto& table = listeners();
    const std::unique_lock lock(table.mutex);
    table.entries.erase(number_);
}

void* nats_connection::registration::closure() const noexcept {
    return reinterpret_cast<void*>(number_); // NOLINT: a number, not an address
}

nats_connection::nats_connection(nats_address server, const nats_options& options, nats_listener& listener)
    : server_(std::move(server)), limit_ms_(in_whole_ms(options.connect_timeout)), registration_(listener) {
    natsOptions* made = nullptr;
    expect(natsOptions_Create(&made));
    const std::unique_ptr<natsOptions, nats_deleter> settings(made);
    set_behaviour(made, options, server_);
    set_identity(made, options);
    set_tls(made, options, server_);
    set_listener(made, registration_.closure());
    natsConnection* connection = nullptr;
    const auto status = natsConnection_Connect(&connection, made);
    const bool is_cut = status == NATS_PROTOCOL_ERROR && last_failure(status).ends_with("got ''");
    if (is_cut && server_.has_tls && options.certificate_file.empty()) { // by TLS 1.3, the handshake is over
        throw nats_failure(status, "the server ended the connection; it may require a certificate");
    }
    expect(status);
    connection_.reset(connection);
}

nats_connection::~nats_connection() = default;

void nats_connection::publish(const std::string& subject, const std::string& reply, const std::string& body) {
    const auto size = static_cast<int>(body.size());
    expect(reply.empty() ? natsConnection_Publish(connection_.get(), subject.c_str(), body.data(), size)
                         : natsConnection_PublishRequest(connection_.get(), subject.c_str(), reply.c_str(),
                                                         body.data(), size));
}

void nats_connection::subscribe(const std::string& subject) {
    auto& entry = subscriptions_[subject];
    if (!entry) {
        natsSubscription* made = nullptr;
        expect(natsConnection_Subscribe(&made, connection_.get(), subject.c_str(), &report_message,
                                        registration_.closure()));
        entry.reset(made);
        expect(natsSubscription_SetPendingLimits(made, -1, -1)); // the listener has a limit, and tells
    }
}

void nats_connection::unsubscribe(const std::string& subject) {
    auto ended = subscriptions_.extract(subject);
    if (ended.empty() || !ended.mapped()) {
        return;
    }
    ended_subscriptions_.push_back(std::move(ended.mapped()));
    expect(natsSubscription_Unsubscribe(ended_subscriptions_.back().get()));
    if (ended_subscriptions_.size() == most_ended) {
        flush(); // the reader, too, is done with them
        ended_subscriptions_.clear();
    }
}

void nats_connection::flush() {
    expect(natsConnection_FlushTimeout(connection_.get(), limit_ms_));
}

std::size_t nats_connection::max_payload() const {
    const auto size = natsConnection_GetMaxPayload(connection_.get());
    return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::vector<nats_address> nats_connection::announced_servers() const {
    std::vector<nats_address> servers;
    for (const auto& url : announced_urls(connection_.get())) {
        if (auto server = parse_nats_address(url)) {
            server->has_tls = server_.has_tls;
            if (is_ip_address(server->host) && !is_ip_address(server_.host)) {
                server->host = server_.host; // clusters announce addresses, and certificates have names
            }
            servers.push_back(std::move(*server));
        }
    }
    return servers;
}

std::string nats_connection::loss() const {
    const char* text = nullptr; // may be that of an earlier error
    return natsStatus_GetText(natsConnection_GetLastError(connection_.get(), &text));
}

std::string nats_connection::refusal() const {
    const char* text = nullptr;
    const auto status = natsConnection_GetLastError(connection_.get(), &text);
    const bool is_told = status == NATS_ERR || status == NATS_CONNECTION_AUTH_FAILED;
    return is_told && text != nullptr ? text : "";
}

} // namespace skep
