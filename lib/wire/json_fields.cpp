// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "wire/json_fields.hpp"

#include "wire/message_cost.hpp"
#include "wire/protocol_violation.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <optional>
#include <utility>

namespace skep {

namespace json = boost::json;

namespace {

/// Receives the parser's events. Builds the values of the top-level object one by one on a value_stack.
class field_builder {
public:
    static constexpr std::size_t max_object_size = std::size_t(-1);
    static constexpr std::size_t max_array_size = std::size_t(-1);
    static constexpr std::size_t max_key_size = std::size_t(-1);
    static constexpr std::size_t max_string_size = std::size_t(-1);

    explicit field_builder(const json_limits& limits) : limits_(limits) {}

    void start(std::string_view text) {
        text_ = text;
        fields_.clear();
        escaped_keys_.clear();
        if (tree_bytes_ > keep_bytes) { // one huge message must not pin its memory forever
            std::string().swap(partial_key_);
            stack_.emplace();
        }
        partial_key_.clear();
        partial_number_.clear();
        stack_->reset();
        depth_ = 0;
        tree_bytes_ = 0;
        problem_ = nullptr;
    }

    /// Starts within the top-level object, in front of a value.
    void start_value(std::string_view text, std::size_t bytes_before) {
        start(text);
        depth_ = 1;
        key_ = {};
        tree_bytes_ = bytes_before;
    }

    std::vector<json_field>& fields() noexcept { return fields_; }

    const char* problem() const noexcept { return problem_; }

    std::size_t tree_bytes() const noexcept { return tree_bytes_; }

    bool on_document_begin(boost::system::error_code&) { return true; }
    bool on_document_end(boost::system::error_code&) { return true; }

    bool on_object_begin(boost::system::error_code& ec) {
        return ++depth_ == 1 || (descend(ec) && grow(ec, sizeof(json::object) + table_overhead));
    }
    bool on_object_end(std::size_t size, boost::system::error_code&) {
        if (--depth_ == 0) {
            return true;
        }
        stack_->push_object(size);
        return value_done();
    }

    bool on_array_begin(boost::system::error_code& ec) {
        return ++depth_ > 1 ? descend(ec) && grow(ec, sizeof(json::array) + table_overhead)
                            : refuse(ec, "the JSON is not an object");
    }
    bool on_array_end(std::size_t size, boost::system::error_code&) {
        --depth_;
        stack_->push_array(size);
        return value_done();
    }

    bool on_key_part(json::string_view part, std::size_t, boost::system::error_code& ec) {
        if (!grow(ec, part.size())) {
            return false;
        }
        if (depth_ > 1) {
            stack_->push_chars(part);
            return true;
        }
        partial_key_.append(part);
        return partial_key_.size() <= longest_key || refuse(ec, "a key of the message is too long");
    }
    bool on_key(json::string_view part, std::size_t size, boost::system::error_code& ec) {
        if (depth_ > 1) {
            if (!grow(ec, sizeof(json::key_value_pair) + part.size())) {
                return false;
            }
            stack_->push_key(part);
            return true;
        }
        if (fields_.size() == max_fields) {
            return refuse(ec, "the message has too many members");
        }
        if (size > longest_key) {
            return refuse(ec, "a key of the message is too long");
        }
        if (!grow(ec, sizeof(json_field) + part.size())) {
            return false;
        }
        key_ = keep_key(part);
        const auto is_same = [this](const json_field& field) { return field.key == key_; };
        return std::none_of(fields_.begin(), fields_.end(), is_same) ||
               refuse(ec, "a key of the message stands there twice");
    }

    bool on_string_part(json::string_view part, std::size_t, boost::system::error_code& ec) {
        if (!grow(ec, part.size())) {
            return false;
        }
        stack_->push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t size, boost::system::error_code& ec) {
        const bool is_whole = part.size() == size;
        return grow(ec, part.size()) && scalar(ec, is_whole, part, [&] { stack_->push_string(part); });
    }

    bool on_number_part(json::string_view part, boost::system::error_code&) {
        partial_number_.append(part);
        return true;
    }
    bool on_int64(std::int64_t number, json::string_view, boost::system::error_code& ec) {
        partial_number_.clear();
        return scalar(ec, true, number, [&] { stack_->push_int64(number); });
    }
    bool on_uint64(std::uint64_t number, json::string_view, boost::system::error_code& ec) {
        partial_number_.clear();
        return scalar(ec, true, number, [&] { stack_->push_uint64(number); });
    }
    bool on_double(double number, json::string_view last_part, boost::system::error_code& ec) {
        const auto text = whole_number(last_part);
        if (!std::isfinite(number)) {
            return refuse(ec, "a number is not finite");
        }
        if (text.find_first_of(".eE") == std::string_view::npos) { // the parser would accept a double instead
            return refuse(ec, "an integer does not fit into 64 bits");
        }
        // The parser may be off in the last place. A number too small to differ from 0 stays as parsed.
        std::from_chars(text.data(), text.data() + text.size(), number);
        return scalar(ec, true, number, [&] { stack_->push_double(number); });
    }
    bool on_bool(bool value, boost::system::error_code& ec) {
        return scalar(ec, true, value, [&] { stack_->push_bool(value); });
    }
    bool on_null(boost::system::error_code& ec) {
        return scalar(ec, true, nullptr, [&] { stack_->push_null(); });
    }

    bool on_comment_part(json::string_view, boost::system::error_code&) { return true; }
    bool on_comment(json::string_view, boost::system::error_code&) { return true; }

private:
    // An array or object allocates a block with a header besides its elements.
    static constexpr std::size_t table_overhead = 32;

    // The protocol defines these sizes, so that a worker can compute the same sum. See json_field_reader.
    static_assert(sizeof(json::value) == 24 && sizeof(json::key_value_pair) == 40 &&
                  sizeof(json_field) == 40);
    static_assert(sizeof(json::array) + table_overhead == 56 && sizeof(json::object) + table_overhead == 56);
    // Messages of the protocol have at most a dozen members. The search for duplicates costs the square of
    // the number of members, times the length of a key.
    static constexpr std::size_t max_fields = 256;
    static constexpr std::size_t longest_key = 1024;
    static constexpr std::size_t keep_bytes = 1u << 20;

    /// Returns the key that ends with `part`. A key without escapes, the usual case, is contiguous in the
    /// text.
    std::string_view keep_key(std::string_view part) {
        if (partial_key_.empty() && part.data() >= text_.data() &&
            part.data() < text_.data() + text_.size()) {
            return part;
        }
        partial_key_.append(part);
        return escaped_keys_.emplace_back(std::exchange(partial_key_, {}));
    }

    /// Returns the number that ends with `part`, valid until the next number.
    std::string_view whole_number(std::string_view part) {
        if (partial_number_.empty()) {
            return part;
        }
        number_ = std::exchange(partial_number_, {}).append(part);
        return number_;
    }

    /// Makes a whole scalar of the top-level object a field at once: the stack would move the value.
    template <class Scalar, class Push>
    bool scalar(boost::system::error_code& ec, bool is_whole, const Scalar& value, Push push) {
        if (depth_ == 0) {
            return refuse(ec, "the JSON is not an object");
        }
        if (!grow(ec, sizeof(json::value))) {
            return false;
        }
        if (depth_ == 1 && is_whole) {
            fields_.emplace_back(key_, value);
            return true;
        }
        push();
        return value_done();
    }

    bool value_done() {
        if (depth_ == 1) {
            fields_.emplace_back(key_, stack_->release());
            stack_->reset();
        }
        return true;
    }

    /// The parser's own limit does not count the object around a value.
    bool descend(boost::system::error_code& ec) {
        if (depth_ > limits_.depth) {
            ec = json::error::too_deep;
        }
        return !ec;
    }

    bool grow(boost::system::error_code& ec, std::size_t bytes) {
        tree_bytes_ += bytes;
        return tree_bytes_ <= limits_.tree_bytes || refuse(ec, "the JSON tree exceeds limits.tree_bytes");
    }

    bool refuse(boost::system::error_code& ec, const char* problem) {
        problem_ = problem;
        ec = json::error::syntax;
        return false;
    }

    std::vector<json_field> fields_;
    std::optional<json::value_stack> stack_{std::in_place};
    std::string_view text_;
    std::string_view key_; ///< of the current field
    std::string partial_key_;
    std::string partial_number_; ///< its first parts, if the number arrives in several
    std::string number_;         ///< the number that arrived in several parts
    std::deque<std::string> escaped_keys_;
    std::size_t depth_ = 0;
    std::size_t tree_bytes_ = 0;
    json_limits limits_;
    const char* problem_ = nullptr;
};

json::parse_options with_depth(std::size_t depth) {
    json::parse_options options;
    options.max_depth = depth;
    return options;
}

} // namespace

class json_field_reader::parser {
public:
    explicit parser(const json_limits& limits) : parser_(with_depth(limits.depth), limits) {}

    void begin(std::string_view text) {
        parser_.handler().start(text);
        parser_.reset();
        unread_ = text;
        position_ = 0;
        is_complete_ = false;
    }

    json::value* read_value(std::string_view text, std::size_t bytes_before) {
        parser_.handler().start_value(text, bytes_before);
        parser_.reset();
        boost::system::error_code ec;
        const auto consumed = parser_.write_some(false, text.data(), text.size(), ec);
        return ec || consumed < text.size() ? nullptr : &fields().front().value;
    }

    /// Reads the next `count` bytes, or the rest.
    void read_on(std::size_t count) {
        const auto piece = unread_.substr(0, count);
        unread_.remove_prefix(piece.size());
        const auto consumed = is_complete_ ? 0 : parse(piece);
        if (piece.find_first_not_of(" \t\r\n", consumed) != std::string_view::npos) {
            throw protocol_violation("bad JSON at byte " + std::to_string(position_ + consumed) +
                                     ": more than one value");
        }
        is_complete_ = is_complete_ || consumed < piece.size();
        position_ += piece.size();
    }

    bool is_at_end() const noexcept { return unread_.empty(); }
    std::vector<json_field>& fields() noexcept { return parser_.handler().fields(); }
    std::size_t tree_bytes() const noexcept { return parser_.handler().tree_bytes(); }

private:
    std::size_t parse(std::string_view piece) {
        boost::system::error_code ec;
        const auto consumed = parser_.write_some(!unread_.empty(), piece.data(), piece.size(), ec);
        if (ec) {
            const auto* const problem = parser_.handler().problem();
            throw protocol_violation("bad JSON at byte " + std::to_string(position_ + consumed) + ": " +
                                     (problem != nullptr ? problem : ec.message()));
        }
        return consumed;
    }

    json::basic_parser<field_builder> parser_;
    std::string_view unread_;
    std::size_t position_ = 0;
    bool is_complete_ = false; ///< the object has ended, and only white space may follow
};

json_field_reader::json_field_reader(const json_limits& limits) : parser_(std::make_unique<parser>(limits)) {}
json_field_reader::~json_field_reader() = default;
json_field_reader::json_field_reader(json_field_reader&&) noexcept = default;

std::vector<json_field>& json_field_reader::read(std::string_view text) {
    parser_->begin(text);
    parser_->read_on(text.size());
    return parser_->fields();
}

json::value* json_field_reader::read_value(std::string_view text, std::size_t bytes_before) {
    return parser_->read_value(text, bytes_before);
}

void json_field_reader::begin(std::string_view text) {
    parser_->begin(text);
}

bool json_field_reader::read_on(std::size_t cost) {
    constexpr std::size_t least = 1u << 10;
    constexpr std::size_t most = 8u << 10; // the rest may be more expensive
    const auto before = parser_->tree_bytes();
    std::size_t count = 0;
    std::size_t spent = 0;
    std::size_t piece = least;
    do {
        parser_->read_on(piece);
        count += piece;
        spent = cost_of_reading(count, parser_->tree_bytes() - before);
        piece = spent < cost ? std::clamp((cost - spent) * count / spent, least, most) : 0;
    } while (!parser_->is_at_end() && spent < cost);
    return parser_->is_at_end();
}

std::vector<json_field>& json_field_reader::fields() noexcept {
    return parser_->fields();
}

std::size_t json_field_reader::tree_bytes() const noexcept {
    return parser_->tree_bytes();
}

} // namespace skep
