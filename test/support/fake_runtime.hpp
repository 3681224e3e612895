// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "async/latch.hpp"
#include "core/clock.hpp"
#include "pool/pool_core.hpp"
#include "process/descriptors.hpp"
#include "runtime/runtime.hpp"
#include "support/manual_context.hpp"
#include "wire/frame.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/json/object.hpp>

#include <csignal>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace skep {

/// For Boost.Test.
std::ostream& operator<<(std::ostream& out, errc code);

} // namespace skep

namespace skep::test {

/// The far side of a worker's channels, played by the test; no process is behind it. Without a control
/// channel it takes and sends control messages over the data channel.
class fake_worker {
public:
    fake_worker(const strand& executor, launch_order order, unique_fd data, unique_fd control);

    // What it does when it is signalled, and when manual_pool::advance() passes by.
    bool obeys_terminate = true;
    bool obeys_kill = true;
    bool answers_pings = true;

    // What it says in its hello beyond the necessary, and what can be seen of its process.
    bool has_health_check = false;
    bool only_answers = false; ///< which is all its health check shows
    int stack_signal = 0;
    std::string loop;
    boost::json::object batches; ///< as in a hello
    std::uint64_t slots = 0;     ///< of its engine
    bool gives_back = false;     ///< calls that it has not begun
    std::uint64_t resident = 1u << 20;
    bool is_measurable = true;
    bool has_company = false; ///< others of its group, who have its channels open, and do not end with it
    bool oom_killed = false;
    std::string last_words = "the fake's last words";

    // What it has been asked for so far.
    int terminations = 0;
    int kills = 0;
    std::vector<int> signals;

    unique_fd regions; ///< its end of the line for shared memory

    const launch_order& order() const noexcept { return order_; }

    /// Says hello and ready. By default it offers more room than any pool asks for.
    void shake_hands(std::size_t capacity = 65'536);

    /// The hello that it would be right to say.
    boost::json::object hello(std::size_t capacity = 1) const;

    /// Messages received since the last call: calls, and control messages of one type.
    std::vector<boost::json::object> take_calls();
    std::vector<boost::json::object> take_controls(std::string_view type);

    /// The id of the one call received since the last look. Fails the test if there is none or another.
    std::uint64_t take_call();

    void reply(std::uint64_t id, boost::json::value value = nullptr);
    void give_back(std::uint64_t id);
    void chunk(std::uint64_t id, boost::json::value value);
    void fail(std::uint64_t id, std::string type, std::string message);

    /// Answers as `raise skep.Error(code, "no", {"size": 3})` does.
    void refuse(std::uint64_t id, std::string code);

    /// Takes the one call received since the last look and answers it.
    void answer_call(boost::json::value value = nullptr);

    /// Answers the pings received since the last call; returns how many there were.
    std::size_t answer_pings();

    void send_data(const boost::json::object& message);
    void send_control(const boost::json::object& message);
    void send_raw(std::string_view bytes);
    void close_data();

    /// Ends the "process".
    void exit(exit_status status);
    bool has_exited() const noexcept { return exited_.is_open(); }
    void end_company();

private:
    friend class fake_process;

    struct far_end {
        unique_fd fd;
        frame_decoder frames{frame_limits{64u << 20, 64u << 20}};
    };

    static void send(far_end& to, std::string_view bytes);
    static void take(far_end& from, std::vector<boost::json::object>& into);

    launch_order order_;
    far_end data_;
    far_end control_;
    bool has_control_;
    std::vector<boost::json::object> controls_; ///< received and not yet taken
    exit_status status_;
    latch exited_;
    latch company_gone_;
};

std::uint64_t id_of(const boost::json::object& message);

/// Starts fake workers.
class fake_runtime final : public runtime {
public:
    explicit fake_runtime(const strand& executor, output_handler sink = {})
        : print(std::move(sink)), executor_(executor) {}

    /// What takes the lines that workers print.
    const output_handler print;

    /// Called for each new worker; by default it shakes hands at once. May throw error(spawn_failed).
    std::function<void(fake_worker&)> on_start = [](fake_worker& fresh) { fresh.shake_hands(); };

    /// Every worker ever started, in order.
    std::vector<std::shared_ptr<fake_worker>> workers;

    /// Whether those to come have a control channel.
    bool with_control = true;

    /// Whether those to come can share memory.
    bool with_regions = false;

    int closed = 0;

    asio::awaitable<worker_link> start(launch_order order) override;
    void cancel_start(const worker_id&) noexcept override {} // it never takes time
    void close() override { ++closed; }

private:
    strand executor_;
};

/// A pool of fake workers in an io_context whose time the test moves by hand.
class manual_pool : public manual_context {
public:
    explicit manual_pool(pool_config config, pool_membership of_manager = {});
    ~manual_pool();

    /// How an operation ended, if it has.
    template <class T>
    struct outcome {
        bool done = false;
        std::optional<T> value;
        std::optional<error> problem;
        asio::cancellation_signal cancel; ///< every type reaches the operation

        /// 0 unless it has failed.
        errc code() const noexcept { return problem ? static_cast<errc>(problem->code().value()) : errc(); }
        error_info info() const { return problem ? problem->info() : error_info(); }
        std::string text() const { return problem ? problem->what() : ""; }
    };

    // Each starts an operation, lets it run as far as it comes without time passing, and returns where its
    // outcome is or will be.
    std::shared_ptr<outcome<reply>> execute(request call);
    std::shared_ptr<outcome<reply_stream>> stream(request call);
    std::shared_ptr<outcome<std::optional<chunk>>> next(reply_stream& from);
    std::shared_ptr<outcome<lease>> checkout(checkout_options what = {});
    std::shared_ptr<outcome<reply>> execute(lease& with, request call);
    std::shared_ptr<outcome<reply_stream>> stream(lease& with, request call);
    std::shared_ptr<outcome<bool>> start();
    std::shared_ptr<outcome<shutdown_report>> shutdown();

    /// Any operation without a result, such as facade().suspend().
    std::shared_ptr<outcome<bool>> begin(asio::awaitable<void> operation);

    /// Ends the pool object, without a shutdown unless there was one.
    void destroy_pool();

    /// Compares the status with load() as well.
    pool_status status();
    pool_metrics metrics();
    pool_counters counters() { return status().counters; }
    skep::pool& facade() { return *pool_; }
    fake_runtime& runtime() noexcept { return *runtime_; }
    fake_worker& worker(std::size_t index) { return *runtime_->workers.at(index); }

    /// Answers the one call that a worker has received since the last look; returns the call's command.
    std::string serve(std::size_t index = 0);

    /// Has an otherwise idle pool's worker `index` answer a call: what dies after that is replaced without
    /// backoff.
    void warm_up(std::size_t index = 0);

    /// The first entry of status().workers that is about this slot.
    worker_status worker_status_of(std::uint32_t slot);

    /// How many workers have been started so far.
    std::size_t launched() const noexcept { return runtime_->workers.size(); }

private:
    template <class T>
    std::shared_ptr<outcome<T>> launch(asio::awaitable<T> operation);

    /// Workers answer their pings if they are of that kind.
    void after_step() override;

    fake_runtime* runtime_ = nullptr;
    std::optional<pool> pool_;
};

/// One that has been started.
class running_pool : public manual_pool {
public:
    explicit running_pool(pool_config config);
};

inline const exit_status exit_3 = exit_status::exited(3);

inline void crash_worker(manual_pool& pool, std::size_t index, exit_status how = exit_3) {
    pool.worker(index).exit(how);
    pool.run_until_idle();
}

/// For fake_runtime::on_start.
inline void never_ready(fake_worker&) {}

/// Fails the test, and shows the text, if `part` is not in it.
void check_mentions(const std::string& text, const std::string& part);

/// A configuration that validates, for a pool of fakes.
pool_config fake_config(std::size_t workers = 1);

} // namespace skep::test
