// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What a scripted worker does with the calls it is sent, and the ways in which it lies.

#include "simulation/oracle.hpp"
#include "simulation/sim_worker.hpp"
#include "wire/worker_messages.hpp"

#include <algorithm>
#include <utility>

namespace skep::simulation {

using namespace std::chrono_literals;

namespace {

// Beyond what the limits of any world allow.
constexpr std::size_t huge_frame = 1u << 29;

std::string result_of(std::uint64_t id, std::string_view value) {
    return R"({"type":"result","id":)" + std::to_string(id) + R"(,"value":)" + std::string(value);
}

std::string text_of_place(const region_place& place, std::size_t bytes) {
    return (place.is_sealed ? R"({"sealed":)" : R"({"region":)") + std::to_string(place.region) +
           R"(,"at":)" + std::to_string(place.begin) + R"(,"bytes":)" + std::to_string(bytes) + "}";
}

} // namespace

std::size_t sim_worker::load() const {
    std::set<std::uint64_t> places;
    for (const auto& [id, place] : open_) {
        places.insert(place);
    }
    return places.size();
}

/// A batch takes one place, once all of it has come, and keeps it until its last call is over.
bool sim_worker::has_place_for(const job& next) const {
    std::set<std::uint64_t> begun;
    std::set<std::uint64_t> open;
    for (const auto& each : jobs_) {
        if (each.begun) {
            begun.insert(each.place);
        }
        if (!each.over) {
            open.insert(each.place);
        }
    }
    std::erase_if(begun, [&](auto place) { return !open.contains(place); });
    const bool is_whole = next.place + next.batch_size <= last_received_ + 1;
    return begun.contains(next.place) || (is_whole && begun.size() < capacity_);
}

void sim_worker::start_jobs() {
    for (auto& each : jobs_) {
        if (exited || closed) { // with nowhere to answer it goes no further
            break;
        }
        if (!each.begun && !each.over) {
            if (!has_place_for(each)) {
                break;
            }
            begin(each);
        }
    }
    while (!jobs_.empty() && jobs_.front().over) {
        jobs_.pop_front();
    }
}

void sim_worker::begin(job& which) {
    which.begun = true;
    ++active_;
    if (which.call == nullptr) {
        answer_probe(which);
        return;
    }
    ++begun_;
    oracle_.on_begun(*this, *which.call, which.visit_index);
    if (plan_.what == flaw::crashes_at_call && begun_ == plan_.at_call) {
        later(time_for_call() / 2, [this] { exit(plan_.dies_as, true); });
        return; // it would never have answered this one
    }
    if (world_.chance.chance(weather_.stuck_calls)) {
        return;
    }
    const auto steps = which.call->asks + (which.call->is_stream ? which.call->chunks : 0) + 1;
    which.step = time_for_call() / static_cast<int>(steps);
    later(which.step, [this, id = which.id] { go_on(id); });
}

/// With the next of what a call consists of: what it asks the host for, its chunks, its end.
void sim_worker::go_on(std::uint64_t id) {
    auto* const which = find(id);
    if (which == nullptr) {
        return;
    }
    report(*which);
    if (!which->cancelled && which->asked < which->call->asks) {
        ask(*which);
    } else if (which->call->is_stream) {
        yield(id);
    } else {
        end_job(id);
    }
}

void sim_worker::ask(job& which) {
    const auto more = std::min(which.call->asks_at_once, which.call->asks - which.asked);
    for (std::size_t i = 0; i < more && !exited; ++i) {
        auto& fresh = oracle_.new_tool(*this, *which.call, which.visit_index);
        fresh.number = ++last_tool_;
        ++which.asked;
        which.tools.insert(fresh.number);
        which.last_tool = &fresh;
        const auto* const name = fresh.deed == tool_deed::is_unknown ? "unknown" : "help";
        send(data_line_, said::tool_call,
             R"({"type":"tool_call","id":)" + std::to_string(which.id) + R"(,"tool_call":)" +
                 std::to_string(fresh.number) + R"(,"name":")" + name + R"(","args":{"key":)" +
                 std::to_string(fresh.key) + "}}",
             {}, &which);
    }
    if (!exited && world_.chance.chance(0.1)) { // it does not care for the answers
        which.tools.clear();
        later(which.step, [this, id = which.id] { go_on(id); });
    }
}

void sim_worker::handle_tool_answer(std::uint64_t number) {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(),
                                    [&](const auto& each) { return each.tools.contains(number); });
    if (found == jobs_.end()) {
        return; // it is over
    }
    found->tools.erase(number);
    if (found->tools.empty()) {
        later(found->step, [this, id = found->id] { go_on(id); });
    }
}

/// How far it is, if its caller wants to know; perhaps.
void sim_worker::report(job& which) {
    if (!which.call->is_watched || !world_.chance.chance(0.7)) {
        return;
    }
    auto& made = which.call->visits[which.visit_index].progress_made;
    if (made < most_reports) {
        ++made;
        send(data_line_, said::progress,
             R"({"type":"progress","id":)" + std::to_string(which.id) + R"(,"fraction":)" +
                 std::to_string(static_cast<double>(made) / most_reports) + "}",
             {}, &which);
    }
}

/// The next chunk of a stream, if it may be sent; its result after the last.
void sim_worker::yield(std::uint64_t id) {
    auto* const which = find(id);
    if (which == nullptr || which->cancelled) {
        return;
    }
    if (which->yielded == which->call->chunks) {
        end_job(id);
        return;
    }
    which->waits = which->credit.chunks <= 0 || which->credit.bytes <= 0;
    if (which->waits) {
        return;
    }
    const auto bytes = least_passed_ + which->yielded;
    const auto place =
        shares_memory_ && world_.chance.chance(0.3) ? share(bytes, most_shared_) : std::nullopt;
    const auto attachments = place ? R"(,"attachments":[)" + text_of_place(*place, bytes) + "]" : "";
    const auto chunk = R"({"type":"chunk","id":)" + std::to_string(id) + R"(,"value":{"token":")" +
                       which->call->token + R"(","worker":")" + name() + R"(","n":)" +
                       std::to_string(which->yielded) + "}" + attachments + "}";
    ++which->yielded;
    --which->credit.chunks;
    which->credit.bytes -= static_cast<std::int64_t>(chunk.size() + (place ? bytes : 0));
    send(data_line_, said::chunk, chunk, {}, which,
         place ? std::vector{*place} : std::vector<region_place>());
    later(which->step, [this, id] { go_on(id); });
}

void sim_worker::handle_credit(std::uint64_t id, stream_credit more) {
    auto* const which = find(id);
    if (which == nullptr) {
        return; // it is over
    }
    which->credit.chunks += more.chunks;
    which->credit.bytes += more.bytes;
    oracle_.on_credit(*this, which->credit);
    if (std::exchange(which->waits, false)) {
        yield(id);
    }
}

bool sim_worker::is_starved() const noexcept {
    const auto waits = [](const job& each) {
        return each.waits && !each.over && !each.cancelled && each.call->is_open();
    };
    return !frozen_ && control_line_.coming.empty() && data_line_.going.empty() &&
           std::any_of(jobs_.begin(), jobs_.end(), waits);
}

duration sim_worker::time_for_call() {
    const auto usual = world_.chance.between(weather_.shortest_call, weather_.longest_call);
    return world_.chance.chance(weather_.slow_calls) ? usual * weather_.slowness : usual;
}

sim_worker::job* sim_worker::find(std::uint64_t id) {
    const auto found =
        std::find_if(jobs_.begin(), jobs_.end(), [id](const auto& each) { return each.id == id; });
    return found == jobs_.end() || found->over ? nullptr : &*found;
}

void sim_worker::end_job(std::uint64_t id) {
    auto* const which = find(id);
    if (which == nullptr) {
        return;
    }
    which->over = true;
    active_ -= which->begun ? 1 : 0;
    answer(*which);
    start_jobs();
}

void sim_worker::answer(job& which) {
    const auto id = which.id;
    ++answers_;
    if (plan_.what == flaw::lies && answers_ == plan_.at_call) {
        tell_lie(id);
        if (exited) {
            return;
        }
    }
    last_answered_ = id;
    if (which.call == nullptr) {
        send(data_line_, said::result, result_of(id, "null}"), {}, &which);
        return;
    }
    const auto* error = which.cancelled                         ? "skep.Cancelled"
                        : which.call->command == "unknown"      ? "skep.UnknownCommand"
                        : which.call->command == "picky"        ? "skep.InvalidArguments"
                        : world_.chance.chance(weather_.errors) ? oracle_.draw_error()
                                                                : nullptr;
    if (error != nullptr) {
        const std::string code = std::string_view(error) == "skep.Error" ? "full" : "";
        which.call->visits[which.visit_index].error = error;
        which.call->visits[which.visit_index].error_code = code;
        send(data_line_, said::error,
             R"({"type":"error","id":)" + std::to_string(id) + R"(,"error":{"type":")" + error +
                 R"(","message":"no","traceback":"")" + (code.empty() ? "" : R"(,"code":")" + code + '"') +
                 "}}",
             {}, &which);
        return;
    }
    const auto value = R"({"token":")" + which.call->token + R"(","worker":")" + name() + R"("})";
    std::string sizes;
    std::string payload;
    std::vector<region_place> places;
    auto room = most_shared_;
    for (const auto each : which.call->blobs) {
        sizes += sizes.empty() ? "" : ",";
        if (const auto place = share(each, room)) {
            places.push_back(*place);
            room -= each;
            sizes += text_of_place(*place, each);
        } else {
            sizes += std::to_string(each);
            payload.append(each, static_cast<char>('a' + each % 26));
        }
    }
    const auto text = result_of(id, value) + (sizes.empty() ? "}" : R"(,"attachments":[)" + sizes + "]}");
    send(data_line_, said::result, text, payload, &which, std::move(places));
}

void sim_worker::answer_probe(job& which) {
    const bool is_sick = plan_.what == flaw::fails_probes && world_.now() - started > plan_.at_time;
    if (!is_sick) {
        later(world_.chance.between(0ms, 20ms), [this, id = which.id] { end_job(id); });
        return;
    }
    switch (world_.chance.below(3)) {
    case 0: break; // no answer
    case 1: later(20s, [this, id = which.id] { end_job(id); }); break;
    default:
        which.over = true;
        --active_;
        send(data_line_, said::error,
             R"({"type":"error","id":)" + std::to_string(which.id) +
                 R"(,"error":{"type":"skep.Unhealthy","message":"unhealthy","traceback":""}})",
             {}, &which);
    }
}

/// A call that has not begun is skipped, one that has is broken off, unless the worker is deaf to it.
void sim_worker::cancel(std::uint64_t id) {
    auto* const which = find(id);
    if (which == nullptr || which->call == nullptr) {
        if (id > last_received_) {
            cancelled_early_.insert(id);
        }
        return;
    }
    if (plan_.ignores_cancel) {
        return;
    }
    which->cancelled = true;
    if (!which->begun) {
        end_job(id);
    } else {
        later(world_.chance.between(0ms, 50ms), [this, id] { end_job(id); });
    }
}

/// Gives back a call that has not begun, perhaps before it has come; as a rule.
void sim_worker::recall(std::uint64_t id) {
    if (world_.chance.chance(0.1)) {
        return; // its answer comes
    }
    job coming;
    auto* which = find(id);
    if (which == nullptr && id > last_received_) {
        const auto is_it = [id](const auto& each) { return each.first->visits[each.second].id == id; };
        const auto noted = std::find_if(calls_.begin(), calls_.end(), is_it);
        if (noted != calls_.end()) {
            coming.id = id;
            coming.call = noted->first;
            coming.visit_index = noted->second;
            which = &coming;
            returned_early_.insert(id);
        }
    }
    if (which == nullptr || which->begun || which->cancelled) {
        return;
    }
    which->over = true;
    if (plan_.what == flaw::crashes_at_call && world_.chance.chance(0.3)) { // before its answer leaves
        const auto longest = world_.chance.chance(0.5) ? weather_.longest_call : duration(300ms);
        later(world_.chance.between(0us, longest), [this] { exit(plan_.dies_as, true); });
        return;
    }
    auto answer = [this, given_back = *which]() mutable {
        send(control_line_, said::recalled,
             R"({"type":"recalled","id":)" + std::to_string(given_back.id) + "}", {}, &given_back);
    };
    if (weather_.slow_recalls > 0 && world_.chance.chance(weather_.slow_recalls)) {
        later(world_.chance.between(0us, 100ms), std::move(answer));
    } else {
        answer();
    }
}

void sim_worker::forget(const call_record& call, std::size_t visit_index) {
    std::erase_if(calls_,
                  [&](const auto& each) { return each.first == &call && each.second == visit_index; });
}

void sim_worker::tell_lie(std::uint64_t about) {
    world_.trace(name() + " lies");
    has_lied = true;
    if (shares_memory_ && world_.chance.chance(0.3)) { // no place begins there
        send(control_line_, said::lie, R"({"type":"release","region":1,"at":4097})");
        die_of_lie();
        return;
    }
    if (shares_memory_ && world_.chance.chance(0.3)) {
        tell_lie_about_results(about);
        die_of_lie();
        return;
    }
    const auto pong = R"({"type":"pong","seq":)" + std::to_string(last_ping_ + 1'000'000) +
                      R"(,"in_flight":0,"completed":0})";
    const auto about_no_call = [&](std::string_view type, std::string_view rest) {
        return R"({"type":")" + std::string(type) + R"(","id":)" + std::to_string(about + 1'000'000) + "," +
               std::string(rest) + "}";
    };
    switch (plan_.how) {
    case lie::unknown_id: send(data_line_, said::lie, result_of(about + 1'000'000, "1}")); break;
    case lie::second_answer:
        // An answer to one call over and over would be a lie as well, but which of them is?
        send(data_line_, said::lie,
             result_of(last_answered_ != 0 ? last_answered_ : about + 1'000'000, "1}"));
        break;
    case lie::uncalled_pong: send(control_line_, said::lie, pong); break;
    case lie::pong_over_data: send(data_line_, said::lie, pong); break;
    case lie::second_hello:
        send(data_line_, said::lie,
             R"({"type":"hello","protocol":1,"token":")" + order_.token + R"(","pid":1,"capacity":1})");
        break;
    case lie::second_ready: send(data_line_, said::lie, R"({"type":"ready"})"); break;
    case lie::garbage: send_raw(data_line_, said::lie, "garbage that is no frame at all"); break;
    case lie::oversized: {
        std::string frame;
        for (const int shift : {24, 16, 8, 0}) {
            frame += static_cast<char>((huge_frame >> shift) & 0xff);
        }
        send_raw(data_line_, said::lie, frame + frame);
        break;
    }
    case lie::no_json: send(data_line_, said::lie, R"({"type":"result","id":)"); break;
    case lie::unknown_type: send(data_line_, said::lie, R"({"type":"gossip","id":1})"); break;
    case lie::stray_chunk: send(data_line_, said::lie, about_no_call("chunk", R"("value":1)")); break;
    case lie::stray_progress:
        send(data_line_, said::lie, about_no_call("progress", R"("fraction":0.5)"));
        break;
    case lie::long_progress:
        send(data_line_, said::lie,
             R"({"type":"progress","id":)" + std::to_string(about) + R"(,"fraction":0.5,"moon":")" +
                 std::string(longest_message, 'x') + R"("})");
        break;
    case lie::stray_tool_call:
        send(data_line_, said::lie, about_no_call("tool_call", R"("tool_call":1,"name":"x","args":{})"));
        break;
    case lie::repeated_tool_call: // their numbers rise
        send(data_line_, said::lie,
             R"({"type":"tool_call","id":)" + std::to_string(about) + R"(,"tool_call":)" +
                 std::to_string(last_tool_) + R"(,"name":"x","args":{}})");
        break;
    case lie::result_over_control: send(control_line_, said::lie, result_of(about, "1}")); break;
    }
    die_of_lie();
}

/// More memory than any world allows, or a place of no bytes, or the same place twice, or sealed memory that
/// has not come.
void sim_worker::tell_lie_about_results(std::uint64_t about) {
    const bool is_sealed = world_.chance.chance(0.5);
    const auto place = is_sealed ? memory_->sealed.send(least_passed_, 'x', most_shared_)
                                 : memory_->results.put(least_passed_, 'x');
    if (!place && world_.chance.chance(0.5)) {
        send(control_line_, said::lie, R"({"type":"region","bytes":1099511627776})");
        return;
    }
    const auto none = is_sealed ? region_place{1'000'000, 0, true} : region_place{1, 0};
    const auto text = text_of_place(place.value_or(none), place ? least_passed_ : 0);
    const auto attachments = R"(,"attachments":[)" + text + (place ? "," + text : "") + "]}";
    send(data_line_, said::lie, result_of(about, "1") + attachments);
}

/// Perhaps.
void sim_worker::die_of_lie() {
    if (plan_.dies_of_lie) {
        later(world_.chance.between(0ms, weather_.latency), [this] { exit(plan_.dies_as, true); });
    }
}

} // namespace skep::simulation
