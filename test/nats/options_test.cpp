// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// What the options need beyond their own rules.

#include "remote/nats_connector.hpp"
#include "remote/nkey.hpp"
#include "support/run.hpp"

#include <nats/nats.h>

namespace skep::test {

BOOST_AUTO_TEST_SUITE(nats_options_test)

BOOST_AUTO_TEST_CASE(tls_first_needs_a_later_cnats) {
    nats_options options;
    options.servers = {"tls://secure"};
    options.tls_first = true;
    std::string refusal;
    try {
        connect_by_nats(options);
    } catch (const error& failure) {
        BOOST_TEST(failure.kind() == errc::invalid_config);
        refusal = failure.info().detail;
    }
    BOOST_TEST(contains(refusal, "needs cnats 3.9 or later") == (NATS_VERSION_NUMBER < 0x030900), refusal);
}

BOOST_AUTO_TEST_CASE(the_public_key_of_a_seed_is_known) {
    const std::string seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const std::string key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    BOOST_TEST(public_nkey(seed).value_or("none") == key);
    for (std::size_t i = 0; i < seed.size(); ++i) { // its checksum covers all
        auto changed = seed;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        BOOST_TEST(!public_nkey(changed).has_value(), changed);
    }
    BOOST_TEST(!public_nkey("").has_value());
    BOOST_TEST(!public_nkey("SU").has_value());
    BOOST_TEST(!public_nkey(seed + "A").has_value());
    BOOST_TEST(!public_nkey(key).has_value());
    const scratch_folder folder;
    BOOST_TEST(!read_public_nkey(folder / "none").has_value());
    const auto file = write_file(folder / "seed", "# the seed of a user\n  " + seed + "\n");
    BOOST_TEST(read_public_nkey(file).value_or("none") == key);
    write_file(file, "no seed\n");
    BOOST_TEST(!read_public_nkey(file).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
