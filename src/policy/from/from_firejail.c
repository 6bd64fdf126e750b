/* SPDX-License-Identifier: MIT */
/* policy/from/from_firejail.c - firejail profiles. */
#include "policy/from/from.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

static void whitelist(struct from *f, struct span a) { from_path(f, "edit", a, true); }
static void read_only(struct from *f, struct span a) { from_path(f, "read", a, true); }
static void variable(struct from *f, struct span a) { from_line(f, "env", a); }

static void add_programs(struct from *f, struct span list)
{
        while (list.n) {
                struct span one = from_word(&list, ",");
                if (one.n)
                        from_line(f, "run", one);
        }
}

static void add_limit(struct from *f, const char *key, struct span value)
{
        char text[64];
        (void) snprintf(text, sizeof text, "%s %.*s", key, (int) value.n, (const char *) value.p);
        buf_printf(&f->lines, "%slimit  %s\n", f->lines.n ? "" : "\n", text);
}

static void add_rlimit(struct from *f, const char *key, struct span value)
{
        uint64_t n;
        if (str_to_size(value, &n) == 0)
                add_limit(f, key, value);
        else
                from_lost(f, value, "not a number");
}

static void memory(struct from *f, struct span a) { add_rlimit(f, "memory", a); }
static void files(struct from *f, struct span a) { add_rlimit(f, "files", a); }
static void procs(struct from *f, struct span a) { add_rlimit(f, "procs", a); }

/* hh:mm:ss */
static void add_timeout(struct from *f, struct span a)
{
        uint64_t seconds = 0, part;
        struct span rest = a;
        char text[32];
        for (unsigned i = 0; i < 3; i++) {
                struct span digits = from_word(&rest, ":");
                while (digits.n > 1 && digits.p[0] == '0')
                        digits = span_of(digits.p + 1, digits.n - 1);

                if (str_to_u64(digits, &part) < 0 || part > 999) {
                        from_lost(f, a, "not hh:mm:ss");
                        return;
                }

                seconds = seconds * 60 + part;
        }

        (void) snprintf(text, sizeof text, "%us", (unsigned) seconds);
        add_limit(f, "time", span_str(text));
}

static void note_include(struct from *f, struct span a)
{
        if (!span_starts(a, "disable-")) /* lists of what is closed anyway */
                from_lost(f, a, "the file it includes; convert that one as well");
}

static void add_network(struct from *f, struct span a)
{
        if (!span_is(a, "none"))
                from_wide(f, a, "an interface with every host behind it; name destinations with `net`");
}

static void kept(struct from *f, struct span a) { from_lost(f, a, "no line says this"); }

/* Words of a profile; those that are not here say what every box has: no privileges, own /tmp, no devices. */
static const struct {
        const char *word;
        void (*read)(struct from *f, struct span argument);
} words[] = {
        { "whitelist", whitelist },
        { "read-write", whitelist },
        { "whitelist-ro", read_only },
        { "read-only", read_only },
        { "blacklist", from_deny },
        { "blacklist-nolog", from_deny },
        { "private-bin", add_programs },
        { "env", variable },
        { "rlimit-as", memory },
        { "rlimit-nofile", files },
        { "rlimit-nproc", procs },
        { "timeout", add_timeout },
        { "include", note_include },
        { "net", add_network },
        { "bind", kept },
        { "dbus-user.talk", kept },
        { "dbus-user.own", kept },
        { "mkdir", kept },
        { "mkfile", kept },
        { "join-or-start", kept },
        { "allusers", kept },
        { "keep-var-tmp", kept },
        { "x11", kept },
};

int from_firejail(struct from *f, struct span text)
{
        bool net = false, private = false;
        struct span line;
        for (unsigned round = 0; round < 2; round++) /* doors first: exceptions belong to them */
                for (struct span rest = text; from_next_line(&rest, &line);) {
                        struct span argument = line, word = from_word(&argument, " \t");
                        bool deny = span_starts(word, "blacklist");
                        net |= span_is(word, "net") || span_is(word, "protocol");
                        private |= span_is(word, "private") || span_is(word, "whitelist");
                        for (size_t i = 0; deny == (round == 1) && i < sizeof words / sizeof *words; i++)
                                if (span_is(word, words[i].word))
                                        words[i].read(f, argument);
                }

        if (!net)
                from_wide(f, span_str("network"), "was open to every host; name destinations with `net`");

        if (!private)
                from_wide(f, span_str("home"),
                          "all of it but the blacklist was visible; these lines show what "
                          "they name");

        return 0;
}
