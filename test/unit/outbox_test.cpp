// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "server/outbox.hpp"
#include "support/manual_context.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skep::test {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(outbox_test)

namespace {

class written_text final : public frame_output {
public:
    bool write(std::span<const std::string_view> pieces) noexcept override {
        auto& whole = writes.emplace_back();
        for (const auto piece : pieces) {
            whole += piece;
        }
        if (ended != nullptr) {
            ended->reset();
        }
        return true;
    }
    bool has_room() noexcept override { return room; }

    std::vector<std::string> writes;
    bool room = true;
    std::unique_ptr<outbox>* ended = nullptr; ///< by the next write
};

struct outbox_bench : manual_context {
    outbox& out() { return *box; }

    written_text output;
    std::unique_ptr<outbox> box =
        std::make_unique<outbox>(strand(context.get_executor()), output, outbox::error_handler());
};

using texts = std::vector<std::string>;

} // namespace

BOOST_AUTO_TEST_CASE(texts_of_one_turn_share_a_write) {
    outbox_bench of;
    of.out().text() += "a";
    of.out().send_soon();
    of.out().text() += "b";
    of.out().send_soon();
    BOOST_TEST(of.output.writes.empty());
    of.run_until_idle();
    BOOST_TEST((of.output.writes == texts{"ab"}));
    of.out().text() += "c";
    of.out().send_soon();
    of.run_until_idle();
    BOOST_TEST((of.output.writes == texts{"ab", "c"}));
}

BOOST_AUTO_TEST_CASE(without_text_nothing_is_written) {
    outbox_bench of;
    of.out().send();
    of.out().send_soon();
    of.out().send_shortly();
    BOOST_TEST(of.out().try_send());
    of.advance(10ms);
    BOOST_TEST(of.output.writes.empty());
}

BOOST_AUTO_TEST_CASE(texts_of_a_millisecond_share_a_write) {
    outbox_bench of;
    of.out().text() += "a";
    of.out().send();
    of.out().text() += "b";
    of.out().send_shortly();
    of.out().text() += "c";
    of.out().send_shortly();
    BOOST_TEST((of.output.writes == texts{"a"}));
    of.advance(1ms, 1ms);
    BOOST_TEST((of.output.writes == texts{"a", "bc"}));
    of.advance(5ms);
    of.out().text() += "d";
    of.out().send_shortly();
    BOOST_TEST((of.output.writes == texts{"a", "bc", "d"}));
}

BOOST_AUTO_TEST_CASE(text_stays_while_there_is_no_room) {
    outbox_bench of;
    of.output.room = false;
    of.out().text() += "a";
    BOOST_TEST(!of.out().try_send());
    of.output.room = true;
    BOOST_TEST(of.out().try_send());
    BOOST_TEST((of.output.writes == texts{"a"}));
}

BOOST_AUTO_TEST_CASE(an_outbox_may_be_destroyed_while_a_send_is_posted) {
    outbox_bench of;
    of.out().text() += "a";
    of.out().send_soon();
    of.box.reset();
    of.run_until_idle();
    BOOST_TEST(of.output.writes.empty());
}

BOOST_AUTO_TEST_CASE(an_outbox_may_be_destroyed_while_a_send_is_timed) {
    outbox_bench of;
    of.out().text() += "a";
    of.out().send();
    of.out().text() += "b";
    of.out().send_shortly();
    of.run_until_idle();
    of.box.reset();
    of.advance(10ms);
    BOOST_TEST((of.output.writes == texts{"a"}));
}

BOOST_AUTO_TEST_CASE(an_outbox_may_be_destroyed_when_the_time_has_come) {
    outbox_bench of;
    of.out().text() += "a";
    of.out().send();
    of.out().text() += "b";
    of.out().send_shortly();
    of.time.advance(10ms); // the handler is due, and has not run
    of.box.reset();
    of.run_until_idle();
    BOOST_TEST((of.output.writes == texts{"a"}));
}

BOOST_AUTO_TEST_CASE(a_write_may_end_the_outbox) {
    for (const auto send : {&outbox::send_soon, &outbox::send_shortly}) {
        outbox_bench of;
        of.output.ended = &of.box;
        of.out().text() += "a";
        ((*of.box).*send)();
        of.advance(10ms);
        BOOST_TEST(!of.box);
        BOOST_TEST((of.output.writes == texts{"a"}));
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
