/* SPDX-License-Identifier: MIT */
/* policy/from/from_bwrap.c - a bubblewrap command line, as a script has it. */
#include "base/str.h"
#include "policy/from/from.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 2048 };

struct words {
        struct buf text; /* the words, each with its NUL */
        size_t at[WORDS_MAX];
        size_t count;
};

/* Splits as a shell does, without expanding anything. Stops at the end of the command. */
static void split_words(struct span s, struct words *w)
{
        bool inside = false;
        char quote = '\0';
        for (size_t i = 0; i < s.n && w->count < WORDS_MAX; i++) {
                char c = (char) s.p[i];
                if (!quote && strchr(" \t\n;|&", c)) {
                        if (inside)
                                buf_putc(&w->text, '\0');
                        inside = false;
                        if (w->count && strchr("\n;|&", c) && c)
                                return;
                        continue;
                }

                if (!quote && c == '\\' && i + 1 < s.n && s.p[i + 1] == '\n') {
                        i++;
                        continue;
                }

                if (!inside) {
                        w->at[w->count++] = w->text.n;
                        inside = true;
                }

                if (c == quote || (!quote && (c == '"' || c == '\'')))
                        quote = quote ? '\0' : c;
                else if (c == '\\' && quote != '\'' && i + 1 < s.n)
                        buf_putc(&w->text, (char) s.p[++i]);
                else
                        buf_putc(&w->text, c);
        }

        if (inside)
                buf_putc(&w->text, '\0');
}

enum kind {
        KIND_WALLS = 0, /* what every box has */
        KIND_READ,
        KIND_EDIT,
        KIND_SET,
        KIND_NET_CLOSED,
        KIND_NET_OPEN,
        KIND_LOST,
        KIND_WIDE,
};

static const struct {
        const char *option;
        unsigned arguments;
        enum kind kind;
        bool optional;
        const char *why;
} options[] = {
        { "--ro-bind", 2, KIND_READ, false, NULL },
        { "--ro-bind-try", 2, KIND_READ, true, NULL },
        { "--bind", 2, KIND_EDIT, false, NULL },
        { "--bind-try", 2, KIND_EDIT, true, NULL },
        { "--dev-bind", 2, KIND_WIDE, false,
          "device nodes of the host; a box has null, zero, random and tty" },
        { "--dev-bind-try", 2, KIND_WIDE, true,
          "device nodes of the host; a box has null, zero, random and tty" },
        { "--setenv", 2, KIND_SET, false, NULL },
        { "--unsetenv", 1, KIND_WALLS, false, NULL },
        { "--clearenv", 0, KIND_WALLS, false, NULL },
        { "--unshare-net", 0, KIND_NET_CLOSED, false, NULL },
        { "--unshare-all", 0, KIND_NET_CLOSED, false, NULL },
        { "--share-net", 0, KIND_NET_OPEN, false, NULL },
        { "--unshare-user", 0, KIND_WALLS, false, NULL },
        { "--unshare-user-try", 0, KIND_WALLS, false, NULL },
        { "--unshare-ipc", 0, KIND_WALLS, false, NULL },
        { "--unshare-pid", 0, KIND_WALLS, false, NULL },
        { "--unshare-uts", 0, KIND_WALLS, false, NULL },
        { "--unshare-cgroup", 0, KIND_WALLS, false, NULL },
        { "--unshare-cgroup-try", 0, KIND_WALLS, false, NULL },
        { "--disable-userns", 0, KIND_WALLS, false, NULL },
        { "--assert-userns-disabled", 0, KIND_WALLS, false, NULL },
        { "--die-with-parent", 0, KIND_WALLS, false, NULL },
        { "--as-pid-1", 0, KIND_WALLS, false, NULL },
        { "--new-session", 0, KIND_WALLS, false, NULL },
        { "--proc", 1, KIND_WALLS, false, NULL },
        { "--dev", 1, KIND_WALLS, false, NULL },
        { "--tmpfs", 1, KIND_WALLS, false, NULL },
        { "--mqueue", 1, KIND_WALLS, false, NULL },
        { "--dir", 1, KIND_WALLS, false, NULL },
        { "--perms", 1, KIND_WALLS, false, NULL },
        { "--size", 1, KIND_WALLS, false, NULL },
        { "--chmod", 2, KIND_WALLS, false, NULL },
        { "--remount-ro", 1, KIND_WALLS, false, NULL },
        { "--hostname", 1, KIND_WALLS, false, NULL },
        { "--cap-drop", 1, KIND_WALLS, false, NULL },
        { "--sync-fd", 1, KIND_WALLS, false, NULL },
        { "--info-fd", 1, KIND_LOST, false, "`cordon ps --json` lists boxes" },
        { "--json-status-fd", 1, KIND_LOST, false, "`cordon run --status-fd N` has it" },
        { "--block-fd", 1, KIND_LOST, false, "no option waits so" },
        { "--userns-block-fd", 1, KIND_LOST, false, "no option waits so" },
        { "--userns", 1, KIND_LOST, false, "a box has namespaces of its own" },
        { "--userns2", 1, KIND_LOST, false, "a box has namespaces of its own" },
        { "--pidns", 1, KIND_LOST, false, "a box has namespaces of its own" },
        { "--uid", 1, KIND_LOST, false, "`cordon run --root` is uid 0 inside" },
        { "--gid", 1, KIND_LOST, false, "`cordon run --root` is gid 0 inside" },
        { "--chdir", 1, KIND_LOST, false, "`cordon run --cwd DIR`" },
        { "--symlink", 2, KIND_LOST, false, "a box has the links of this host" },
        { "--file", 2, KIND_LOST, false, "create the file and use `read`" },
        { "--bind-data", 2, KIND_LOST, false, "create the file and use `edit`" },
        { "--ro-bind-data", 2, KIND_LOST, false, "create the file and use `read`" },
        { "--bind-fd", 2, KIND_LOST, false, "use the path" },
        { "--ro-bind-fd", 2, KIND_LOST, false, "use the path" },
        { "--seccomp", 1, KIND_LOST, false, "a box has a filter of its own" },
        { "--add-seccomp-fd", 1, KIND_LOST, false, "a box has a filter of its own" },
        { "--overlay-src", 1, KIND_LOST, false, "`edit` is an overlay" },
        { "--overlay", 3, KIND_LOST, false, "`edit` is an overlay" },
        { "--tmp-overlay", 1, KIND_LOST, false, "`edit` is an overlay" },
        { "--ro-overlay", 1, KIND_LOST, false, "`edit` is an overlay" },
        { "--lock-file", 1, KIND_LOST, false, "no option locks files" },
        { "--exec-label", 1, KIND_LOST, false, "no option sets labels of SELinux" },
        { "--file-label", 1, KIND_LOST, false, "no option sets labels of SELinux" },
        { "--args", 1, KIND_LOST, false, "its arguments come from a descriptor; write them out" },
        { "--argv0", 1, KIND_LOST, false, "the command keeps its name" },
        { "--level-prefix", 0, KIND_WALLS, false, NULL },
        { "--not-a-security-boundary", 0, KIND_WIDE, false, "failed steps were passed over" },
        { "--cap-add", 1, KIND_WIDE, false, "a privilege; no line gives one" },
};

/* Directories that base/system shows. */
static bool is_system(const char *path)
{
        static const char *const system[] = {
                "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives"
        };
        return str_row(system, sizeof system / sizeof *system, path) >= 0;
}

static void add_bind(struct from *f, const char *word, const char *source, const char *target, bool optional)
{
        if (is_system(source) && strcmp(word, "read") == 0)
                return; /* every box sees them */

        from_path(f, word, span_str(source), optional);
        if (strcmp(source, target) != 0)
                from_lost(f, span_str(target),
                          "the box sees the directory under its own name, not under this one");
}

static void set_variable(struct from *f, const char *name, const char *value)
{
        AUTO_BUF(text);
        buf_printf(&text, "%s=%s", name, value);
        from_line(f, "env", buf_span(&text));
}

static void read_option(struct from *f, size_t o, char *const *a, bool *net_closed)
{
        switch (options[o].kind) {
        case KIND_READ:
                add_bind(f, "read", a[0], a[1], options[o].optional);
                break;
        case KIND_EDIT:
                add_bind(f, "edit", a[0], a[1], options[o].optional);
                break;
        case KIND_SET:
                set_variable(f, a[0], a[1]);
                break;
        case KIND_NET_CLOSED:
        case KIND_NET_OPEN:
                *net_closed = options[o].kind == KIND_NET_CLOSED;
                break;
        case KIND_LOST:
                from_lost(f, span_str(options[o].option), options[o].why);
                break;
        case KIND_WIDE:
                from_wide(f, span_str(options[o].option), options[o].why);
                break;
        case KIND_WALLS:
        default:
                break;
        }
}

/* Reads options until the command. Returns -1 if one is not known. */
static int options_of(struct from *f, const char *file, char *const *w, size_t count, struct err *e)
{
        bool net_closed = false;
        size_t i = 0;
        while (i < count && strncmp(w[i], "--", 2) == 0 && w[i][2]) {
                size_t o = 0, n = sizeof options / sizeof *options;
                while (o < n && strcmp(options[o].option, w[i]) != 0)
                        o++;

                if (o == n || count - i <= options[o].arguments)
                        return err_set(e, ERR_POLICY, 0, "%s: %.80s: %s", file, w[i],
                                       o == n ? "unknown option of bwrap" : "an argument is missing");

                read_option(f, o, w + i + 1, &net_closed);
                i += 1 + options[o].arguments;
        }

        if (!net_closed)
                from_wide(f, span_str("network"), "was open to every host; name destinations with `net`");

        return 0;
}

int from_bwrap(struct from *f, const char *file, struct span text, struct err *e)
{
        const uint8_t *at = memmem(text.p, text.n, "bwrap", 5);
        struct words *w = calloc(1, sizeof *w);
        char **list = calloc(WORDS_MAX, sizeof *list);
        char none[] = "";
        int r = -1;
        if (!w || !list || !at) {
                (void) err_set(e, ERR_MEMORY, 0, "out of memory");
        } else {
                split_words(span_of(at, text.n - (size_t) (at - text.p)), w);
                for (size_t i = 0; i < WORDS_MAX; i++)
                        list[i] = i < w->count && !w->text.failed ? w->text.p + w->at[i] : none;
                r = options_of(f, file, list + 1, w->count ? w->count - 1 : 0, e);
        }

        if (w)
                buf_done(&w->text);
        free(w);
        free(list);
        return r;
}
