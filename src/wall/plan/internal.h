/* SPDX-License-Identifier: MIT */
/* wall/plan/internal.h - the builder that plan.c, view.c and payload_plan.c share. */
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "wall/plan/plan.h"

/* steps.c: holds at most the requested number of names; half of the table is always free. */
struct name_slot;
struct names {
        struct name_slot *slots;
        size_t mask;
};
int names_init(struct names *t, struct arena *a, size_t most); /* -1: out of memory */
bool names_find(const struct names *t, const char *name, size_t *ret_number);

struct builder {
        struct arena *a;       /* the plan's */
        struct arena *scratch; /* gone when the plan is made */
        struct plan *p;
        struct plan_order *o;
        const struct checked_policy *c;
        const struct plan_request *r;
        const struct door *doors;
        size_t door_count;
        size_t step_cap, rule_cap;
        struct names rules, binds; /* paths that have a rule, and those that have a bind */
        size_t own_steps;          /* the first ones: the box's own files */
        uint64_t copied;           /* bytes of the files in STEP_COPY */
        bool writes;               /* a `write` or `edit` door */
        bool run_any;          /* `run any`: everything that the box sees may start, also files it wrote */
        struct plan_step lost; /* a step without room: written, never read, and the plan is refused */
};

/* steps.c */
struct plan_step *build_step(struct builder *b, enum step_kind kind, const char *path, const char *text,
                             unsigned flags);
struct plan_rule *build_rule(struct builder *b, const char *path, unsigned rights, bool optional);
void build_pin(const struct builder *b, struct plan_rule *r, uint64_t dev, uint64_t ino);
bool build_has_bind(const struct builder *b, const char *path);

/* door_lookup.c: questions about a path, answered by the doors that exist on this host. Returns doors, or
 * NULL. */
bool door_is_of_files(const struct door *d); /* read, edit, write */
/* Sets *e to a text behind the place of the door's line; returns -1. */
int door_error(const struct door *d, enum err_code code, struct err *e, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
const struct door *door_at(const struct builder *b, enum door_kind kind, struct span path);
const struct door *door_covering(const struct builder *b, const char *path, const struct door *other);
const struct door *door_mounted_over(const struct builder *b, const char *path);
bool door_runs(const struct builder *b, const char *path);      /* by a `run` line */
bool door_writes(const struct builder *b, const char *path);    /* some line lets the box write there */
bool door_any_under(const struct builder *b, const char *path); /* or the command itself */
bool door_excepts(const struct door *d, const char *path);
bool door_changed_otherwise(const struct builder *b, const struct door *d, const char *path);
unsigned door_flags(const struct builder *b, const struct door *d); /* of its mount */
const char *door_shown_as_link(struct builder *b, size_t i);
const char *door_through_links(struct builder *b, const char *path);

/* door_links.c: may the door be the path that the symlinks on its way resolve to? */
int link_judge(const struct builder *b, size_t i, struct err *e);
int link_judge_program(const struct builder *b, size_t i, struct err *e); /* of a `run` line */

/* hidden.c: paths that an `except` names, hidden (read) or held (edit), labelled places that are shut, and
 * cordon's own state. */
int build_masks(struct builder *b, const struct door *d, struct err *e);
void build_shut(struct builder *b, const char *path, unsigned number);
void build_guards(struct builder *b);
int build_state_masks(struct builder *b, struct err *e);
void build_written(
        struct builder *b); /* a file that the box writes does not run by a right of its directory */

/* copies.c: shows the file as a copy in a private directory. Returns false if that is not possible. */
bool build_copy(struct builder *b, size_t i);

/* image_view.c: the image below all doors: its step, /etc/passwd, and its parts after the doors. */
void build_image(struct builder *b);
const char *build_passwd(struct builder *b, const char *own); /* with the box's own lines */
void build_image_parts(struct builder *b);

/* view.c: the file tree that the doors make. */
int build_view(struct builder *b, struct err *e);
/* device_doors.c: of a device that exists, or of a `gpu` door. */
int build_device(struct builder *b, size_t i, struct err *e);
/* proc_texts.c: /proc/cpuinfo and the like, and /sys/devices/system/cpu; the maximum number of steps for
 * them. */
size_t machine_steps(const struct plan_request *r);
void build_machine(struct builder *b);
/* net_plan.c: the ports and literal addresses that the doors name. */
int build_net(struct builder *b, struct err *e);
/* module_plan.c: a box whose command is a module: its files, and the arguments of cordon-wasm. */
int build_module(struct builder *b, struct err *e);
int build_launch(struct builder *b, struct err *e);
/* payload_plan.c: arguments, variables, working directory, handles. */
int build_payload(struct builder *b, struct err *e);
void build_warm(struct builder *b); /* warm_plan.c: the interpreter of a parked box */
/* A `sign` or `decrypt` door names a key of this agent: "ssh:", "gpg:". */
bool build_uses_agent(const struct builder *b, const char *mark);
bool build_sees_repository(const struct builder *b);
