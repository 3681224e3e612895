// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#include "json_writer.h"

#include <string.h>

/// A str keeps the UTF-8 text that is asked of it: only a short text may.
enum { max_kept_length = 1024 };

#define APPEND(buffer, literal) append_bytes(buffer, literal, sizeof(literal) - 1)

/// Makes room for so many bytes, and returns it; null beyond the limit or without memory.
static char* reserve(byte_buffer* buffer, size_t size) {
    if (size > buffer->limit - buffer->size) {
        return NULL;
    }
    if (buffer->capacity - buffer->size < size) {
        const size_t capacity = 2 * (buffer->size + size);
        char* const data = PyMem_Realloc(buffer->data, capacity);
        if (data == NULL) {
            return NULL;
        }
        buffer->data = data;
        buffer->capacity = capacity;
    }
    return buffer->data + buffer->size;
}

bool append_bytes(byte_buffer* buffer, const char* bytes, size_t size) {
    char* const room = reserve(buffer, size);
    if (room == NULL) {
        return false;
    }
    memcpy(room, bytes, size);
    buffer->size += size;
    return true;
}

static bool append_digits(byte_buffer* buffer, unsigned long long value, bool is_negative) {
    char text[24];
    char* const end = text + sizeof(text);
    char* begin = end;
    do {
        *--begin = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    if (is_negative) {
        *--begin = '-';
    }
    return append_bytes(buffer, begin, (size_t)(end - begin));
}

bool append_integer(byte_buffer* buffer, long long value) {
    const unsigned long long bits = (unsigned long long)value;
    return append_digits(buffer, value < 0 ? 0 - bits : bits, value < 0);
}

static bool append_int_object(byte_buffer* buffer, PyObject* number) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (overflow == 0) {
        return append_integer(buffer, value);
    }
    if (overflow < 0) {
        return false;
    }
    const unsigned long long large = PyLong_AsUnsignedLongLong(number);
    return PyErr_Occurred() == NULL && append_digits(buffer, large, false);
}

static bool append_float_object(byte_buffer* buffer, PyObject* number, bool with_exponents) {
    const double value = PyFloat_AsDouble(number);
    if (!(value - value == 0)) { // NaN or an infinity
        return false;
    }
    char* const text = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    if (text == NULL) {
        return false;
    }
    const bool is_written =
        (with_exponents || strchr(text, 'e') == NULL) && append_bytes(buffer, text, strlen(text));
    PyMem_Free(text);
    return is_written;
}

/// Appends the escape of a character that a JSON string cannot hold.
static bool append_escape(byte_buffer* buffer, unsigned char character) {
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char short_names[] = "\"\\bfnrt";
    static const char digits[] = "0123456789abcdef";
    const char* const found = character == 0 ? NULL : strchr(plain, character);
    if (found != NULL) {
        const char escape[] = {'\\', short_names[found - plain]};
        return append_bytes(buffer, escape, sizeof(escape));
    }
    const char escape[] = {'\\', 'u', '0', '0', digits[character >> 4], digits[character & 0xF]};
    return append_bytes(buffer, escape, sizeof(escape));
}

static bool append_string(byte_buffer* buffer, const char* text, size_t size) {
    const char* const end = text + size;
    const char* begin = text; // of the characters that are not yet written
    bool is_written = APPEND(buffer, "\"");
    for (const char* at = text; at < end && is_written; ++at) {
        const unsigned char character = (unsigned char)*at;
        if (character < 0x20 || character == '"' || character == '\\') {
            is_written =
                append_bytes(buffer, begin, (size_t)(at - begin)) && append_escape(buffer, character);
            begin = at + 1;
        }
    }
    return is_written && append_bytes(buffer, begin, (size_t)(end - begin)) && APPEND(buffer, "\"");
}

static bool append_text_object(byte_buffer* buffer, PyObject* text) {
    const Py_ssize_t length = PyUnicode_GetLength(text);
    if ((size_t)length > buffer->limit - buffer->size) {
        return false;
    }
    if (length <= max_kept_length) {
        Py_ssize_t size = 0;
        const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
        return bytes != NULL && append_string(buffer, bytes, (size_t)size);
    }
    PyObject* const encoded = PyUnicode_AsUTF8String(text);
    if (encoded == NULL) {
        return false;
    }
    const bool is_written = append_string(buffer, PyBytes_AsString(encoded), (size_t)PyBytes_Size(encoded));
    Py_DECREF(encoded);
    return is_written;
}

static bool append_value(byte_buffer* buffer, PyObject* value, int depth, bool with_exponents);

static bool append_object(byte_buffer* buffer, PyObject* members, int depth, bool with_exponents) {
    Py_ssize_t position = 0;
    PyObject* key = NULL;
    PyObject* value = NULL;
    const char* separator = "{";
    while (PyDict_Next(members, &position, &key, &value)) {
        if (!PyUnicode_CheckExact(key) || !append_bytes(buffer, separator, 1) ||
            !append_text_object(buffer, key) || !APPEND(buffer, ":") ||
            !append_value(buffer, value, depth, with_exponents)) {
            return false;
        }
        separator = ",";
    }
    return *separator == '{' ? APPEND(buffer, "{}") : APPEND(buffer, "}");
}

static bool append_array(byte_buffer* buffer, PyObject* items, int depth, bool with_exponents) {
    const bool is_list = PyList_CheckExact(items);
    const Py_ssize_t count = is_list ? PyList_Size(items) : PyTuple_Size(items);
    if (!APPEND(buffer, "[")) {
        return false;
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
        if ((i != 0 && !APPEND(buffer, ",")) || !append_value(buffer, item, depth, with_exponents)) {
            return false;
        }
    }
    return APPEND(buffer, "]");
}

/// Only reads objects of exactly known types: no code of the user runs, so nothing changes meanwhile.
static bool append_value(byte_buffer* buffer, PyObject* value, int depth, bool with_exponents) {
    if (PyUnicode_CheckExact(value)) {
        return append_text_object(buffer, value);
    }
    if (PyLong_CheckExact(value)) {
        return append_int_object(buffer, value);
    }
    if (PyFloat_CheckExact(value)) {
        return append_float_object(buffer, value, with_exponents);
    }
    if (value == Py_None) {
        return APPEND(buffer, "null");
    }
    if (value == Py_True) {
        return APPEND(buffer, "true");
    }
    if (value == Py_False) {
        return APPEND(buffer, "false");
    }
    if (depth <= 0) {
        return false;
    }
    if (PyDict_CheckExact(value)) {
        return append_object(buffer, value, depth - 1, with_exponents);
    }
    if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
        return append_array(buffer, value, depth - 1, with_exponents);
    }
    return false;
}

bool append_json(byte_buffer* buffer, PyObject* value, int depth, bool with_exponents) {
    const bool is_written = append_value(buffer, value, depth, with_exponents);
    if (!is_written) {
        PyErr_Clear(); // of a lone surrogate, say: the SDK's encoder meets and reports it
    }
    return is_written;
}
