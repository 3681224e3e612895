// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Batches in a worker in C++, call by call.

#include "server/call_server.hpp"
#include "support/allocations.hpp"
#include "support/manual_context.hpp"
#include "support/text.hpp"
#include <skep/testing.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;
namespace json = boost::json;
using testing::sleep_for;

namespace {

class recorded_output final : public frame_output {
public:
    bool write(std::span<const std::string_view> pieces) noexcept override {
        auto& whole = writes.emplace_back();
        for (const auto piece : pieces) {
            whole += piece;
        }
        return true;
    }
    bool has_room() noexcept override { return true; }

    std::vector<std::string> writes;
};

class commands : public handler_registry<commands> {
public:
    work functions;

private:
    friend class handler_registry<commands>;

    commands& add(std::string name, detail::plain_handler handler) {
        functions.add(std::move(name), std::move(handler));
        return *this;
    }
    commands& add_batch(std::string name, const batch_options& options, detail::batch_handler handler) {
        functions.add_batch(std::move(name), options, std::move(handler));
        return *this;
    }
};

/// A worker with the batch command `embed`, without channels.
class batch_server final : public manual_context {
public:
    template <class Handler>
    explicit batch_server(Handler embed, std::size_t capacity = 1, std::size_t threads = 0)
        : manual_context(),
          server_(strand(context.get_executor()), output_, capacity, threads, commands_.functions,
                  [](const std::exception_ptr&) { BOOST_ERROR("the server failed"); }) {
        commands_.on_batch("embed", {.most = 4}, std::move(embed));
        commands_.on("plain", [](worker_call& call) { return call.id(); });
        server_.handle(welcome_message());
    }
    ~batch_server() {
        server_.interrupt();
        run_until_idle();
    }

    call_server& server() noexcept { return server_; }

    void call(std::uint64_t id, batch_place batch = {}, std::optional<duration> left = {},
              const std::string& command = "embed") {
        call_message message;
        message.id = id;
        message.command = command;
        message.args = json::object{{"n", id}};
        message.left = left;
        message.sent_after = left ? std::optional<duration>(0ms) : std::nullopt;
        message.batch = batch;
        server_.handle(std::move(message));
    }

    void call_batch(std::uint64_t first, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            call(first + i, {first, size});
        }
        run_until_idle();
    }

    void cancel(std::uint64_t id) {
        server_.services().cancelled.add(id);
        server_.handle(cancel_message{id});
        run_until_idle();
    }

    /// Returns the number of writes since the last look, and reads the answers in them.
    std::size_t receive() {
        run_until_idle();
        for (const auto& bytes : output_.writes) {
            frame_decoder decoder({1u << 20, 1u << 20});
            const auto room = decoder.prepare();
            std::copy(bytes.begin(), bytes.end(), room.begin());
            decoder.commit(bytes.size());
            while (const auto frame = decoder.next()) {
                const auto message = json::parse(frame->json);
                answers_.insert_or_assign(message.at("id").to_number<std::uint64_t>(), message);
            }
        }
        return std::exchange(output_.writes, {}).size();
    }

    /// Returns the result of the call, or the type of its error; null without an answer.
    json::value answer_of(std::uint64_t id) {
        receive();
        const auto found = answers_.find(id);
        if (found == answers_.end()) {
            return nullptr;
        }
        const auto& message = found->second.as_object();
        return message.contains("value") ? message.at("value") : message.at("error").at("type");
    }

    json::value message_of(std::uint64_t id) { return answers_.at(id).at("error").at("message"); }

private:
    commands commands_;
    recorded_output output_;
    call_server server_;
    std::map<std::uint64_t, json::value> answers_;
};

using batch_sizes = std::vector<std::size_t>;

std::vector<int> numbers_of(batch_calls calls) {
    std::vector<int> numbers;
    for (const auto* const call : calls) {
        numbers.push_back(call->arg<int>("n"));
    }
    return numbers;
}

/// Answers each call with its number, and records the size of each batch.
auto plain_embed(batch_sizes& batches) {
    return [&batches](batch_calls calls) {
        batches.push_back(calls.size());
        return numbers_of(calls);
    };
}

/// The same, after a second.
auto slow_embed(batch_sizes& batches) {
    return [&batches](batch_calls calls) -> asio::awaitable<std::vector<int>> {
        batches.push_back(calls.size());
        co_await sleep_for(1s);
        co_return numbers_of(calls);
    };
}

} // namespace

BOOST_AUTO_TEST_SUITE(served_batches)

BOOST_AUTO_TEST_CASE(a_batch_runs_once_all_its_calls_have_come_and_is_answered_by_one_write) {
    batch_sizes batches;
    batch_server worker(plain_embed(batches));
    BOOST_TEST(worker.server().introduction().batches.at("embed").most == 4u);
    worker.call(1, {1, 3});
    worker.call(2, {1, 3});
    BOOST_TEST(worker.receive() == 0u);
    worker.call(3, {1, 3});
    BOOST_TEST(worker.receive() == 1u);
    BOOST_TEST(batches == (batch_sizes{3}), boost::test_tools::per_element());
    for (std::uint64_t id = 1; id <= 3; ++id) {
        BOOST_TEST(worker.answer_of(id) == id);
    }
    BOOST_TEST(worker.server().counters().completed == 3u);
    BOOST_TEST(worker.server().counters().in_flight == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_without_a_batch_is_a_batch_of_one) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches));
    worker.call(1);
    worker.advance(2s);
    BOOST_TEST(batches == (batch_sizes{1}), boost::test_tools::per_element());
    BOOST_TEST(worker.answer_of(1) == 1);
}

BOOST_AUTO_TEST_CASE(a_batch_takes_one_place) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches), 2);
    worker.call_batch(1, 3);
    worker.call_batch(4, 2);
    worker.call_batch(6, 4);
    worker.call(10);
    worker.run_until_idle();
    BOOST_TEST(batches == (batch_sizes{3, 2}), boost::test_tools::per_element());
    BOOST_TEST(worker.server().counters().in_flight == 5u);
    worker.advance(1500ms);
    BOOST_TEST(batches == (batch_sizes{3, 2, 4, 1}), boost::test_tools::per_element());
    worker.advance(1s);
    for (std::uint64_t id = 1; id <= 10; ++id) {
        BOOST_TEST(worker.answer_of(id) == id);
    }
}

BOOST_AUTO_TEST_CASE(a_call_may_fail_alone) {
    batch_server worker([](batch_calls calls) {
        std::vector<batch_result> results;
        results.emplace_back(worker_error("bad_image", "not an image"));
        results.emplace_back(std::make_exception_ptr(std::out_of_range("no such page")));
        results.emplace_back(std::vector<int>{1, 2});
        results.emplace_back(calls[3]->attach(blob::copy_of(std::as_bytes(std::span("abc", 3)))));
        return results;
    });
    worker.call_batch(1, 4);
    BOOST_TEST(worker.answer_of(1) == "skep.Error");
    BOOST_TEST(worker.answer_of(2) == "std::out_of_range");
    BOOST_TEST(worker.answer_of(3) == (json::array{1, 2}));
    BOOST_TEST(worker.answer_of(4) == (json::object{{"$attachment", 0}}));
    BOOST_CHECK_THROW(batch_result{std::exception_ptr()}, std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_exception_is_the_error_of_all_calls) {
    batch_server worker([](batch_calls) -> asio::awaitable<std::vector<json::value>> {
        co_await sleep_for(1s);
        throw std::runtime_error("out of memory");
    });
    worker.call_batch(1, 2);
    worker.advance(2s);
    BOOST_TEST(worker.answer_of(1) == "std::runtime_error");
    BOOST_TEST(worker.answer_of(2) == "std::runtime_error");
}

BOOST_AUTO_TEST_CASE(a_wrong_number_of_results_is_the_error_of_all_calls) {
    batch_server worker([](batch_calls) { return std::vector<json::value>{1, 2, 3}; });
    worker.call_batch(1, 2);
    BOOST_TEST(worker.answer_of(1) == "std::length_error");
    BOOST_TEST(worker.answer_of(2) == "std::length_error");
    BOOST_TEST(worker.message_of(2) == "the handler of 'embed' returned 3 results for a batch of 2");
}

BOOST_AUTO_TEST_CASE(late_and_cancelled_calls_are_left_out) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches));
    worker.call(1);
    worker.call(2, {2, 4}, 500ms);
    worker.call(3, {2, 4});
    worker.call(4, {2, 4});
    worker.server().services().cancelled.add(5); // before the call
    worker.call(5, {2, 4});
    BOOST_TEST(worker.answer_of(5) == "skep.Cancelled");
    worker.cancel(3);
    BOOST_TEST(worker.answer_of(3) == "skep.Cancelled");
    worker.advance(3s);
    BOOST_TEST(batches == (batch_sizes{1, 1}), boost::test_tools::per_element());
    BOOST_TEST(worker.answer_of(2) == "skep.DeadlineExceeded");
    BOOST_TEST(worker.answer_of(4) == 4);
}

BOOST_AUTO_TEST_CASE(a_batch_without_a_call_does_not_run) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches));
    worker.call(1, {1, 3}, 0ms);
    worker.server().services().cancelled.add(2);
    worker.call(2, {1, 3});
    worker.call(3, {1, 3}, 0ms);
    BOOST_TEST(worker.answer_of(1) == "skep.DeadlineExceeded");
    BOOST_TEST(worker.answer_of(2) == "skep.Cancelled");
    BOOST_TEST(worker.answer_of(3) == "skep.DeadlineExceeded");
    BOOST_TEST(batches.empty());
    worker.call_batch(4, 2); // the place is free
    worker.advance(2s);
    BOOST_TEST(worker.answer_of(5) == 5);
}

BOOST_AUTO_TEST_CASE(a_batch_is_interrupted_when_all_callers_have_left) {
    std::vector<bool> cancelled;
    batch_server worker([&](batch_calls calls) -> asio::awaitable<std::vector<int>> {
        co_await sleep_for(1s);
        for (const auto* const call : calls) {
            cancelled.push_back(call->cancelled());
        }
        co_return numbers_of(calls);
    });
    worker.call_batch(1, 2);
    worker.cancel(2);
    worker.advance(2s);
    BOOST_TEST(cancelled == (std::vector<bool>{false, true}), boost::test_tools::per_element());
    BOOST_TEST(worker.answer_of(1) == 1);
    BOOST_TEST(worker.answer_of(2) == 2); // its caller has left
    worker.call_batch(3, 2);
    worker.cancel(4);
    BOOST_TEST(worker.answer_of(4) == nullptr);
    worker.cancel(3);
    BOOST_TEST(worker.answer_of(3) == "skep.Cancelled");
    BOOST_TEST(worker.answer_of(4) == "skep.Cancelled");
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_of_a_batch_waits_for_no_credit) {
    batch_server worker([](batch_calls calls) -> asio::awaitable<std::vector<int>> {
        try {
            co_await calls[0]->send(1);
        } catch (const boost::system::system_error&) {}
        co_return numbers_of(calls);
    });
    for (std::uint64_t id = 1; id <= 2; ++id) {
        call_message message;
        message.id = id;
        message.command = "embed";
        message.args = json::object{{"n", id}};
        message.stream = stream_credit{};
        message.batch = {1, 2};
        worker.server().handle(std::move(message));
    }
    BOOST_TEST(worker.answer_of(2) == nullptr);
    worker.cancel(1);
    BOOST_TEST(worker.answer_of(2) == 2);
}

BOOST_AUTO_TEST_CASE(an_interrupted_worker_does_not_answer) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches));
    worker.call_batch(1, 2);
    worker.call_batch(3, 2);
    worker.server().interrupt();
    worker.advance(3s);
    BOOST_TEST(worker.receive() == 0u);
    BOOST_TEST(batches.size() == 1u);
}

/// Found by the simulation, with nodes and failing allocations: seed 1775.
BOOST_AUTO_TEST_CASE(all_calls_of_an_interrupted_worker_are_cancelled) {
    batch_sizes batches;
    batch_server worker(slow_embed(batches));
    worker.call_batch(1, 2);
    const auto& cancelled = worker.server().services().cancelled;
    BOOST_TEST(!cancelled.contains(1));
    worker.server().interrupt();
    BOOST_TEST(cancelled.contains(1));
    BOOST_TEST(cancelled.contains(2));
}

/// A worker that ends for lack of memory leaves no call running.
BOOST_AUTO_TEST_CASE(all_calls_are_cancelled_without_memory) {
    cancelled_calls cancelled;
    BOOST_TEST(allocations_in([&] { cancelled.add_all(); }) == 0u);
    BOOST_TEST(cancelled.contains(1));
}

BOOST_AUTO_TEST_CASE(a_plain_batch_runs_on_a_thread) {
    const auto main_thread = std::this_thread::get_id();
    batch_server worker(
        [main_thread](batch_calls calls) {
            return std::vector<bool>(calls.size(), std::this_thread::get_id() == main_thread);
        },
        1, 1);
    worker.call_batch(1, 2);
    const auto guard = asio::make_work_guard(worker.context);
    while (worker.receive() == 0) {
        worker.context.run_one();
    }
    BOOST_TEST(worker.answer_of(1) == false);
    BOOST_TEST(worker.answer_of(2) == false);
}

BOOST_AUTO_TEST_CASE(a_command_of_one_call_serves_a_batch_call_by_call) {
    batch_sizes batches;
    batch_server worker(plain_embed(batches));
    worker.call(1, {1, 2}, {}, "plain");
    worker.call(2, {1, 2}, {}, "plain");
    BOOST_TEST(worker.answer_of(1) == 1);
    BOOST_TEST(worker.answer_of(2) == 2);
    worker.call(3, {2, 2}, {}, "unknown");
    worker.call(4, {2, 2}, {}, "unknown");
    BOOST_TEST(worker.answer_of(4) == "skep.UnknownCommand");
}

BOOST_AUTO_TEST_CASE(no_other_call_comes_amid_a_batch) {
    batch_sizes batches;
    batch_server worker(plain_embed(batches));
    worker.call(1, {1, 3});
    BOOST_CHECK_THROW(worker.call(2), protocol_violation);
    BOOST_CHECK_THROW(worker.call(2, {2, 3}), protocol_violation);
    BOOST_CHECK_THROW(worker.call(2, {1, 3}, {}, "plain"), protocol_violation);
}

BOOST_AUTO_TEST_CASE(results_may_lie_with_the_handler) {
    std::vector<json::value> stored{"a", "b"};
    batch_server worker([&](batch_calls) { return std::span(stored); });
    worker.call_batch(1, 2);
    BOOST_TEST(worker.answer_of(1) == "a");
    worker.call_batch(3, 2);
    BOOST_TEST(worker.answer_of(4) == "b");
}

BOOST_AUTO_TEST_CASE(options_have_a_range) {
    commands all;
    const auto none = [](batch_calls) { return std::vector<int>(); };
    BOOST_CHECK_THROW(all.on_batch("x", {.most = 0}, none), std::invalid_argument);
    BOOST_CHECK_THROW(all.on_batch("x", {.most = 65'537}, none), std::invalid_argument);
    BOOST_CHECK_THROW(all.on_batch("x", {.most = 1, .wait = -1ms}, none), std::invalid_argument);
    BOOST_CHECK_THROW(all.on_batch("x", {.most = 1, .wait = 10'001ms}, none), std::invalid_argument);
    BOOST_CHECK_THROW(all.on_batch("skep.x", {}, none), std::invalid_argument);
    all.on_batch("x", {.most = 65'536, .wait = 10s}, none);
    BOOST_CHECK_THROW(all.on_batch("x", {}, none), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
