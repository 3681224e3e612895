// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "support/fake_runtime.hpp"

#include "process/launcher.hpp"
#include "process/local_context.hpp"
#include "process/memory_line.hpp"
#include "process/socket_stream.hpp"
#include "support/load_of.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <sys/socket.h>

namespace skep {

std::ostream& operator<<(std::ostream& out, errc code) {
    return out << (code == errc() ? "no error" : make_error_code(code).message());
}

} // namespace skep

namespace skep::test {

namespace json = boost::json;

class fake_process final : public worker_process {
public:
    explicit fake_process(std::shared_ptr<fake_worker> script) : script_(std::move(script)) {}

    int pid() const noexcept override {
        return 1000000; // beyond pid_max: cannot name a real process
    }
    asio::awaitable<void> ended() override { co_await script_->exited_.wait(); }
    void terminate() noexcept override {
        ++script_->terminations;
        if (script_->obeys_terminate) {
            script_->exit(exit_status::signalled(SIGTERM));
        }
    }
    void kill() noexcept override {
        ++script_->kills;
        if (script_->obeys_kill) {
            script_->exit(exit_status::signalled(SIGKILL));
        }
    }
    void signal(int number) noexcept override { script_->signals.push_back(number); }
    bool measure(std::int64_t) noexcept override { return script_->is_measurable; }
    std::uint64_t resident_bytes(std::uint64_t) const noexcept override {
        return script_->is_measurable ? script_->resident : 0;
    }
    bool saw_oom_kill() const noexcept override { return script_->oom_killed; }
    exit_status reap() noexcept override { return script_->status_; }
    asio::awaitable<void> end_group() override {
        if (script_->has_company) {
            co_await script_->company_gone_.wait_until(clock::now() + std::chrono::milliseconds(200));
        }
        script_->end_company();
    }
    const std::string& program() const noexcept override { return program_; }
    std::string output_tail() const override { return script_->last_words; }
    void add_to_tail(std::string_view text) noexcept override { script_->last_words += text; }
    std::uint64_t output_lines_dropped() const noexcept override { return 0; }
    asio::awaitable<void> finish(time_point) override { co_return; }
    void abandon() noexcept override { script_->exited_.open(); }
    void end_now() noexcept override {
        kill();
        if (script_->has_exited()) {
            script_->end_company();
        }
    }

private:
    std::shared_ptr<fake_worker> script_;
    const std::string program_ = "/usr/bin/fake";
};

fake_worker::fake_worker(const strand& executor, launch_order order, unique_fd data, unique_fd control)
    : order_(std::move(order)), has_control_(control.get() >= 0), exited_(executor), company_gone_(executor) {
    data_.fd = std::move(data);
    control_.fd = std::move(control);
}

void fake_worker::shake_hands(std::size_t capacity) {
    send_data(hello(capacity));
    send_data({{"type", "ready"}});
}

json::object fake_worker::hello(std::size_t capacity) const {
    json::object message{{"type", "hello"}, {"protocol", 1},        {"token", order_.token},
                         {"pid", 1000000},  {"capacity", capacity}, {"control", has_control_}};
    if (has_health_check) {
        message["health_check"] = "skep.health_check";
        message["own_health_check"] = !only_answers;
    }
    if (stack_signal != 0) {
        message["stack_signal"] = stack_signal;
    }
    if (!loop.empty()) {
        message["loop"] = loop;
    }
    if (!batches.empty()) {
        message["batches"] = batches;
    }
    if (slots != 0) {
        message["slots"] = slots;
    }
    if (gives_back) {
        message["recall"] = true;
    }
    return message;
}

std::vector<json::object> fake_worker::take_calls() {
    if (!has_control_) {
        return take_controls("call");
    }
    std::vector<json::object> calls;
    take(data_, calls);
    return calls;
}

std::vector<json::object> fake_worker::take_controls(std::string_view type) {
    take(has_control_ ? control_ : data_, controls_);
    std::vector<json::object> wanted;
    std::erase_if(controls_, [&](auto& message) {
        const bool is_wanted = message.at("type").as_string() == type;
        if (is_wanted) {
            wanted.push_back(std::move(message));
        }
        return is_wanted;
    });
    return wanted;
}

std::uint64_t fake_worker::take_call() {
    const auto calls = take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 1u);
    return id_of(calls[0]);
}

void fake_worker::answer_call(json::value value) {
    reply(take_call(), std::move(value));
}

void fake_worker::reply(std::uint64_t id, json::value value) {
    send_data({{"type", "result"}, {"id", id}, {"value", std::move(value)}});
}

void fake_worker::refuse(std::uint64_t id, std::string code) {
    json::object body{{"type", "skep.Error"},
                      {"message", "no"},
                      {"traceback", ""},
                      {"code", std::move(code)},
                      {"data", {{"size", 3}}}};
    send_data({{"type", "error"}, {"id", id}, {"error", std::move(body)}});
}

void fake_worker::give_back(std::uint64_t id) {
    send_control({{"type", "recalled"}, {"id", id}});
}

void fake_worker::chunk(std::uint64_t id, json::value value) {
    send_data({{"type", "chunk"}, {"id", id}, {"value", std::move(value)}});
}

void fake_worker::fail(std::uint64_t id, std::string type, std::string message) {
    json::object body{{"type", std::move(type)}, {"message", std::move(message)}, {"traceback", ""}};
    send_data({{"type", "error"}, {"id", id}, {"error", std::move(body)}});
}

std::size_t fake_worker::answer_pings() {
    const auto pings = take_controls("ping");
    for (const auto& ping : pings) {
        send_control({{"type", "pong"}, {"seq", ping.at("seq")}, {"in_flight", 0}, {"completed", 0}});
    }
    return pings.size();
}

void fake_worker::send_data(const json::object& message) {
    const auto text = json::serialize(message);
    std::string frame;
    begin_frame(frame);
    frame += text;
    end_frame(frame, 0, frame.size());
    send(data_, frame);
}

void fake_worker::send_control(const json::object& message) {
    std::string frame;
    begin_frame(frame);
    frame += json::serialize(message);
    end_frame(frame, 0, frame.size());
    send(has_control_ ? control_ : data_, frame);
}

void fake_worker::send_raw(std::string_view bytes) {
    send(data_, bytes);
}

void fake_worker::close_data() {
    data_.fd.reset();
}

void fake_worker::exit(exit_status status) {
    if (has_exited()) {
        return;
    }
    status_ = status;
    exited_.open();
    if (!has_company) {
        end_company();
    }
}

void fake_worker::end_company() {
    has_company = false;
    data_.fd.reset();
    control_.fd.reset();
    company_gone_.open();
}

void fake_worker::send(far_end& to, std::string_view bytes) {
    const auto count = ::send(to.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    BOOST_REQUIRE_EQUAL(count, static_cast<ssize_t>(bytes.size()));
}

void fake_worker::take(far_end& from, std::vector<json::object>& into) {
    for (;;) {
        const auto room = from.frames.prepare();
        const auto count = ::recv(from.fd.get(), room.data(), room.size(), MSG_DONTWAIT);
        if (count <= 0) {
            break;
        }
        from.frames.commit(static_cast<std::size_t>(count));
    }
    while (const auto frame = from.frames.next()) {
        into.push_back(json::parse(frame->json).as_object());
    }
}

std::uint64_t id_of(const json::object& message) {
    return message.at("id").to_number<std::uint64_t>();
}

asio::awaitable<worker_link> fake_runtime::start(launch_order order) {
    std::array<int, 2> data{};
    std::array<int, 2> control{-1, -1};
    BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, data.data()), 0);
    if (with_control) {
        BOOST_REQUIRE_EQUAL(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control.data()), 0);
    }
    unique_fd data_here(data[0]);
    unique_fd control_here(control[0]);
    auto fresh =
        std::make_shared<fake_worker>(executor_, std::move(order), unique_fd(data[1]), unique_fd(control[1]));
    workers.push_back(fresh);
    fd_pair regions = with_regions ? make_packet_pair(launcher()) : fd_pair();
    fresh->regions = std::move(regions.there);
    on_start(*fresh);
    auto data_stream = make_socket_stream(executor_, data_here);
    auto control_stream = with_control ? make_socket_stream(executor_, control_here) : nullptr;
    co_return worker_link{std::move(data_stream), std::move(control_stream),
                          std::make_unique<fake_process>(fresh),
                          with_regions ? make_memory_line(std::move(regions.here)) : nullptr};
}

manual_pool::manual_pool(pool_config config, pool_membership of_manager) {
    const auto make = [this](const pool_context& found, const pool_config&, output_handler sink) {
        auto fakes = std::make_unique<fake_runtime>(found.executor, std::move(sink));
        runtime_ = fakes.get();
        return fakes;
    };
    pool_.emplace(make_pool(std::make_shared<pool_core>(make_local_context(context.get_executor()),
                                                        std::move(config), make, std::move(of_manager))));
}

manual_pool::~manual_pool() {
    if (pool_) {
        const auto ended = shutdown();
        for (int i = 0; i < 2000 && !ended->done; ++i) {
            advance(std::chrono::milliseconds(100), std::chrono::milliseconds(100));
        }
        BOOST_CHECK_MESSAGE(ended->done, "the pool did not shut down");
        destroy_pool();
    }
    context.restart();
    context.poll();
    BOOST_CHECK_MESSAGE(context.stopped(), "something is still running in the context");
}

void manual_pool::destroy_pool() {
    pool_.reset();
    run_until_idle();
}

void manual_pool::after_step() {
    if (!pool_) {
        return; // and the runtime may be gone with it
    }
    std::size_t answered = 0;
    for (const auto& each : runtime_->workers) {
        if (each->answers_pings && !each->has_exited()) {
            answered += each->answer_pings();
        }
    }
    if (answered > 0) {
        run_until_idle();
    }
}

namespace {

template <class T>
asio::awaitable<T> accept_every_cancellation(asio::awaitable<T> operation) {
    const auto every_type = asio::enable_total_cancellation();
    co_await asio::this_coro::reset_cancellation_state(every_type);
    T value = co_await std::move(operation);
    co_return value;
}

} // namespace

template <class T>
std::shared_ptr<manual_pool::outcome<T>> manual_pool::launch(asio::awaitable<T> operation) {
    auto result = std::make_shared<outcome<T>>();
    asio::co_spawn(
        context, accept_every_cancellation(std::move(operation)),
        asio::bind_cancellation_slot(result->cancel.slot(), [result](std::exception_ptr problem, T value) {
            result->done = true;
            if (!problem) {
                result->value = std::move(value);
                return;
            }
            try {
                std::rethrow_exception(problem);
            } catch (const error& e) {
                result->problem = e;
            }
        }));
    run_until_idle();
    return result;
}

std::shared_ptr<manual_pool::outcome<reply_stream>> manual_pool::stream(request call) {
    return launch(pool_->stream(std::move(call)));
}

std::shared_ptr<manual_pool::outcome<std::optional<chunk>>> manual_pool::next(reply_stream& from) {
    return launch(from.next());
}

std::shared_ptr<manual_pool::outcome<reply>> manual_pool::execute(request call) {
    return launch(pool_->execute(std::move(call)));
}

std::shared_ptr<manual_pool::outcome<lease>> manual_pool::checkout(checkout_options what) {
    return launch(pool_->checkout(std::move(what)));
}

std::shared_ptr<manual_pool::outcome<reply>> manual_pool::execute(lease& with, request call) {
    return launch(with.execute(std::move(call)));
}

std::shared_ptr<manual_pool::outcome<reply_stream>> manual_pool::stream(lease& with, request call) {
    return launch(with.stream(std::move(call)));
}

std::shared_ptr<manual_pool::outcome<bool>> manual_pool::start() {
    return begin(pool_->start());
}

std::shared_ptr<manual_pool::outcome<bool>> manual_pool::begin(asio::awaitable<void> operation) {
    auto with_result = [](asio::awaitable<void> inner) -> asio::awaitable<bool> {
        co_await std::move(inner);
        co_return true;
    };
    return launch(with_result(std::move(operation)));
}

std::shared_ptr<manual_pool::outcome<shutdown_report>> manual_pool::shutdown() {
    return launch(pool_->shutdown());
}

pool_status manual_pool::status() {
    const auto result = launch(pool_->status());
    BOOST_REQUIRE(result->value);
    BOOST_TEST(text_of_load(pool_->load()) == text_of_load(load_of(*result->value)));
    return *result->value;
}

pool_metrics manual_pool::metrics() {
    const auto result = launch(pool_->metrics());
    BOOST_REQUIRE(result->value);
    return *result->value;
}

worker_status manual_pool::worker_status_of(std::uint32_t slot) {
    const auto all = status().workers;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.id.slot == slot; });
    BOOST_REQUIRE(found != all.end());
    return *found;
}

std::string manual_pool::serve(std::size_t index) {
    const auto calls = worker(index).take_calls();
    BOOST_REQUIRE_EQUAL(calls.size(), 1u);
    worker(index).reply(id_of(calls[0]));
    run_until_idle();
    return std::string(calls[0].at("command").as_string());
}

void manual_pool::warm_up(std::size_t index) {
    const auto call = execute(request("warm up"));
    serve(index);
    BOOST_REQUIRE(call->value);
}

running_pool::running_pool(pool_config config) : manual_pool(std::move(config)) {
    const auto started = start();
    BOOST_REQUIRE_MESSAGE(started->value, "start: " << started->text());
}

void check_mentions(const std::string& text, const std::string& part) {
    BOOST_CHECK_MESSAGE(text.find(part) != std::string::npos, "'" << part << "' is not in: " << text);
}

pool_config fake_config(std::size_t workers) {
    pool_config config;
    config.launch.program = "fake";
    config.schedule = scheduling::fifo; // so that a test knows which worker is next
    config.start.timeout = std::chrono::seconds(30);
    config.stop.shutdown_grace = std::chrono::seconds(1);
    config.workers = workers;
    config.log_level = log_level::off;
    return config;
}

} // namespace skep::test
