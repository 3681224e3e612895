// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "core/remote_config.hpp"

#include "core/call_rules.hpp"
#include "core/config_reader.hpp"
#include "core/config_schema.hpp"
#include "core/config_writer.hpp"
#include "core/field_check.hpp"
#include "core/nats_rules.hpp"
#include "core/node_name.hpp"
#include "core/remote_fields.hpp"
#include "core/schema_writer.hpp"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

template <class Options, class Visitor>
void visit_options(Options& options, Visitor& visit) {
    if constexpr (std::is_same_v<std::remove_const_t<Options>, remote_options>) {
        visit_remote_fields(options, visit);
    } else {
        visit_node_fields(options, visit);
    }
}

template <class Options>
Options read_options(const json::value& document) {
    config_problems problems;
    if (!document.is_object()) {
        problems.add("the document", "", "must be a JSON object");
        problems.raise();
    }
    Options options;
    config_reader reader(document.get_object(), problems);
    visit_options(options, reader);
    reader.skip("$schema");
    reader.reject_unknown_keys();
    check(options, problems);
    problems.raise();
    return options;
}

template <class Options>
json::object write_options(const Options& options) {
    config_writer writer;
    visit_options(options, writer);
    return std::move(writer).result();
}

template <class Options>
json::object schema_of(const char* title) {
    const Options defaults;
    schema_writer writer;
    visit_options(defaults, writer);
    return schema_document(title, std::move(writer).result());
}

template <class Options>
void validate_options(const Options& options) {
    config_problems problems;
    check(options, problems);
    problems.raise();
}

void expect_name(config_problems& problems, const std::string& field, const std::string& name) {
    problems.expect(is_name(name), {field}, in_quotes(name), name_rule);
}

void expect_node_name(config_problems& problems, const std::string& field, const std::string& name) {
    problems.expect(is_node_name(name), {field}, in_quotes(name), node_name_rule);
}

/// The rules that both kinds of options have.
template <class Options>
void check_common(const Options& options, config_problems& problems) {
    field_check fields(problems);
    visit_options(options, fields);
    fields.group("nats", [&] { check_nats_rules(options.nats, fields); });
    expect_node_name(problems, "domain", options.domain);
    check_limits(options.limits, problems);
}

} // namespace

void check(const nats_options& options, config_problems& problems) {
    field_check fields(problems);
    visit_nats_fields(options, fields);
    check_nats_rules(options, fields);
}

void check(const remote_options& options, config_problems& problems) {
    check_common(options, problems);
    expect_name(problems, "pool", options.pool);
    expect_name(problems, "name", name_of(options));
    check_commands(options.commands, problems);
}

void check(const node_options& options, config_problems& problems) {
    check_common(options, problems);
    if (!options.name.empty()) {
        expect_node_name(problems, "name", options.name);
    }
    for (std::size_t i = 0; i < options.pools.size(); ++i) {
        expect_name(problems, "pools[" + std::to_string(i) + "]", options.pools[i]);
    }
}

remote_options remote_options::from_json(const json::value& document) {
    return read_options<remote_options>(document);
}

node_options node_options::from_json(const json::value& document) {
    return read_options<node_options>(document);
}

json::object remote_options::json_schema() {
    return schema_of<remote_options>("Options of a pool of nodes");
}

json::object node_options::json_schema() {
    return schema_of<node_options>("Options of a node");
}

void remote_options::validate() const {
    validate_options(*this);
}

void node_options::validate() const {
    validate_options(*this);
}

json::object to_json(const remote_options& options) {
    return write_options(options);
}

json::object to_json(const node_options& options) {
    return write_options(options);
}

} // namespace skep
