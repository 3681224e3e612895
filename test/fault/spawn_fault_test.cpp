// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The host as the source of trouble: system calls that fail, descriptors that run out, foreign forks.

#include "pool/pool_core.hpp"
#include "process/local_context.hpp"
#include "process/process_runtime.hpp"
#include "support/run.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skep::test {

namespace {

namespace data = boost::unit_test::data;

/// One launch step, the error it fails with, and how many workers it takes to come across it six times.
struct step_fault {
    launch_step step;
    int number;
    std::size_t workers;
};

std::ostream& operator<<(std::ostream& out, const step_fault& fault) {
    return out << to_string(fault.step);
}

const std::vector<step_fault> step_faults{
    {launch_step::socketpair, EMFILE, 3},
    {launch_step::pipe, ENFILE, 2},
    {launch_step::vfork, EAGAIN, 6},
    {launch_step::pidfd_open, EMFILE, 6},
};

/// A pool whose launches ask `fault` before each step.
pool faulty_pool(asio::io_context& context, const pool_config& config, const launch_fault& fault) {
    auto make_runtime = [fault](const pool_context& found, const pool_config& of, output_handler sink) {
        return make_process_runtime(found, of, std::move(sink), fault);
    };
    return make_pool(
        std::make_shared<pool_core>(make_local_context(context.get_executor()), config, make_runtime));
}

/// Lets the Nth call of one step fail; the pool must come up all the same, with nothing left of the failed
/// launch.
void fail_nth(const step_fault& fault, int nth) {
    std::atomic<int> asked{0};
    std::atomic<int> failed{0};
    auto once = [&](launch_step step) {
        if (step != fault.step || ++asked != nth) {
            return 0;
        }
        ++failed;
        return fault.number;
    };
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers = faulty_pool(context, unforked(quick(evil_pool("", fault.workers))), once);
        bool started = false;
        while (!started) {
            try {
                co_await workers.start();
                started = true;
            } catch (const error& e) {
                BOOST_TEST(e.code() == errc::start_failed);
                const auto text =
                    std::string(to_string(fault.step)) + " failed: " + std::strerror(fault.number);
                BOOST_TEST(contains(e.what(), text), e.what());
                BOOST_TEST(children().empty());
            }
        }
        const bool healed = co_await is_healed(workers, fault.workers);
        BOOST_TEST(healed);
        BOOST_TEST(failed == 1);
        BOOST_TEST(children().size() == fault.workers);
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

/// The same for a pool with a template: its worker comes up with the template or without it.
void fail_nth_with_template(const step_fault& fault, int nth) {
    std::atomic<int> asked{0};
    auto once = [&](launch_step step) { return step == fault.step && ++asked == nth ? fault.number : 0; };
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        auto config = quick(basic_pool());
        config.launch.preload = true;
        pool workers = faulty_pool(context, config, once);
        bool started = false;
        while (!started) {
            try {
                co_await workers.start();
                started = true;
            } catch (const error& e) {
                BOOST_TEST(e.code() == errc::start_failed, e.what());
            }
        }
        const bool healed = co_await is_healed(workers);
        BOOST_TEST(healed);
        BOOST_TEST(asked >= nth);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

/// Lowers the limit of descriptors to `limit` for as long as it lives.
class descriptor_limit {
public:
    explicit descriptor_limit(::rlim_t limit) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        ::rlimit now{limit, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~descriptor_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    descriptor_limit(const descriptor_limit&) = delete;
    descriptor_limit& operator=(const descriptor_limit&) = delete;

private:
    ::rlimit before_{};
};

/// Takes every free descriptor below the highest one in use, so that a limit leaves exactly what it says.
class gaps_filled {
public:
    gaps_filled() {
        int highest = 0;
        for (int fd = 0; fd < 4096; ++fd) {
            highest = ::fcntl(fd, F_GETFD) >= 0 ? fd : highest;
        }
        first_free_ = highest + 1;
        int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        for (; fd < first_free_; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
            fillers_.push_back(fd);
        }
        ::close(fd);
    }
    ~gaps_filled() {
        for (const int fd : fillers_) {
            ::close(fd);
        }
    }
    gaps_filled(const gaps_filled&) = delete;
    gaps_filled& operator=(const gaps_filled&) = delete;

    int first_free() const { return first_free_; }

private:
    int first_free_ = 0;
    std::vector<int> fillers_;
};

void start_with_few_descriptors(int spare) {
    run([spare](asio::io_context& context) -> asio::awaitable<void> {
        auto config = quick(basic_pool(8));
        config.min_ready = std::max<std::size_t>(1, static_cast<std::size_t>(spare - 14) / 7);
        pool workers(context.get_executor(), config);
        const gaps_filled gaps;
        {
            const descriptor_limit limit(static_cast<::rlim_t>(gaps.first_free() + spare));
            co_await workers.start();
            const auto pid = co_await pid_of(workers);
            BOOST_TEST(pid > 0);
        }
        const bool healed = co_await is_healed(workers, 8);
        BOOST_TEST(healed);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

/// Another part of the program that starts processes of its own, without care.
class foreign_forks {
public:
    foreign_forks() : shells_([this] { run_shells(); }), copies_([this] { run_copies(); }) {}
    ~foreign_forks() {
        stop_ = true;
        shells_.join();
        copies_.join();
    }
    foreign_forks(const foreign_forks&) = delete;
    foreign_forks& operator=(const foreign_forks&) = delete;

    int count() const { return count_; }

private:
    void run_shells() {
        while (!stop_) {
            count_ += std::system("true") == 0 ? 1 : 0;
        }
    }

    /// Each copy holds all of the host's descriptors for a while.
    void run_copies() {
        while (!stop_) {
            const pid_t pid = ::fork();
            if (pid == 0) {
                ::usleep(20'000);
                ::_exit(0);
            }
            ::waitpid(pid, nullptr, 0);
            ++count_;
        }
    }

    std::atomic<bool> stop_{false};
    std::atomic<int> count_{0};
    std::thread shells_;
    std::thread copies_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(spawn_fault)

BOOST_DATA_TEST_CASE(of_the_nth_step_unwinds_and_heals, data::make(step_faults) * data::xrange(1, 7), fault,
                     nth) {
    fail_nth(fault, nth);
}

/// Guard and nursery are processes; both and the worker have sockets and pipes.
BOOST_AUTO_TEST_CASE(of_the_nth_step_with_a_template_unwinds_and_heals) {
    for (const auto& fault : step_faults) {
        const bool is_of_process = fault.step == launch_step::vfork || fault.step == launch_step::pidfd_open;
        for (int nth = 1; nth <= (is_of_process ? 2 : 6); ++nth) {
            BOOST_TEST_CONTEXT(fault << " " << nth) {
                fail_nth_with_template(fault, nth);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(of_every_step_is_unwound_as_often_as_it_fails) {
    for (const auto& fault : step_faults) {
        std::atomic<bool> broken{true};
        auto always = [&](launch_step step) { return step == fault.step && broken ? fault.number : 0; };
        run([&](asio::io_context& context) -> asio::awaitable<void> {
            pool workers = faulty_pool(context, quick(evil_pool("", 2)), always);
            for (int i = 0; i < 5; ++i) {
                auto starting = workers.start();
                const auto e = co_await failure_of(std::move(starting));
                BOOST_TEST(e.code() == errc::start_failed);
                BOOST_TEST(children().empty());
            }
            broken = false;
            co_await workers.start();
            const auto pid = co_await pid_of(workers);
            BOOST_TEST(pid > 0);
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
        });
    }
}

BOOST_AUTO_TEST_CASE(while_running_leaves_the_rest_at_work) {
    std::atomic<bool> broken{false};
    auto sometimes = [&broken](launch_step step) {
        return step == launch_step::vfork && broken ? ENOMEM : 0;
    };
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers = faulty_pool(context, unforked(quick(basic_pool(2))), sometimes);
        co_await workers.start();
        broken = true;
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        auto failing = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            co_return status.counters.start_failures >= 3;
        };
        const bool tried = co_await eventually(failing);
        BOOST_TEST(tried);
        BOOST_TEST(children().size() == 1u);
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
        broken = false;
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(by_lack_of_descriptors_unwinds_wherever_they_run_out) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), quick(evil_pool("")));
        const gaps_filled gaps;
        const auto before = descriptors();
        int failures = 0;
        bool started = false;
        for (int spare = 0; spare < 60 && !started; ++spare) {
            std::optional<error> problem;
            {
                const descriptor_limit limit(static_cast<::rlim_t>(gaps.first_free() + spare));
                try {
                    co_await workers.start();
                    started = true;
                } catch (const error& e) {
                    problem = e;
                }
            }
            if (problem) {
                ++failures;
                BOOST_TEST(problem->code() == errc::start_failed);
                BOOST_TEST(contains(problem->what(), "ulimit -n"),
                           "with " << spare << " spare: " << problem->what());
                BOOST_TEST((descriptors() == before), "with " << spare << " spare descriptors");
                BOOST_TEST(children().empty());
            }
        }
        BOOST_TEST(started);
        BOOST_TEST(failures >= 14); // two socket pairs, four pipes, /dev/null and the pidfd
        const auto pid = co_await pid_of(workers);
        BOOST_TEST(pid > 0);
        const auto report = co_await workers.shutdown();
        BOOST_TEST(report.clean());
    });
}

BOOST_AUTO_TEST_CASE(by_lack_of_descriptors_heals_when_there_are_some_again) {
    with_pool(quick(basic_pool(2)), [](pool& workers) -> asio::awaitable<void> {
        const bool complete = co_await is_healed(workers, 2);
        BOOST_TEST(complete);
        std::optional<descriptor_limit> limit(std::in_place, 4);
        request deadly("die");
        auto dying = workers.execute(std::move(deadly));
        const auto e = co_await failure_of(std::move(dying));
        BOOST_TEST(e.code() == errc::worker_lost);
        std::string reason;
        auto failing = [&]() -> asio::awaitable<bool> {
            const auto status = co_await workers.status();
            for (const auto& worker : status.workers) {
                reason = worker.last_failure.empty() ? reason : worker.last_failure;
            }
            co_return status.counters.start_failures >= 2;
        };
        const bool tried = co_await eventually(failing);
        BOOST_TEST(tried);
        BOOST_TEST(contains(reason, "ulimit -n"), reason);
        const auto one_is_left = co_await pid_of(workers);
        BOOST_TEST(one_is_left > 0);
        limit.reset();
        const bool healed = co_await is_healed(workers, 2);
        BOOST_TEST(healed);
    });
}

/// As many workers as there are descriptors for come up, however short they are.
BOOST_DATA_TEST_CASE(by_lack_of_descriptors_leaves_what_came_up, data::xrange(24, 84, 12), spare) {
    start_with_few_descriptors(spare);
}

BOOST_AUTO_TEST_CASE(does_not_come_of_foreign_forks) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const foreign_forks forks;
        auto longest = duration::zero();
        for (int i = 0; i < 50; ++i) {
            const auto began = std::chrono::steady_clock::now();
            pool workers(context.get_executor(), quick(evil_pool("")));
            co_await workers.start();
            const auto pid = co_await pid_of(workers);
            BOOST_TEST(pid > 0);
            if (i % 10 == 0) {
                ::kill(pid, SIGKILL); // the copies hold its channels open for a while
                request call = request("pid").idempotent(true);
                const json::value other = co_await value_of(workers, std::move(call));
                BOOST_TEST(other.to_number<pid_t>() != pid);
            }
            const auto report = co_await workers.shutdown();
            BOOST_TEST(report.clean());
            longest = std::max(longest, duration(std::chrono::steady_clock::now() - began));
        }
        BOOST_TEST(forks.count() > 50);
        BOOST_TEST((longest < patience), "one took " << longest.count() / 1'000'000 << " ms");
    });
}

BOOST_AUTO_TEST_CASE(is_not_seen_by_the_audit_in_processes_that_just_went) {
    const foreign_forks forks;
    while (forks.count() < 200) {
        BOOST_REQUIRE_NO_THROW(children());
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
