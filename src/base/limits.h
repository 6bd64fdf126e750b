/* SPDX-License-Identifier: MIT */
/* base/limits.h - every limit on untrusted input, in one place. */
#pragma once

enum {
        POLICY_MAX_BYTES = 1 << 20,  /* one policy file */
        POLICY_MAX_LINE = 8192,      /* one door line */
        POLICY_MAX_LINES = 8192,     /* lines of one file */
        POLICY_MAX_DOORS = 4096,     /* doors of one checked policy */
        POLICY_MAX_USE_DEPTH = 8,    /* `use` in `use` */
        JSON_MAX_DEPTH = 32,         /* nesting of JSON input */
        JSON_DATA_DEPTH = 128,       /* the same, of data that boxes and programs exchange */
        JSON_DATA_MEMBERS = 1 << 20, /* members of one object of it */
        PATH_MAX_BYTES = 4096,       /* a path, with its NUL */
        NAME_MAX_BYTES = 64,         /* box, handle and credential names */
        BROKER_MAX_BYTES = 4 << 20,  /* the doors, or the places, sent to the broker */
        ARGV_MAX = 4096,             /* arguments and variables of a payload */
        DENIALS_OF_FILES = 64,       /* distinct denials kept for the report: of paths */
        DENIALS_OF_REST = 48,        /* of the network, calls ... */
        DENIALS_OF_ALARMS = 16,      /* beyond those: of paths that hold secrets, credentials, limits */
        DENIALS_MAX = DENIALS_OF_FILES + DENIALS_OF_REST + DENIALS_OF_ALARMS,
        ABSENT_MAX = 16,              /* paths kept that do not exist on the host either */
        EFFECTS_MAX = 8192,           /* distinct effects kept when all are observed */
        NET_PORTS_MAX = 256,          /* different ports that the `net` doors of one box name */
        NET_LOCALS_MAX = 64,          /* literal loopback addresses and ports of one box */
        ANSWERS_MAX_BYTES = 16 << 20, /* a file of recorded exchanges */
        ANSWERS_MAX_LINES = 65535,    /* its exchanges */
        NET_REACHED_MAX = 256,        /* distinct destinations kept for the result */
        NET_DENIED_MAX = 192,         /* denials of the network */
        NET_ALARMS_MAX = 32,          /* of those, beyond that: credentials and canaries */
        NET_ROWS_MAX = NET_REACHED_MAX + NET_DENIED_MAX + NET_ALARMS_MAX,
        COPIES_MAX = 16,     /* single files that a box gets as copies */
        HANDLES_MAX = 32,    /* `in` and `out` handles of one box */
        HELD_NAMES_MAX = 64, /* names outside that lead to cordon's own files */
};
