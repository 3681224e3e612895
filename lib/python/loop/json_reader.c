// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "json_reader.h"

#include <stdbool.h>
#include <string.h>

enum { max_depth = 100, max_float_size = 64, max_integer_digits = 19 };

static PyObject* read_value(json_reader* reader, int depth);

static bool at_end(const json_reader* reader) {
    return reader->position == reader->end;
}

static void skip_space(json_reader* reader) {
    while (!at_end(reader)) {
        const char c = *reader->position;
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
            return;
        }
        ++reader->position;
    }
}

/// Returns true, and passes the character, if it is next.
static bool take(json_reader* reader, char expected) {
    if (at_end(reader) || *reader->position != expected) {
        return false;
    }
    ++reader->position;
    return true;
}

// --- strings

/// Moves the position behind the closing quote. Returns the end of the content, null without a valid end.
static const char* find_end_of_string(json_reader* reader, bool* has_escapes) {
    const char* at = reader->position;
    while (at < reader->end && *at != '"') {
        if ((unsigned char)*at < 0x20) {
            return NULL;
        }
        if (*at == '\\') {
            *has_escapes = true;
            if (++at == reader->end) {
                return NULL;
            }
        }
        ++at;
    }
    if (at == reader->end) {
        return NULL;
    }
    reader->position = at + 1;
    return at;
}

/// Returns the value of four hexadecimal digits, -1 if they are none.
static int read_hex4(const char* digits) {
    int value = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = digits[i];
        const char lower = (char)(c | 0x20);
        if (c >= '0' && c <= '9') {
            value = value * 16 + (c - '0');
        } else if (lower >= 'a' && lower <= 'f') {
            value = value * 16 + (lower - 'a' + 10);
        } else {
            return -1;
        }
    }
    return value;
}

static char* append_utf8(char* out, unsigned code) {
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | code >> 6);
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | code >> 12);
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | code >> 18);
        *out++ = (char)(0x80 | (code >> 12 & 0x3F));
        *out++ = (char)(0x80 | (code >> 6 & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    return out;
}

/// Appends the character of a \uXXXX, or of a pair of them, whose digits begin at `*at`. Returns null if the
/// digits are malformed or an unpaired surrogate.
static char* append_unicode_escape(char* out, const char** at, const char* end) {
    const int first = end - *at < 4 ? -1 : read_hex4(*at);
    if (first < 0 || (first >= 0xDC00 && first <= 0xDFFF)) {
        return NULL;
    }
    *at += 4;
    if (first < 0xD800 || first > 0xDFFF) {
        return append_utf8(out, (unsigned)first);
    }
    if (end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u') {
        return NULL;
    }
    const int second = read_hex4(*at + 2);
    if (second < 0xDC00 || second > 0xDFFF) {
        return NULL;
    }
    *at += 6;
    return append_utf8(out, 0x10000u + ((unsigned)(first - 0xD800) << 10) + (unsigned)(second - 0xDC00));
}

/// Writes the content of a string without its escapes, which makes it shorter. Returns the end, or null.
static char* unescape(char* out, const char* at, const char* end) {
    static const char escapes[] = "\"\\/bfnrt";
    static const char characters[] = "\"\\/\b\f\n\r\t";
    while (at < end && out != NULL) {
        if (*at != '\\') {
            *out++ = *at++;
            continue;
        }
        const char kind = at[1]; // a quote at least: no string ends with a backslash
        at += 2;
        if (kind == 'u') {
            out = append_unicode_escape(out, &at, end);
            continue;
        }
        const char* const found = kind == '\0' ? NULL : strchr(escapes, kind);
        if (found == NULL) {
            return NULL;
        }
        *out++ = characters[found - escapes];
    }
    return out;
}

static PyObject* make_escaped_text(const char* begin, const char* end) {
    char* const buffer = PyMem_Malloc((size_t)(end - begin));
    if (buffer == NULL) {
        return NULL;
    }
    const char* const out = unescape(buffer, begin, end);
    PyObject* const text = out == NULL ? NULL : PyUnicode_DecodeUTF8(buffer, out - buffer, NULL);
    PyMem_Free(buffer);
    return text;
}

/// Reads a string behind its opening quote.
static PyObject* read_text(json_reader* reader) {
    const char* const begin = reader->position;
    bool has_escapes = false;
    const char* const end = find_end_of_string(reader, &has_escapes);
    if (end == NULL) {
        return NULL;
    }
    return has_escapes ? make_escaped_text(begin, end) : PyUnicode_DecodeUTF8(begin, end - begin, NULL);
}

/// Returns the entry for a key: each key has one place.
static known_key* entry_of(json_reader* reader, const char* bytes, size_t size) {
    unsigned hash = (unsigned)size;
    for (size_t i = 0; i < size; ++i) {
        hash = hash * 31 + (unsigned char)bytes[i];
    }
    return &reader->keys[hash % known_key_count];
}

/// Reads a key behind its opening quote. Most keys have occurred in an earlier message.
static PyObject* read_key(json_reader* reader) {
    const char* const begin = reader->position;
    bool has_escapes = false;
    const char* const end = find_end_of_string(reader, &has_escapes);
    if (end == NULL) {
        return NULL;
    }
    if (has_escapes) {
        return make_escaped_text(begin, end);
    }
    const size_t size = (size_t)(end - begin);
    if (size > known_key_size) {
        return PyUnicode_DecodeUTF8(begin, (Py_ssize_t)size, NULL);
    }
    known_key* const entry = entry_of(reader, begin, size);
    if (entry->text == NULL || entry->size != size || memcmp(entry->bytes, begin, size) != 0) {
        PyObject* const text = PyUnicode_DecodeUTF8(begin, (Py_ssize_t)size, NULL);
        if (text == NULL) {
            return NULL;
        }
        Py_XDECREF(entry->text);
        entry->text = text;
        entry->size = (unsigned char)size;
        memcpy(entry->bytes, begin, size);
    }
    Py_INCREF(entry->text);
    return entry->text;
}

// --- numbers

/// Passes digits. Returns their number.
static size_t take_digits(json_reader* reader) {
    const char* const begin = reader->position;
    while (!at_end(reader) && *reader->position >= '0' && *reader->position <= '9') {
        ++reader->position;
    }
    return (size_t)(reader->position - begin);
}

static PyObject* make_integer(const char* digits, size_t count, bool is_negative) {
    if (count > max_integer_digits || (is_negative && *digits == '0')) {
        return NULL;
    }
    unsigned long long value = 0;
    for (size_t i = 0; i < count; ++i) {
        value = value * 10 + (unsigned)(digits[i] - '0');
    }
    if (!is_negative) {
        return PyLong_FromUnsignedLongLong(value);
    }
    return value > (unsigned long long)PY_LLONG_MAX ? NULL : PyLong_FromLongLong(-(long long)value);
}

static PyObject* make_float(const char* begin, size_t size) {
    char text[max_float_size + 1];
    if (size > max_float_size) {
        return NULL;
    }
    memcpy(text, begin, size);
    text[size] = '\0';
    const double value = PyOS_string_to_double(text, NULL, NULL);
    const bool is_finite = value - value == 0;
    return is_finite && PyErr_Occurred() == NULL ? PyFloat_FromDouble(value) : NULL;
}

static PyObject* read_number(json_reader* reader) {
    const char* const begin = reader->position;
    const bool is_negative = take(reader, '-');
    const char* const digits = reader->position;
    const size_t count = take_digits(reader);
    if (count == 0 || (count > 1 && *digits == '0')) {
        return NULL;
    }
    bool is_float = false;
    if (take(reader, '.')) {
        is_float = true;
        if (take_digits(reader) == 0) {
            return NULL;
        }
    }
    if (take(reader, 'e') || take(reader, 'E')) {
        is_float = true;
        if (!take(reader, '+')) {
            take(reader, '-');
        }
        if (take_digits(reader) == 0) {
            return NULL;
        }
    }
    return is_float ? make_float(begin, (size_t)(reader->position - begin))
                    : make_integer(digits, count, is_negative);
}

// --- containers and values

/// Reads a member. Returns false if there is no valid one.
static bool read_member(json_reader* reader, PyObject* object, int depth) {
    skip_space(reader);
    PyObject* const key = take(reader, '"') ? read_key(reader) : NULL;
    if (key == NULL) {
        return false;
    }
    skip_space(reader);
    PyObject* const value = take(reader, ':') ? read_value(reader, depth) : NULL;
    const bool is_stored = value != NULL && PyDict_SetItem(object, key, value) == 0;
    Py_XDECREF(value);
    Py_DECREF(key);
    return is_stored;
}

static bool read_element(json_reader* reader, PyObject* array, int depth) {
    PyObject* const value = read_value(reader, depth);
    const bool is_stored = value != NULL && PyList_Append(array, value) == 0;
    Py_XDECREF(value);
    return is_stored;
}

/// Reads the items of a container, and its closing bracket, behind the opening one. Takes the reference.
static PyObject* fill(json_reader* reader, PyObject* container, char closing,
                      bool (*read_item)(json_reader*, PyObject*, int), int depth) {
    if (container == NULL || depth > max_depth) {
        Py_XDECREF(container);
        return NULL;
    }
    skip_space(reader);
    if (take(reader, closing)) {
        return container;
    }
    while (read_item(reader, container, depth)) {
        skip_space(reader);
        if (take(reader, closing)) {
            return container;
        }
        if (!take(reader, ',')) {
            break;
        }
    }
    Py_DECREF(container);
    return NULL;
}

static PyObject* read_word(json_reader* reader, const char* word, PyObject* value) {
    const size_t size = strlen(word);
    if ((size_t)(reader->end - reader->position) < size || memcmp(reader->position, word, size) != 0) {
        return NULL;
    }
    reader->position += size;
    Py_INCREF(value);
    return value;
}

static PyObject* read_value(json_reader* reader, int depth) {
    skip_space(reader);
    if (at_end(reader)) {
        return NULL;
    }
    switch (*reader->position) {
    case '"': ++reader->position; return read_text(reader);
    case '{': ++reader->position; return fill(reader, PyDict_New(), '}', read_member, depth + 1);
    case '[': ++reader->position; return fill(reader, PyList_New(0), ']', read_element, depth + 1);
    case 't': return read_word(reader, "true", Py_True);
    case 'f': return read_word(reader, "false", Py_False);
    case 'n': return read_word(reader, "null", Py_None);
    default: return read_number(reader);
    }
}

PyObject* read_json(json_reader* reader, const char* text, size_t size) {
    reader->position = text;
    reader->end = text + size;
    PyObject* value = read_value(reader, 0);
    if (value != NULL) {
        skip_space(reader);
        if (!at_end(reader)) {
            Py_CLEAR(value);
        }
    }
    if (value == NULL) {
        PyErr_Clear(); // of invalid UTF-8, or a lack of memory: Python's decoder meets it as well
    }
    return value;
}

void close_json_reader(json_reader* reader) {
    for (int i = 0; i < known_key_count; ++i) {
        Py_CLEAR(reader->keys[i].text);
    }
}
