// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// The environment of Python that a worker runs in: the one whose interpreter the pool names.

#include "support/environment_variable.hpp"
#include "support/run.hpp"
#include "support/working_directory.hpp"

#include <cstdlib>

namespace skep::test {

namespace {

namespace fs = std::filesystem;

pool_config surroundings_with(const std::string& interpreter) {
    auto config = python_pool("integration/workers/surroundings.py");
    config.launch.program = interpreter;
    return config;
}

/// A virtual environment, as `python3 -m venv` makes it.
void make_venv(const fs::path& folder) {
    fs::create_directories(folder / "bin");
    fs::create_symlink(SKEP_TEST_PYTHON, folder / "bin/python3");
    write_file(folder / "pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
}

/// An interpreter with a prefix of its own, as conda, uv and pyenv install it: the program, and its library
/// beside it. Returns the path of the program, whose name has the version.
fs::path make_interpreter(const fs::path& prefix) {
    const fs::path original = fs::canonical(SKEP_TEST_PYTHON);
    const fs::path original_prefix = original.parent_path().parent_path();
    const auto name = original.filename();
    fs::create_directories(prefix / "bin");
    fs::copy_file(original, prefix / "bin" / name);
    fs::create_symlink(name, prefix / "bin/python3");
    for (const auto* libraries : {"lib", "lib64"}) { // Fedora has lib64
        if (fs::exists(original_prefix / libraries / name)) {
            fs::create_directories(prefix / libraries);
            fs::create_symlink(original_prefix / libraries / name, prefix / libraries / name);
        }
    }
    return prefix / "bin" / name;
}

/// An environment of conda: an interpreter of its own, and the list of its packages.
void make_conda_environment(const fs::path& folder) {
    make_interpreter(folder);
    fs::create_directories(folder / "conda-meta");
    write_file(folder / "conda-meta/history", "");
}

/// An environment of `uv venv`: links to `interpreter`, and the file that names it.
void make_uv_environment(const fs::path& folder, const fs::path& interpreter) {
    fs::create_directories(folder / "bin");
    fs::create_symlink(interpreter, folder / "bin/python");
    fs::create_symlink("python", folder / "bin/python3");
    write_file(folder / "pyvenv.cfg", "home = " + interpreter.parent_path().string() +
                                          "\nimplementation = CPython\nuv = 0.8.0\n"
                                          "include-system-site-packages = false\n");
}

/// A shim of pyenv: a script that becomes the interpreter of the version that the environment names.
void make_pyenv_shim(const fs::path& root) {
    fs::create_directories(root / "shims");
    const auto text = "#!/bin/bash\n"
                      "versions=" +
                      (root / "versions").string() +
                      "\n"
                      "export PATH=$versions/$PYENV_VERSION/bin:$PATH\n"
                      "exec -a python3 $versions/$PYENV_VERSION/bin/python3 \"$@\"\n";
    write_file(root / "shims/python3", text);
}

json::object seen_by(const std::string& interpreter) {
    auto config = surroundings_with(interpreter);
    config.launch.working_directory = "/";
    json::object seen;
    with_pool(config, [&](pool& workers) -> asio::awaitable<void> {
        request call("surroundings");
        const auto answer = co_await value_of(workers, std::move(call));
        seen = answer.as_object();
    });
    return seen;
}

} // namespace

BOOST_AUTO_TEST_SUITE(interpreters)

BOOST_AUTO_TEST_CASE(a_virtual_environment_holds_wherever_the_worker_starts) {
    const scratch_folder folder;
    make_venv(folder.path() / "venv");
    const working_directory made_in(folder.path());
    const auto seen = seen_by("venv/bin/python3");
    BOOST_TEST(seen.at("argv0") == json::string(folder / "venv/bin/python3"));
    BOOST_TEST(seen.at("executable") == json::string(folder / "venv/bin/python3"));
    BOOST_TEST(seen.at("prefix") == json::string(folder / "venv"));
}

BOOST_AUTO_TEST_CASE(a_virtual_environment_in_path_holds) {
    const scratch_folder folder;
    make_venv(folder.path() / "venv");
    const auto path = "venv/bin:" + std::string(std::getenv("PATH"));
    const variable made_with("PATH", path.c_str());
    const working_directory made_in(folder.path());
    const auto seen = seen_by("python3");
    BOOST_TEST(seen.at("prefix") == json::string(folder / "venv"));
}

BOOST_AUTO_TEST_CASE(an_environment_of_conda_is_the_workers) {
    const scratch_folder folder;
    make_conda_environment(folder.path() / "conda/envs/model");
    const auto seen = seen_by(folder / "conda/envs/model/bin/python3");
    BOOST_TEST(seen.at("executable") == json::string(folder / "conda/envs/model/bin/python3"));
    BOOST_TEST(seen.at("prefix") == json::string(folder / "conda/envs/model"));
    BOOST_TEST(seen.at("base_prefix") == json::string(folder / "conda/envs/model"));
}

BOOST_AUTO_TEST_CASE(an_environment_of_uv_is_the_workers) {
    const scratch_folder folder;
    const auto interpreter = make_interpreter(folder.path() / "uv/python/cpython-3-linux");
    make_uv_environment(folder.path() / "project/.venv", interpreter);
    const working_directory made_in(folder.path() / "project");
    const auto seen = seen_by(".venv/bin/python3");
    BOOST_TEST(seen.at("executable") == json::string(folder / "project/.venv/bin/python3"));
    BOOST_TEST(seen.at("prefix") == json::string(folder / "project/.venv"));
    BOOST_TEST(seen.at("base_prefix") == json::string(folder / "uv/python/cpython-3-linux"));
}

BOOST_AUTO_TEST_CASE(a_shim_of_pyenv_becomes_the_interpreter) {
    const scratch_folder folder;
    make_interpreter(folder.path() / "versions/3.x");
    make_pyenv_shim(folder.path());
    const auto path = folder / "shims:" + std::getenv("PATH");
    const variable made_with("PATH", path.c_str());
    const variable version("PYENV_VERSION", "3.x");
    const auto seen = seen_by("python3");
    BOOST_TEST(seen.at("executable") == json::string(folder / "versions/3.x/bin/python3"));
    BOOST_TEST(seen.at("prefix") == json::string(folder / "versions/3.x"));
    BOOST_TEST(seen.at("group").as_bool()); // of its own: the shim's process is the worker's
}

/// As `conda run` does: Python's subprocess closes all descriptors but 0 to 2.
BOOST_AUTO_TEST_CASE(a_prefix_that_closes_descriptors_is_named_as_the_cause) {
    auto config = quick(surroundings_with(SKEP_TEST_PYTHON));
    config.launch.preload = false;
    config.launch.prefix = {SKEP_TEST_PYTHON, "-c",
                            "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"};
    config.restart.limit = 1;
    run([&](asio::io_context& context) -> asio::awaitable<void> {
        pool workers(context.get_executor(), config);
        auto starting = workers.start();
        const auto e = co_await failure_of(std::move(starting));
        BOOST_TEST(contains(e.what(), "must pass its descriptors 3 and 4 on"), e.what());
    });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace skep::test
