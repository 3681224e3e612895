// Copyright (c) 2026 The skep authors
// Distributed under the Boost Software License, Version 1.0.

// skep_bench MODE KEY=VALUE...: one round of one measurement of the library, as one line of JSON.

#include "modes.hpp"

int main(int count, char** values) {
    using namespace skep::bench;
    return run_mode(count, values,
                    {{"serial", measure_serial},
                     {"throughput", measure_throughput},
                     {"working-set", measure_working_set},
                     {"mixed", measure_mixed},
                     {"payload", measure_payload},
                     {"attachments", measure_attachments},
                     {"streams", measure_streams},
                     {"queue", measure_queue},
                     {"forms", measure_forms},
                     {"refusals", measure_refusals},
                     {"schedulers", measure_schedulers},
                     {"nodes", measure_nodes},
                     {"sessions", measure_sessions},
                     {"session-cleanup", measure_session_cleanup},
                     {"start", measure_start},
                     {"preload", measure_preload},
                     {"recovery", measure_recovery},
                     {"restart", measure_restart},
                     {"idle", measure_idle}});
}
