// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#pragma once

#include "core/stream_credit.hpp"
#include "runtime/runtime.hpp"
#include "simulation/behaviour.hpp"
#include "simulation/call_record.hpp"
#include "simulation/memory_stream.hpp"
#include "simulation/sim_memory.hpp"
#include "simulation/tool_record.hpp"
#include "wire/frame.hpp"

#include <boost/json/object.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace skep::simulation {

class oracle;
class sim_process;

/// One incarnation: the far side of its channels, and its process. It begins calls in the order they came, as
/// many at a time as it can, and answers them when they are done, unless something is wrong with it.
class sim_worker : public std::enable_shared_from_this<sim_worker> {
public:
    sim_worker(world& in, oracle& judge, launch_order order, behaviour plan, const climate& weather,
               const pool_config& config, int pid);

    /// The host's ends. Its life begins.
    worker_link connect(const strand& executor);

    const worker_id& id() const noexcept { return order_.worker; }
    const behaviour& plan() const noexcept { return plan_; }
    std::string name() const { return to_string(order_.worker); }
    int pid() const noexcept { return pid_; }
    std::size_t capacity() const noexcept { return capacity_; }

    // What the pool has done to it.
    bool start_returned = false;
    bool start_failed = false;
    time_point started;
    std::optional<time_point> welcomed; ///< when it was sent its welcome
    std::optional<time_point> asked;    ///< likewise, the shutdown frame
    std::optional<time_point> terminated;
    std::optional<time_point> killed;  ///< while it lived
    std::uint64_t stopped_at_step = 0; ///< the first of these
    int reaps = 0;
    bool was_finished = false;
    bool was_abandoned = false;
    bool was_ended_now = false;
    std::uint64_t pings = 0;
    std::uint64_t pings_missed = 0;         ///< surely
    std::optional<time_point> silent_since; ///< the first ping since it froze
    time_point probe_sent;

    // What it has done, and what of that the pool has seen.
    std::optional<time_point> ready_seen;
    std::optional<time_point> froze;
    std::optional<time_point> closed; ///< its data channel, while it lived on
    std::optional<time_point> lie_seen;
    std::optional<time_point> exited;
    bool has_lied = false;
    bool exited_by_itself = false;
    bool exit_noticed = false; ///< it can be seen
    bool end_told = false;     ///< it has been
    bool did_wrong = false;    ///< anything that the pool may end it for
    bool reset_failed = false; ///< of these, after a lease: the pool replaces it
    std::uint64_t answers_seen = 0;
    std::uint64_t errors_seen = 0;
    int probes_failed = 0;     ///< in a row, and no call answered since
    bool is_condemned = false; ///< surely, as these were too many
    time_point in_trouble{};   ///< when it last failed a call, or was at one that was given up
    std::uint64_t pongs = 0;
    bool has_company; ///< others of its group, who do not end with it
    time_point company_ends{};
    exit_status status;
    std::set<std::uint64_t> recalled; ///< calls that the pool wants back
    /// The newest call that it was sent, also if it has given the call back.
    struct {
        const call_record* call = nullptr;
        std::uint64_t id = 0;
        std::uint64_t place = 0;
        std::size_t batch_size = 1;
    } newest;
    std::set<std::uint64_t> unknown_cancels; ///< of calls not sent: a cancel may overtake its call

    /// Places of calls that it has been sent whole and has not answered as far as the pool can know.
    std::size_t load() const;
    std::uint64_t sent() const noexcept { return last_id_; } ///< calls and probes, at any time
    std::uint64_t attachments_lent() const noexcept { return memory_ ? memory_->times_lent() : 0; }
    std::uint64_t results_shared() const noexcept { return memory_ ? memory_->results.delivered() : 0; }
    std::uint64_t attachments_passed() const noexcept { return memory_ ? memory_->sealed.read() : 0; }
    std::uint64_t attachments_shown() const noexcept { return memory_ ? memory_->sealed.shown() : 0; }
    bool is_alive() const noexcept { return start_returned && !exited; }
    bool has_had_backlog() const noexcept { return had_backlog_; }
    bool is_kept_waiting() const noexcept; ///< there is more for it, and its streams have room
    bool is_starved() const noexcept;      ///< waits for credit that is not on its way
    bool is_held_by_pool() const noexcept { return process_ != nullptr || data_->host != nullptr; }
    std::uint64_t resident() const noexcept;

    /// The pool has, or may have, given it up with the calls it had.
    bool is_lost() const noexcept { return did_wrong || exited || terminated || killed; }
    bool is_crash() const noexcept;

    /// The calls it has, answered or not, in the order sent.
    const std::vector<std::pair<call_record*, std::size_t>>& calls() const noexcept { return calls_; }

    /// It has never had the call.
    void forget(const call_record& call, std::size_t visit_index);

    // Its process.
    void terminate();
    void kill();
    void signal(int number);
    void exit(exit_status how, bool by_itself);
    void end_company();

private:
    friend class sim_process;

    enum class kind { welcome, call, probe, cancel, recall, credit, tool_answer, ping, shutdown };
    enum class said {
        other,
        ready,
        chunk,
        tool_call,
        progress,
        result,
        error,
        recalled,
        release,
        pong,
        lie,
        flood
    };

    struct host_frame {
        std::uint64_t end; ///< its place in the stream
        kind what;
        std::uint64_t id = 0;
        std::uint64_t place = 0;
        std::size_t batch_size = 1;
        call_record* call = nullptr;
        stream_credit credit{};
        std::vector<region_place> places{};   ///< of its attachments in memory of the pool
        std::vector<region_place> released{}; ///< of results
    };
    struct own_frame {
        std::uint64_t end;
        said what;
        std::uint64_t id = 0;
        call_record* call = nullptr;
        std::size_t visit_index = 0;
        tool_record* tool = nullptr;
        region_place place{};
        std::vector<region_place> places{}; ///< of its attachments in shared memory
    };
    struct job {
        std::uint64_t id = 0;
        std::uint64_t place = 0; ///< the id of the first call of its batch
        std::size_t batch_size = 1;
        call_record* call = nullptr; ///< none: a probe
        std::size_t visit_index = 0;
        bool begun = false;
        bool over = false;
        bool cancelled = false;
        stream_credit credit{};
        std::size_t yielded = 0;
        duration step{};               ///< between two chunks, or tools
        bool waits = false;            ///< for credit
        std::size_t asked = 0;         ///< tools
        std::set<std::uint64_t> tools; ///< that it waits for
        tool_record* last_tool = nullptr;
    };
    /// One channel, seen from the worker.
    struct line {
        explicit line(connection& on) : decoder({1u << 30, 1u << 30}), end(on) {}
        frame_decoder decoder;
        connection& end;
        std::uint64_t noted = 0; ///< bytes of whole frames that the pool has written
        std::deque<host_frame> coming;
        std::deque<own_frame> going;
    };

    void tap(line& from, std::string_view bytes);
    void note(line& from, const frame_view& frame);
    void note_call(host_frame& frame, const boost::json::object& message, std::size_t payload);
    std::size_t note_places(host_frame& frame, const boost::json::object& message);
    void check_places(const host_frame& frame);
    void note_released(host_frame& frame, const boost::json::object& message);
    void check_released(time_point then);
    bool is_memory_free_for(const call_record& call) const;
    bool is_surely_passed(const call_record& call, std::size_t index) const;
    void note_lent(const region_place& place, std::size_t bytes);
    void note_passed(const region_place& place, std::size_t bytes);
    void use_places(const host_frame& frame);
    void release(const region_place& place);
    void request_region();
    std::optional<region_place> share(std::size_t bytes, std::size_t room);
    void receive(line& from);
    void handle(const host_frame& frame);
    void on_consumed(line& from);
    void on_delivered(const own_frame& frame);

    void begin_life();
    void say_hello();
    void say_ready();
    void begin_flaw();
    void flood();
    void check_flood();
    void freeze();
    void thaw();
    void tell_lie(std::uint64_t about);
    void tell_lie_about_results(std::uint64_t about);
    void die_of_lie();
    void start_jobs();
    bool has_place_for(const job& next) const;
    void begin(job& which);
    duration time_for_call();
    void end_job(std::uint64_t id);
    void go_on(std::uint64_t id);
    void ask(job& which);
    void handle_tool_answer(std::uint64_t number);
    void report(job& which);
    void yield(std::uint64_t id);
    void handle_credit(std::uint64_t id, stream_credit more);
    void answer(job& which);
    void answer_probe(job& which);
    void cancel(std::uint64_t id);
    void recall(std::uint64_t id);
    job* find(std::uint64_t id);

    /// `places`: of the attachments in shared memory.
    void send(line& to, said what, std::string_view json, std::string_view payload = {}, job* of = nullptr,
              std::vector<region_place> places = {});
    void send_raw(line& to, said what, std::string_view bytes, job* of = nullptr,
                  std::vector<region_place> places = {});

    /// Does it then, if it still lives; if it is frozen, once it thaws.
    void later(duration span, std::function<void()> what);

    world& world_;
    oracle& oracle_;
    launch_order order_;
    behaviour plan_;
    const climate& weather_;
    std::size_t capacity_;
    int pid_;
    std::shared_ptr<connection> data_;
    std::shared_ptr<connection> control_;
    line data_line_;
    line control_line_;
    std::shared_ptr<sim_memory> memory_; ///< that the pool may lend; null if it lends none
    bool shares_memory_ = false;         ///< it can read that memory
    std::size_t least_lent_ = 0;         ///< bytes of an attachment of a call in there
    std::size_t least_passed_ = 0;       ///< bytes of an attachment of an answer, and of sealed memory
    std::size_t most_shared_ = 0;        ///< bytes of the attachments of a message in there
    bool copies_results_ = false;        ///< the pool does, before it releases their places
    sim_process* process_ = nullptr;
    bool had_backlog_ = false; ///< its streams have not always taken at once what the pool had for it
    bool ready_wanted_ = false;
    bool said_ready_ = false;
    bool frozen_ = false;
    std::vector<std::function<void()>> put_off_;
    std::deque<job> jobs_; ///< those not over, and some that are
    std::vector<std::pair<call_record*, std::size_t>> calls_;
    std::size_t active_ = 0;
    std::map<std::uint64_t, std::uint64_t> open_; ///< ids of calls that make the load, and their places
    std::uint64_t last_id_ = 0;
    std::uint64_t last_ping_ = 0;
    std::uint64_t last_tool_ = 0;
    std::uint64_t last_received_ = 0;
    std::uint64_t last_answered_ = 0;
    std::uint64_t answers_ = 0;
    std::uint64_t begun_ = 0;
    std::set<std::uint64_t> cancelled_early_;
    std::set<std::uint64_t> returned_early_; ///< calls that are to come
    bool dying_ = false;
    std::optional<time_point> flooding_since_;
    std::size_t flood_seen_ = 0; ///< messages of it that the pool has read
};

} // namespace skep::simulation
