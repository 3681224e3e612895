// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

#ifndef SKEP_PYTHON_LOOP_JSON_READER_H
#define SKEP_PYTHON_LOOP_JSON_READER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { known_key_count = 64, known_key_size = 31 };

/// A short key of an earlier message, and the str made of it.
typedef struct {
    PyObject* text; ///< null in an unused entry
    unsigned char size;
    char bytes[known_key_size];
} known_key;

/// Decodes JSON. Zero-initialised; close it with close_json_reader().
typedef struct {
    const char* position;
    const char* end;
    known_key keys[known_key_count];
} json_reader;

void close_json_reader(json_reader* reader);

/// Returns the value of a JSON text, as json.loads() would.
///
/// Returns null, without an exception, for text that is left to Python's decoder: text that is not JSON,
/// nested more deeply than 100 levels, or with values that decoders treat differently (integers beyond 64
/// bits, -0, floats beyond the range, unpaired surrogates).
PyObject* read_json(json_reader* reader, const char* text, size_t size);

#endif
