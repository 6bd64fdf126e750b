/* SPDX-License-Identifier: MIT */
/* face/cli/agent_parts.h - which parts of an agent's state start code or are obeyed by a later run, and their
 * values as a list. A part is held back until a person accepts it; all else of the state persists. Pure. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

enum cli_part_kind {
        PART_HELD = 0, /* a file or link, or all of them below a directory */
        PART_KEPT,     /* data: persists */
        PART_DROPPED,  /* made anew by each run: removed after it */
        PART_CODE,     /* below a directory: what can be executed, by its mode or its name */
        PART_MEMBERS,  /* of a JSON file: these members; the others persist */
        PART_ALL_BUT,  /* of a JSON file: all members but these */
        PART_SETTINGS, /* of a TOML file: all but what `members` lists; held as a whole */
};

struct cli_part {
        const char *path; /* below the agent's home; "*" within a component */
        enum cli_part_kind kind;
        const char *members; /* separated by spaces; "a/?/b" stands for the member b of each member of a */
};
/* The first part that has this path, or a directory above it; NULL: it persists. The list ends with an empty
 * row. */
const struct cli_part *cli_part_of(const struct cli_part *parts, const char *path, bool *ret_itself);
/* Is there a part below this path? */
bool cli_part_is_below(const struct cli_part *parts, const char *path);

/* agent_items.c */

/* The values of parts, sorted by key. A key is a path; of a member, the path and the names of the members
 * behind CLI_ITEM_MEMBER each. A value is JSON: of a member its own, else {"file":TEXT}, {"base64":TEXT},
 * {"link":TARGET} or {"other":true}; an executable file has "run", one with several names "linked". */
#define CLI_ITEM_MEMBER '\x1f'
enum { CLI_ITEMS_MAX = 10000, CLI_ITEMS_BYTES = 8 << 20 };
struct cli_item {
        const char *key, *value;
};
struct cli_items {
        struct cli_item *v;
        size_t n, cap, bytes;
        struct arena mem; /* what is removed is freed with the list */
        bool failed;      /* out of memory, or more than the limits above */
};
void cli_items_done(struct cli_items *l);
#define AUTO_ITEMS(name) __attribute__((cleanup(cli_items_done))) struct cli_items name = { 0 }
/* NULL: it has none. */
const char *cli_items_get(const struct cli_items *l, const char *key);
void cli_items_set(struct cli_items *l, const char *key, const char *value); /* NULL removes it */
/* As one JSON object, and back. Returns 0, or -1 if it is not such a text. */
void cli_items_put(const struct cli_items *l, struct buf *out);
int cli_items_read(struct cli_items *l, const char *text);

void cli_json_put(const struct json *v, struct buf *out);

/* The value of a file, and its bytes from such a value; -1: the value is not a file. */
struct cli_file {
        bool run, linked;
};
void cli_file_put(struct span bytes, struct cli_file is, struct buf *out);
int cli_file_read(const char *value, struct cli_file *ret, struct buf *bytes);
/* The target from the value of a link, or false. */
bool cli_link_read(const char *value, struct buf *target);

/* agent_members.c */

/* Adds the members of a JSON text that the part holds. False: it is not an object that every reader reads
 * alike. */
bool cli_members_add(const struct cli_part *part, const char *path, struct span text, struct cli_items *out);
/* The JSON text with the members of `want` that are keys of `path` set, and those that `is` alone has
 * removed.
 */
void cli_members_merge(const char *path, struct span text, const struct cli_items *is,
                       const struct cli_items *want, struct buf *out);
/* Do two values differ in more than the part lets persist? Either may be NULL: there is none. */
bool cli_part_differs(const struct cli_part *part, const char *a, const char *b);
