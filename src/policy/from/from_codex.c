/* SPDX-License-Identifier: MIT */
/* policy/from/from_codex.c - Codex's config.toml: the few keys about its sandbox. */
#include "policy/from/from.h"

#include "base/str.h"

#include <string.h>

/* One key of the file, read as far as it is needed: strings, booleans, lists of strings. */
struct codex {
        char table[128];
        struct span mode;
        bool network, root_access;
};

static struct span unquoted_text(struct span v)
{
        v = from_trim(v);
        bool quoted = v.n >= 2 && (v.p[0] == '"' || v.p[0] == '\'') && v.p[v.n - 1] == v.p[0];
        return quoted ? span_of(v.p + 1, v.n - 2) : v;
}

/* Calls for each string of a list. */
static void read_list(struct from *f, struct span list, void (*each)(struct from *f, struct span one))
{
        list = from_trim(list);
        if (list.n < 2 || list.p[0] != '[' || list.p[list.n - 1] != ']')
                return;

        for (list = span_of(list.p + 1, list.n - 2); list.n;) {
                struct span one = unquoted_text(from_word(&list, ","));
                if (one.n)
                        each(f, one);
        }
}

static void add_root(struct from *f, struct span path) { from_path(f, "edit", path, true); }

static void read_key(struct from *f, struct codex *c, struct span key, struct span value)
{
        bool top = !c->table[0], write = strcmp(c->table, "sandbox_workspace_write") == 0;
        if (top && span_is(key, "sandbox_mode"))
                c->mode = unquoted_text(value);
        else if (write && span_is(key, "writable_roots"))
                read_list(f, value, add_root);
        else if (write && span_is(key, "network_access"))
                c->network = span_is(value, "true");
        else if (strncmp(c->table, "permissions", 11) == 0 || strncmp(c->table, "profiles", 8) == 0)
                from_lost(f, key, "a profile; convert the one you use");
        else if (strcmp(c->table, "shell_environment_policy.set") == 0)
                from_line(f, "env", key);
        else if (top && span_is(key, "approval_policy"))
                from_lost(f, key, "the agent asks; a policy line with `ask` makes cordon ask");
}

/* A list may go over several lines: joins them. */
static struct span whole_value(struct span value, struct span *text)
{
        struct span line;
        while (value.n && value.p[0] == '[' && !memchr(value.p, ']', value.n) && from_next_line(text, &line))
                value.n = (size_t) (line.p + line.n - value.p);

        return value;
}

int from_codex(struct from *f, const char *file, struct span text, struct err *e)
{
        struct codex c = { 0 };
        struct span line;
        while (from_next_line(&text, &line)) {
                if (!line.n || line.p[0] == '#')
                        continue;

                if (line.p[0] == '[') {
                        struct span name = span_of(line.p + 1, line.n - 1);
                        (void) str_inert(from_word(&name, "]"), c.table, sizeof c.table);
                        continue;
                }

                struct span value = line, key = from_word(&value, "=");
                read_key(f, &c, from_trim(key), whole_value(value, &text));
        }

        if (span_is(c.mode, "danger-full-access"))
                from_wide(f, c.mode, "no sandbox at all; these lines show the working directory alone");
        else if (c.mode.n && !span_is(c.mode, "read-only") && !span_is(c.mode, "workspace-write"))
                return err_set(e, ERR_POLICY, 0, "%s: unknown sandbox_mode", file);

        from_path(f, c.mode.n && !span_is(c.mode, "read-only") ? "edit" : "read", span_str("."), false);
        from_deny(f, span_str("./.codex"));
        from_wide(f, span_str("reading"), "the whole disk could be read; these lines show what they name");
        if (c.network)
                from_wide(f, span_str("network_access"),
                          "every host; name those that are needed, or let `cordon learn --network ask` find "
                          "them");

        return 0;
}
