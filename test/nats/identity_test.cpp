// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// Users and their rights.

#include "support/nats_server.hpp"

namespace skep::test {

namespace {

// Two users, and an operator and an account that have signed the token of the first. They never expire, and
// are good for these tests only.
const std::string user_key = "UCAUK2HFEWJ6CLDBMXEBFXY6E7GTXGYRFILVY5MFJPTUZ4AEJJDK3YEN";
const std::string user_seed = "SUAC2WTNF4Q3LKTWJW5HJWJGIEAE2XZWSBL6U6RIQTSTHHO2STPRL3K2BQ";
const std::string other_seed = "SUAJD6ZRJIROLZAH4TL47DNPY6FX2SRVVKLOAMX6FBD76SGWEKC5X6FO7Y";
const std::string operator_token =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJPIiwiaWF0IjoxNzAwMDAwMDAwL"
    "CJpc3MiOiJPQjYzNDRBUldYNDZZUTYzT1NUT0dXMjZYQlFXT05QNUJOQUI3N05OVlNFS1NETEZaNk8zNTdDV"
    "iIsIm5hbWUiOiJza2VwIiwic3ViIjoiT0I2MzQ0QVJXWDQ2WVE2M09TVE9HVzI2WEJRV09OUDVCTkFCNzdOT"
    "lZTRUtTRExGWjZPMzU3Q1YiLCJuYXRzIjp7InR5cGUiOiJvcGVyYXRvciIsInZlcnNpb24iOjJ9fQ.TaRLCO"
    "pMvCX1eR90ysfT7bHeTzSoc0IVZ5C_KvGv1l1yIEkzgril5LikANNujnRqBOz50qkOGqLF2s8RmdDGDw";
const std::string account_key = "ACVUAMS6LK2X4H6FQL4AV5ZUB3HYKMCVOENISDYGHVZP2S6OWYX2RPVZ";
const std::string account_token =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJBIiwiaWF0IjoxNzAwMDAwMDAwL"
    "CJpc3MiOiJPQjYzNDRBUldYNDZZUTYzT1NUT0dXMjZYQlFXT05QNUJOQUI3N05OVlNFS1NETEZaNk8zNTdDV"
    "iIsIm5hbWUiOiJza2VwIiwic3ViIjoiQUNWVUFNUzZMSzJYNEg2RlFMNEFWNVpVQjNIWUtNQ1ZPRU5JU0RZR"
    "0hWWlAyUzZPV1lYMlJQVloiLCJuYXRzIjp7ImxpbWl0cyI6eyJzdWJzIjotMSwiZGF0YSI6LTEsInBheWxvY"
    "WQiOi0xLCJpbXBvcnRzIjotMSwiZXhwb3J0cyI6LTEsIndpbGRjYXJkcyI6dHJ1ZSwiY29ubiI6LTEsImxlY"
    "WYiOi0xfSwidHlwZSI6ImFjY291bnQiLCJ2ZXJzaW9uIjoyfX0.fznAcnv_ifeaj66eXy53WKgIp7vYpdWOf"
    "cNB8aK_KfATmXGuuIuEk1_XrQVvi3RPcuqMat5prFt0Htg5aS5ZCA";
const std::string user_token =
    "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJVIiwiaWF0IjoxNzAwMDAwMDAwL"
    "CJpc3MiOiJBQ1ZVQU1TNkxLMlg0SDZGUUw0QVY1WlVCM0hZS01DVk9FTklTRFlHSFZaUDJTNk9XWVgyUlBWW"
    "iIsIm5hbWUiOiJza2VwIiwic3ViIjoiVUNBVUsySEZFV0o2Q0xEQk1YRUJGWFk2RTdHVFhHWVJGSUxWWTVNR"
    "kpQVFVaNEFFSkpESzNZRU4iLCJuYXRzIjp7InB1YiI6e30sInN1YiI6e30sInN1YnMiOi0xLCJkYXRhIjotM"
    "SwicGF5bG9hZCI6LTEsInR5cGUiOiJ1c2VyIiwidmVyc2lvbiI6Mn19.2Bx1yvnZYO9GgomesIAC2Y5E9boD"
    "Inyz8Zf0jAUXCjqpnccIw_-Fy7xxXBEfk1D_PjhPw1Z6NU2fUR_9D1MXBQ";

/// The text of a file of credentials.
std::string credentials(const std::string& seed) {
    return "-----BEGIN NATS USER JWT-----\n" + user_token +
           "\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n" + seed +
           "\n------END USER NKEY SEED------\n";
}

/// A server knows the right options only: these work, and the wrong ones are one problem, and no secret.
asio::awaitable<void> expect_one_is_known(asio::io_context& context, nats_options right, nats_options wrong) {
    nats_program known(context, right);
    co_await known.work();
    nats_program unknown(context, wrong);
    co_await unknown.wait_for_problem("Authorization Violation");
    BOOST_TEST(unknown.problems.size() == 1u);
    BOOST_TEST(unknown.changes.empty());
    BOOST_TEST(!unknown.has_problem("sesame"));
    BOOST_TEST(!unknown.has_problem("SU"));
    BOOST_TEST(known.problems.empty());
    co_await known.close();
    co_await unknown.close();
}

} // namespace

BOOST_AUTO_TEST_SUITE(nats_identity_test)

BOOST_AUTO_TEST_CASE(a_user_has_a_password) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("authorization { user: teller, password: \"open sesame\" }");
        auto right = server.options();
        right.user = "teller";
        right.password = "open sesame";
        auto wrong = right;
        wrong.password = "sesame";
        co_await expect_one_is_known(context, right, wrong);
        co_await expect_one_is_known(context, right, server.options());
    });
}

BOOST_AUTO_TEST_CASE(a_token_is_known) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("authorization { token: \"open sesame\" }");
        auto right = server.options();
        right.token = "open sesame";
        auto wrong = right;
        wrong.token = "sesame";
        co_await expect_one_is_known(context, right, wrong);
    });
}

BOOST_AUTO_TEST_CASE(a_seed_signs) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("authorization { users: [ { nkey: " + user_key + " } ] }");
        const scratch_folder folder;
        auto right = server.options();
        right.nkey_seed_file = write_file(folder / "right", user_seed + "\n");
        auto wrong = right;
        wrong.nkey_seed_file = write_file(folder / "wrong", other_seed + "\n");
        co_await expect_one_is_known(context, right, wrong);
        wrong.nkey_seed_file = folder / "none";
        nats_program program(context, wrong);
        co_await program.wait_for_problem("nkey_seed_file \"" + wrong.nkey_seed_file +
                                          "\" has no seed of a user");
        write_file(wrong.nkey_seed_file, user_seed); // read again at the next attempt
        co_await program.wait_until_up();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(credentials_are_signed_by_an_account) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("operator: " + operator_token + "\nresolver: MEMORY\nresolver_preload: { " +
                                 account_key + ": " + account_token + " }");
        const scratch_folder folder;
        auto right = server.options();
        right.creds_file = write_file(folder / "right", credentials(user_seed));
        auto wrong = right;
        wrong.creds_file = write_file(folder / "wrong", credentials(other_seed));
        co_await expect_one_is_known(context, right, wrong);
        wrong.creds_file = folder / "none";
        nats_program program(context, wrong);
        co_await program.wait_for_problem(wrong.creds_file);
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_refused_program_is_patient) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const std::string begin = "authorization { user: teller, password: ";
        const nats_server server(begin + "other }");
        auto options = server.options();
        options.user = "teller";
        options.password = "sesame";
        nats_program program(context, options);
        co_await program.wait_for_problem("Authorization Violation");
        server.reload(begin + "sesame }");
        co_await program.wait_until_up();
        BOOST_TEST(program.problems.size() == 1u);
        server.reload(begin + "other }"); // which ends the connection
        co_await program.wait_until_down();
        server.reload(begin + "sesame }");
        co_await program.wait_for_connection(2);
        co_await program.work();
        co_await program.close();
    });
}

BOOST_AUTO_TEST_CASE(a_forbidden_subject_is_reported) {
    run([](asio::io_context& context) -> asio::awaitable<void> {
        const nats_server server("authorization { users: [ { user: teller, password: sesame, permissions: {"
                                 " publish: \"own.>\", subscribe: \"own.>\" } } ] }");
        auto options = server.options();
        options.user = "teller";
        options.password = "sesame";
        nats_program program(context, options);
        program.link().subscribe("foreign.*");
        program.link().subscribe("own.data");
        co_await program.wait_until_up();
        co_await program.wait_for_problem("Permissions Violation for Subscription to \"foreign.*\"");
        program.publish("foreign.data");
        program.publish("foreign.data"); // again: told once
        co_await program.wait_for_problem("Permissions Violation for Publish to \"foreign.data\"");
        program.publish("own.data", "still there");
        co_await program.wait_for_messages(1);
        BOOST_TEST(program.problems.size() == 2u);
        BOOST_TEST((program.changes == std::vector<bool>{true}));
        co_await program.close();
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
