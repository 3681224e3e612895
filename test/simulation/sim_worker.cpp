// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The life of a scripted worker, and what goes over its channels. What it does with calls:
// sim_worker_calls.cpp.

#include "simulation/sim_worker.hpp"

#include "policy/region_arena.hpp"
#include "simulation/oracle.hpp"
#include "simulation/sim_runtime.hpp"
#include <skep/exit_class.hpp>

#include <boost/json/parse.hpp>

#include <algorithm>
#include <csignal>
#include <numeric>

namespace skep::simulation {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

stream_credit credit_in(const json::value& told) {
    return {told.at("chunks").to_number<std::int64_t>(), told.at("bytes").to_number<std::int64_t>()};
}

constexpr std::size_t messages_of_flood = 40;
constexpr std::size_t brackets = 7'000; // so many make a record that is read in steps

/// A log record that costs the host far more than it says.
const std::string& dense_record() {
    static const std::string record = [] {
        std::string text = R"({"type":"log","level":"info","text":"x","moon":[[])";
        for (std::size_t i = 1; i < brackets; ++i) {
            text += ",[]";
        }
        return text + "]}";
    }();
    return record;
}

/// In seconds, by the protocol.
double price_of_record() {
    constexpr std::size_t members = 313;
    const auto tree = static_cast<double>(members + 56 * brackets);
    const auto size = static_cast<double>(dense_record().size());
    return 5e-9 * (2000 + size + 2 * (tree - size));
}

} // namespace

sim_worker::sim_worker(world& in, oracle& judge, launch_order order, behaviour plan, const climate& weather,
                       const pool_config& config, int pid)
    : started(in.now()),
      has_company(plan.company_time > 0s),
      world_(in),
      oracle_(judge),
      order_(std::move(order)),
      plan_(std::move(plan)),
      weather_(weather),
      capacity_(std::min(std::max(config.capacity, config.threads_per_worker), plan_.offers)),
      pid_(pid),
      data_(std::make_shared<connection>(in, weather.stream_room, weather.latency)),
      control_(std::make_shared<connection>(in, weather.stream_room, weather.latency)),
      data_line_(*data_),
      control_line_(*control_) {
    if (config.shared.enabled) {
        constexpr int old_workers = 5; // one of so many cannot share memory
        shares_memory_ = pid % old_workers != 0;
        memory_ = std::make_shared<sim_memory>(in, name(), config.shared, weather.memory_fails);
        least_lent_ = config.shared.least;
        least_passed_ = config.shared.least_result;
        most_shared_ = config.shared.bytes;
        copies_results_ = !config.shared.show_results;
    }
    for (auto* each : {&data_line_, &control_line_}) {
        each->end.on_written = [this, each](std::string_view bytes) { tap(*each, bytes); };
        each->end.on_short = [this] { had_backlog_ = true; };
        each->end.on_consumed = [this, each] { on_consumed(*each); };
        each->end.to_worker->on_bytes = [this, each](std::string_view) { receive(*each); };
        each->end.to_worker->on_end = [this] { exit(exit_status::exited(0), false); }; // the host is gone
    }
}

worker_link sim_worker::connect(const strand& executor) {
    worker_link link;
    link.data = std::make_unique<memory_stream>(world_, executor, data_);
    link.control = std::make_unique<memory_stream>(world_, executor, control_);
    auto process = std::make_unique<sim_process>(world_, executor, shared_from_this());
    process_ = process.get();
    link.process = std::move(process);
    link.regions = memory_ ? memory_->connect() : nullptr;
    start_returned = true;
    begin_life();
    return link;
}

void sim_worker::begin_life() {
    did_wrong = !comes_up(plan_.what);
    if (plan_.what == flaw::dies_early) {
        later(plan_.hello_time, [this] { exit(plan_.dies_as, true); });
    } else if (plan_.what == flaw::early_garbage) {
        later(plan_.hello_time, [this] { send_raw(data_line_, said::lie, "HTTP/1.1 200 OK\r\n\r\n"); });
    } else if (plan_.what != flaw::says_nothing) {
        later(plan_.hello_time, [this] { say_hello(); });
    }
}

void sim_worker::say_hello() {
    std::string hello = R"({"type":"hello","protocol":)";
    hello += plan_.what == flaw::wrong_version ? "7" : "1";
    hello += R"(,"token":")" + (plan_.what == flaw::wrong_token ? "wrong" : order_.token) + R"(","pid":)" +
             std::to_string(pid_) + R"(,"sdk":"simulation","capacity":)" + std::to_string(plan_.offers) +
             R"(,"control":true)";
    if (plan_.has_probe) {
        hello += R"(,"health_check":"skep.health_check","own_health_check":)";
        hello += plan_.own_probe ? "true" : "false";
    }
    if (weather_.batch_most > 1) {
        hello += R"(,"batches":{"work":{"most":)" + std::to_string(weather_.batch_most) + R"(,"wait_ms":)" +
                 std::to_string(weather_.batch_wait / 1ms) + "}}";
    }
    if (plan_.stack_signal != 0) {
        hello += R"(,"stack_signal":)" + std::to_string(plan_.stack_signal);
    }
    if (plan_.gives_back) {
        hello += R"(,"recall":true)";
    }
    if (shares_memory_) {
        hello += R"(,"shared":1)";
    }
    send(data_line_, said::other, hello + "}");
    if (!plan_.waits_for_welcome) {
        say_ready();
    }
}

void sim_worker::say_ready() {
    if (ready_wanted_ || !comes_up(plan_.what)) {
        return;
    }
    ready_wanted_ = true;
    later(plan_.ready_time, [this] {
        said_ready_ = true;
        send(data_line_, said::ready, R"({"type":"ready"})");
        begin_flaw();
    });
}

void sim_worker::begin_flaw() {
    switch (plan_.what) {
    case flaw::crashes_later: later(plan_.at_time, [this] { exit(plan_.dies_as, true); }); break;
    case flaw::exits_later: later(plan_.at_time, [this] { exit(exit_status::exited(0), true); }); break;
    case flaw::freezes: later(plan_.at_time, [this] { freeze(); }); break;
    case flaw::closes_data:
        later(plan_.at_time, [this] {
            did_wrong = true;
            closed = world_.now();
            data_->end_by_worker();
        });
        break;
    case flaw::closes_control:
        later(plan_.at_time, [this] {
            did_wrong = true;
            control_->end_by_worker();
        });
        break;
    case flaw::floods: later(plan_.at_time, [this] { flood(); }); break;
    case flaw::fails_probes:
    case flaw::grows: did_wrong = true; break;
    default: break;
    }
}

void sim_worker::flood() {
    world_.trace(name() + " floods");
    did_wrong = true; // its pongs will be late
    flooding_since_ = world_.now();
    for (std::size_t i = 0; i < messages_of_flood; ++i) {
        send(control_line_, said::flood, dense_record());
    }
}

/// What of a flood the pool may have read by now, by the prices of the protocol. The first read may bring as
/// much as there is room for.
void sim_worker::check_flood() {
    constexpr double burst = 0.040; // seconds
    constexpr double per_second = 0.100;
    constexpr double in_first_read = 5; // messages
    const std::chrono::duration<double> time = world_.now() - *flooding_since_;
    const double allowed = (burst + per_second * time.count()) / price_of_record() + in_first_read;
    if (!exited && static_cast<double>(++flood_seen_) > allowed) {
        oracle_.wrong(name() + " floods, and is not made to wait: " + std::to_string(flood_seen_) +
                      " messages were read in " + std::to_string(time.count()) + " s");
    }
}

std::uint64_t sim_worker::resident() const noexcept {
    if (exited) {
        return 0;
    }
    const auto age = std::chrono::duration<double>(world_.now() - started).count();
    return plan_.resident + static_cast<std::uint64_t>(static_cast<double>(plan_.growth) * age);
}

bool sim_worker::is_kept_waiting() const noexcept {
    const auto is_idle = [](const connection& each) {
        return each.is_behind && each.to_worker->room() > 0 && !each.host_closed;
    };
    // What waits behind a full control stream may be that it is to stop, and then the rest of its data is not
    // sent.
    return is_idle(*control_) || (is_idle(*data_) && !control_->is_behind);
}

bool sim_worker::is_crash() const noexcept {
    exit_evidence evidence;
    evidence.status = status;
    evidence.oom_kill = status.signal() == SIGKILL && plan_.was_oom_killed;
    evidence.last_words = plan_.last_words;
    return exited && skep::is_crash(classify_exit(evidence).kind);
}

void sim_worker::freeze() {
    world_.trace(name() + " freezes");
    frozen_ = true;
    did_wrong = true;
    froze = world_.now();
    data_->to_worker->hold(true);
    control_->to_worker->hold(true);
    if (plan_.frozen_for > 0s) {
        world_.after(plan_.frozen_for, [self = shared_from_this()] { self->thaw(); });
    }
}

void sim_worker::thaw() {
    if (!frozen_ || exited) {
        return;
    }
    world_.trace(name() + " thaws");
    frozen_ = false;
    froze.reset();
    silent_since.reset();
    data_->to_worker->hold(false);
    control_->to_worker->hold(false);
    for (auto& each : std::exchange(put_off_, {})) {
        later(0s, std::move(each));
    }
}

void sim_worker::later(duration span, std::function<void()> what) {
    const spared_by_faults here;
    world_.after(span, [self = shared_from_this(), what = std::move(what)] {
        if (self->frozen_) {
            self->put_off_.push_back(what);
        } else if (!self->exited) {
            what();
        }
    });
}

/// What the pool has put into a stream is known at once; the worker gets it later.
void sim_worker::tap(line& from, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto room = from.decoder.prepare();
        const auto count = bytes.copy(room.data(), room.size());
        bytes.remove_prefix(count);
        from.decoder.commit(count);
        while (const auto frame = from.decoder.next()) {
            note(from, *frame);
        }
    }
}

void sim_worker::note(line& from, const frame_view& frame) {
    const auto message = json::parse({frame.json.data(), frame.json.size()}).as_object();
    const auto& type = message.at("type").as_string();
    host_frame noted{};
    from.noted += frame_header_size + frame.json.size() + frame.payload.size();
    noted.end = from.noted;
    if (type == "call") {
        note_call(noted, message, frame.payload.size());
    } else if (type == "ping") {
        noted.what = kind::ping;
        noted.id = message.at("seq").to_number<std::uint64_t>();
        ++pings;
        if (frozen_) {
            oracle_.on_ping_in_vain(*this);
        }
    } else if (type == "cancel") {
        noted.what = kind::cancel;
        noted.id = message.at("id").to_number<std::uint64_t>();
        oracle_.on_cancel_sent(*this, noted.id);
    } else if (type == "recall") {
        noted.what = kind::recall;
        noted.id = message.at("id").to_number<std::uint64_t>();
        oracle_.on_recall_sent(*this, noted.id);
    } else if (type == "credit") {
        noted.what = kind::credit;
        noted.id = message.at("id").to_number<std::uint64_t>();
        noted.credit = credit_in(message.at("credit"));
        note_released(noted, message);
    } else if (type == "tool_result" || type == "tool_error") {
        noted.what = kind::tool_answer;
        noted.id = message.at("tool_call").to_number<std::uint64_t>();
        const auto* const answered = oracle_.on_tool_answered(*this, message);
        if (answered != nullptr && !had_backlog_) { // else a call that waits may name places
            check_released(*answered->delivered);
        }
    } else if (type == "shutdown") {
        noted.what = kind::shutdown;
        asked = world_.now();
        oracle_.on_stop(*this, "asked to stop");
    } else if (type == "welcome") {
        noted.what = kind::welcome;
        welcomed = world_.now();
        capacity_ = message.at("capacity").to_number<std::size_t>();
        oracle_.on_welcome(*this);
    } else {
        oracle_.wrong(name() + " was sent a message of type " + std::string(type));
    }
    from.coming.push_back(noted);
}

void sim_worker::note_call(host_frame& frame, const json::object& message, std::size_t payload) {
    frame.what = kind::call;
    frame.id = message.at("id").to_number<std::uint64_t>();
    if (frame.id <= last_id_) {
        oracle_.wrong(name() + " was sent the call id " + std::to_string(frame.id) + " twice");
    }
    last_id_ = frame.id;
    frame.place = frame.id;
    if (const auto* const batch = message.if_contains("batch")) {
        frame.place = batch->at(0).to_number<std::uint64_t>();
        frame.batch_size = batch->at(1).to_number<std::size_t>();
    }
    open_[frame.id] = frame.place;
    const auto shared = note_places(frame, message);
    frame.call = oracle_.on_sent(*this, frame.id, message, payload + shared);
    check_places(frame);
    note_released(frame, message);
    const bool is_last = frame.id + 1 == frame.place + frame.batch_size; // of a send
    if (is_last && frame.call != nullptr && shares_memory_ && copies_results_ && !had_backlog_) {
        // Credit of the same instant, on its way through the other channel, may name the places.
        later(1us, [this, then = frame.call->submitted] { check_released(then); });
    }
    if (const auto* const stream = message.if_contains("stream")) {
        frame.credit = credit_in(*stream);
    }
    if (unknown_cancels.erase(frame.id) > 0 && frame.call != nullptr) {
        frame.call->visits.back().told_to_stop = world_.now();
    }
    if (frame.call == nullptr) {
        frame.what = kind::probe;
        probe_sent = world_.now();
    } else {
        calls_.emplace_back(frame.call, frame.call->visits.size() - 1);
        newest = {frame.call, frame.id, frame.place, frame.batch_size};
    }
}

/// Returns the number of bytes in shared memory.
std::size_t sim_worker::note_places(host_frame& frame, const json::object& message) {
    const auto* const attachments = message.if_contains("attachments");
    std::size_t shared = 0;
    for (const auto& each : attachments != nullptr ? attachments->get_array() : json::array()) {
        region_place place;
        if (each.is_object()) {
            const bool is_sealed = each.get_object().contains("sealed");
            place = {each.at(is_sealed ? "sealed" : "region").to_number<std::uint64_t>(),
                     each.at("at").to_number<std::size_t>(), is_sealed};
            shared += each.at("bytes").to_number<std::size_t>();
        }
        frame.places.push_back(place);
    }
    if (shares_memory_ && shared > most_shared_) {
        oracle_.wrong(name() + " was sent " + std::to_string(shared) + " bytes in shared memory at once");
    }
    return shared;
}

/// The pool lends for a call some time before it sends the call, but not before the call is made: memory that
/// was free by then was free. Earlier calls have been sent before.
bool sim_worker::is_memory_free_for(const call_record& call) const {
    return shares_memory_ && memory_->places_lent() == 0 && call.submitted > memory_->last_release() &&
           !had_backlog_ && plan_.what != flaw::floods;
}

/// Sealed memory takes no room. The whole memory of an attachment counts: see make_shared_attachment().
bool sim_worker::is_surely_passed(const call_record& call, std::size_t index) const {
    constexpr std::size_t most_of_rest = 10'000;
    const auto all = std::accumulate(call.blobs.begin(), call.blobs.end(), most_of_rest);
    return shares_memory_ && weather_.memory_fails == 0 && !oracle_.out_of_memory() &&
           call.is_sealed[index] && call.blobs[index] >= least_passed_ && all <= most_shared_;
}

/// An attachment is in memory if there is surely room, and then it is right.
void sim_worker::check_places(const host_frame& frame) {
    if (frame.call == nullptr) {
        return;
    }
    const bool is_free = is_memory_free_for(*frame.call);
    const auto& sizes = frame.call->blobs;
    std::size_t large = 0;
    for (std::size_t i = 0; i < sizes.size() && i < frame.places.size(); ++i) {
        const bool is_large = sizes[i] >= least_lent_;
        large += is_large ? (sizes[i] + 4095) / 4096 * 4096 : 0;
        if (!frame.places[i].is_sealed && is_surely_passed(*frame.call, i)) {
            oracle_.wrong(name() + " was not passed the memory of an attachment");
        }
        if (frame.places[i].is_sealed) {
            note_passed(frame.places[i], sizes[i]);
        } else if (frame.places[i].region != 0) {
            note_lent(frame.places[i], sizes[i]);
        } else if (is_large && shares_memory_) {
            const bool has_failed = memory_->take_failure();
            if (is_free && !has_failed && large <= region_arena::first_region) {
                oracle_.wrong(name() + " was sent an attachment though all of its memory is free");
            }
        }
    }
}

void sim_worker::note_released(host_frame& frame, const json::object& message) {
    const auto* const released = message.if_contains("released");
    for (const auto& each : released != nullptr ? released->get_array() : json::array()) {
        const region_place place{each.at(0).to_number<std::uint64_t>(), each.at(1).to_number<std::size_t>()};
        if (!shares_memory_) {
            oracle_.wrong(name() + " was told of a release, and shares no memory");
            return;
        }
        memory_->results.on_told(place);
        frame.released.push_back(place);
    }
}

/// The pool has told of all places of results that it had copied before that time.
void sim_worker::check_released(time_point then) {
    if (copies_results_ && shares_memory_ && !did_wrong && !oracle_.out_of_memory() &&
        !memory_->results.has_told_of_all_until(then)) {
        oracle_.wrong(name() + " was not told of a place that the pool has copied");
    }
}

void sim_worker::note_lent(const region_place& place, std::size_t bytes) {
    if (!shares_memory_ || bytes < least_lent_) {
        oracle_.wrong(name() + " was lent an attachment of " + std::to_string(bytes) + " bytes");
        return;
    }
    memory_->on_lent(place, bytes, static_cast<char>('a' + bytes % 26));
}

void sim_worker::note_passed(const region_place& place, std::size_t bytes) {
    if (!shares_memory_ || bytes < least_passed_) {
        oracle_.wrong(name() + " was passed an attachment of " + std::to_string(bytes) + " bytes");
        return;
    }
    memory_->sealed.check(place, bytes, static_cast<char>('a' + bytes % 26));
}

/// Reads the attachments in lent memory until some time, and perhaps for ever.
void sim_worker::use_places(const host_frame& frame) {
    for (const auto& each : frame.places) {
        if (each.region != 0 && !each.is_sealed && !world_.chance.chance(weather_.kept_blobs)) {
            later(world_.chance.chance(0.3) ? 0ms : time_for_call() * 2, [this, each] { release(each); });
        }
    }
}

void sim_worker::release(const region_place& place) {
    memory_->check(place);
    send(control_line_, said::release,
         R"({"type":"release","region":)" + std::to_string(place.region) + R"(,"at":)" +
             std::to_string(place.begin) + "}");
    if (!exited && !control_line_.going.empty()) {
        control_line_.going.back().place = place;
    }
}

void sim_worker::request_region() {
    if (const auto bytes = memory_->results.next_request(); bytes > 0) {
        send(control_line_, said::other, R"({"type":"region","bytes":)" + std::to_string(bytes) + "}");
    }
}

/// Returns the place of an attachment in shared memory, if it is to be there. `room`: for the attachments of
/// its message there.
std::optional<region_place> sim_worker::share(std::size_t bytes, std::size_t room) {
    if (!shares_memory_ || bytes < least_passed_ || bytes > room || world_.chance.chance(0.2)) {
        return std::nullopt;
    }
    const auto letter = static_cast<char>('a' + bytes % 26);
    if (world_.chance.chance(0.2)) {
        return memory_->sealed.send(bytes, letter, most_shared_);
    }
    const auto place = memory_->results.put(bytes, letter);
    if (!place) {
        request_region();
    }
    return place;
}

void sim_worker::receive(line& from) {
    while (!exited && !frozen_ && !from.coming.empty() &&
           from.coming.front().end <= from.end.to_worker->arrived()) {
        const auto next = from.coming.front();
        from.coming.pop_front();
        handle(next);
    }
}

void sim_worker::handle(const host_frame& frame) {
    for (const auto& each : frame.released) {
        memory_->results.on_released(each);
    }
    switch (frame.what) {
    case kind::welcome:
        if (plan_.waits_for_welcome) {
            say_ready();
        }
        break;
    case kind::probe:
    case kind::call: {
        last_received_ = frame.id;
        use_places(frame);
        if (returned_early_.erase(frame.id) > 0) {
            break;
        }
        job fresh;
        fresh.id = frame.id;
        fresh.place = frame.place;
        fresh.batch_size = frame.batch_size;
        fresh.call = frame.call;
        fresh.credit = frame.credit;
        fresh.visit_index = frame.call != nullptr ? oracle_.visit_at(*this, *frame.call) : 0;
        fresh.cancelled = cancelled_early_.erase(frame.id) > 0 && !plan_.ignores_cancel;
        jobs_.push_back(fresh);
        if (fresh.cancelled) {
            end_job(fresh.id);
        }
        start_jobs();
        break;
    }
    case kind::cancel: cancel(frame.id); break;
    case kind::recall: recall(frame.id); break;
    case kind::credit: handle_credit(frame.id, frame.credit); break;
    case kind::tool_answer: handle_tool_answer(frame.id); break;
    case kind::ping: {
        ++pongs;
        const auto pong =
            R"({"type":"pong","seq":)" + std::to_string(frame.id) + R"(,"in_flight":0,"completed":0})";
        send(control_line_, said::pong, pong);
        break;
    }
    case kind::shutdown:
        if (!plan_.ignores_shutdown) {
            later(plan_.term_time, [this] { exit(exit_status::exited(0), false); });
        }
        break;
    }
}

void sim_worker::send(line& to, said what, std::string_view json, std::string_view payload, job* of,
                      std::vector<region_place> places) {
    std::string frame;
    begin_frame(frame);
    frame += json;
    const auto json_end = frame.size();
    frame += payload;
    end_frame(frame, 0, json_end);
    send_raw(to, what, frame, of, std::move(places));
}

void sim_worker::send_raw(line& to, said what, std::string_view bytes, job* of,
                          std::vector<region_place> places) {
    auto& out = *to.end.to_host;
    if (exited || out.has_ended()) {
        return;
    }
    const auto end = out.written() + bytes.size();
    if (&to == &data_line_ && plan_.what == flaw::crashes_at_byte && end > plan_.at_byte) {
        out.write(bytes.substr(0, plan_.at_byte > out.written() ? plan_.at_byte - out.written() : 0));
        exit(plan_.dies_as, true);
        return;
    }
    out.write(bytes);
    did_wrong = did_wrong || what == said::lie;
    own_frame sent{end, what, 0, nullptr, 0, nullptr, {}, std::move(places)};
    if (of != nullptr) {
        sent.id = of->id;
        sent.call = of->call;
        sent.visit_index = of->visit_index;
        sent.tool = what == said::tool_call ? of->last_tool : nullptr;
        if (of->call != nullptr && (what == said::result || what == said::error)) {
            of->call->visits[of->visit_index].answered = world_.now();
        }
    }
    to.going.push_back(std::move(sent));
}

void sim_worker::on_consumed(line& from) {
    while (!from.going.empty() && from.going.front().end <= from.end.consumed) {
        const auto next = from.going.front();
        from.going.pop_front();
        on_delivered(next);
    }
}

void sim_worker::on_delivered(const own_frame& frame) {
    for (const auto& each : frame.places) {
        if (!each.is_sealed) {
            memory_->results.on_delivered(each);
        }
    }
    switch (frame.what) {
    case said::ready: oracle_.on_ready_seen(*this); break;
    case said::chunk: ++frame.call->visits[frame.visit_index].chunks_delivered; break;
    case said::progress: ++frame.call->visits[frame.visit_index].progress_delivered; break;
    case said::tool_call: frame.tool->delivered = world_.now(); break;
    case said::error:
    case said::result:
        open_.erase(frame.id);
        if (frame.call == nullptr) {
            oracle_.on_probe_answered(*this, frame.what == said::error);
        } else {
            probes_failed = frame.what == said::result ? 0 : probes_failed;
            ++answers_seen;
            errors_seen += frame.what == said::error ? 1 : 0;
            in_trouble = frame.what == said::error ? world_.now() : in_trouble;
            frame.call->visits[frame.visit_index].delivered = world_.now();
            oracle_.on_answer_seen(*this, *frame.call, frame.visit_index);
        }
        break;
    case said::recalled:
        open_.erase(frame.id);
        oracle_.on_returned(*this, *frame.call, frame.visit_index);
        break;
    case said::release: memory_->on_released(frame.place); break;
    case said::lie: lie_seen = lie_seen.value_or(world_.now()); break;
    case said::flood: check_flood(); break;
    default: break;
    }
}

void sim_worker::terminate() {
    if (!end_told) {
        terminated = terminated.value_or(world_.now());
    }
    if (!exited) {
        oracle_.on_stop(*this, "sent SIGTERM");
        if (!plan_.ignores_terminate && !dying_) {
            dying_ = true;
            world_.after(plan_.term_time,
                         [self = shared_from_this()] { self->exit(exit_status::signalled(SIGTERM), false); });
        }
    }
}

void sim_worker::kill() {
    if (!end_told) {
        killed = killed.value_or(world_.now());
    }
    if (!exited) {
        oracle_.on_kill(*this);
        oracle_.on_stop(*this, "sent SIGKILL");
        world_.after(plan_.kill_time,
                     [self = shared_from_this()] { self->exit(exit_status::signalled(SIGKILL), false); });
    }
}

void sim_worker::signal(int number) {
    if (number != plan_.stack_signal) {
        oracle_.wrong(name() + " was sent signal " + std::to_string(number));
    }
}

void sim_worker::exit(exit_status how, bool by_itself) {
    if (exited) {
        return;
    }
    world_.trace(name() + " ends: " + to_string(how));
    exited = world_.now();
    exited_by_itself = by_itself;
    did_wrong = did_wrong || by_itself;
    status = how;
    for (auto& each : jobs_) {
        if (each.call != nullptr && !each.over) {
            each.call->visits[each.visit_index].dropped = true;
        }
    }
    company_ends = *exited + plan_.company_time;
    if (!has_company) {
        end_company();
    }
    world_.soon([self = shared_from_this()] {
        self->exit_noticed = true;
        if (self->process_ != nullptr) {
            self->process_->notice_exit();
        }
    });
}

/// Nobody has its channels open any more.
void sim_worker::end_company() {
    const spared_by_faults here;
    has_company = false;
    data_->end_by_worker();
    control_->end_by_worker();
}

} // namespace skep::simulation
