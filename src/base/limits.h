/* SPDX-License-Identifier: MIT */
/* base/limits.h - every limit on untrusted input, in one place. */
#pragma once

enum {
        POLICY_MAX_BYTES = 1 << 20,   /* one policy file */
        POLICY_MAX_LINE = 8192,       /* one door line */
        POLICY_MAX_LINES = 8192,      /* lines of one file */
        POLICY_MAX_DOORS = 4096,      /* doors of one checked policy */
        POLICY_MAX_USE_DEPTH = 8,     /* `use` in `use` */
        JSON_MAX_DEPTH = 32,          /* nesting of JSON input */
        JSON_DATA_DEPTH = 128,        /* the same, of data that boxes and programs exchange */
        JSON_DATA_MEMBERS = 1 << 20,  /* members of one object of it */
        PATH_MAX_BYTES = 4096,        /* a path, with its NUL */
        NAME_MAX_BYTES = 64,          /* box, handle and credential names */
        BROKER_MAX_BYTES = 4 << 20,   /* the doors, or the places, sent to the broker */
        ARGV_MAX = 4096,              /* arguments and variables of a payload */
        DENIALS_MAX = 64,             /* distinct denials kept for the report */
        ABSENT_MAX = 16,              /* paths kept that do not exist on the host either */
        EFFECTS_MAX = 8192,           /* distinct effects kept when all are observed */
        NET_PORTS_MAX = 256,          /* different ports that the `net` doors of one box name */
        NET_LOCALS_MAX = 64,          /* literal loopback addresses and ports of one box */
        ANSWERS_MAX_BYTES = 16 << 20, /* a file of recorded exchanges */
        ANSWERS_MAX_LINES = 65535,    /* its exchanges */
        NET_ROWS_MAX = 256,           /* distinct destinations and denials kept for the result */
        COPIES_MAX = 16,              /* single files that a box gets as copies */
        HANDLES_MAX = 32,             /* `in` and `out` handles of one box */
};
