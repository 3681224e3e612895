// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_JSON_WRITER_H
#define SKEP_PYTHON_LOOP_JSON_WRITER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

/// Bytes that grow at the end, up to `limit`.
typedef struct {
    char* data;
    size_t size;
    size_t capacity;
    size_t limit;
} byte_buffer;

/// Appends bytes. Returns false, and changes nothing, beyond the limit or without memory.
bool append_bytes(byte_buffer* buffer, const char* bytes, size_t size);

/// Appends a number in decimal digits.
bool append_integer(byte_buffer* buffer, long long value);

/// Appends a value as JSON text, as the SDK's encoder writes it. Returns false, without an exception, for a
/// value that is left to the SDK's encoder.
///
/// Such a value contains other types than dict with keys of type str, list, tuple, str, int, float, bool and
/// None themselves, is nested more deeply than `depth` levels, exceeds the limit of the buffer, or has
/// content that the host refuses: integers beyond 64 bits, NaN, infinities, lone surrogates. Without
/// `with_exponents`, floats that repr() writes with an exponent are left to the SDK's encoder, too.
bool append_json(byte_buffer* buffer, PyObject* value, int depth, bool with_exponents);

#endif
