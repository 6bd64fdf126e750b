/* SPDX-License-Identifier: MIT */
/* run/keeper/gates/peer.c - who is at the other end of the approver's socket: user, group, terminal. A
 * process in a box has other namespaces, and none of them reaches the socket; this is the second check. A
 * program of the same user outside every box can make a terminal for itself: where such programs run, the
 * policy names a group of other users. */
#include "base/fd.h"
#include "run/keeper/gates/gates.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 };

/* ---- groups ---- */

/* Field `n` of a line "a:b:c"; its length. */
static struct span field_of(const char *line, unsigned n)
{
        for (; n > 0 && *line; line++)
                n -= *line == ':';
        return span_of(line, strcspn(line, ":\n"));
}

/* The line of /etc/passwd or /etc/group whose field `at` is `want`. Read directly: a static program has no
 * name service, and whoever is in no file approves nothing. */
static bool find_line(const char *file, unsigned at, const char *want, char ret[LINE_BYTES])
{
        FILE *f = fopen(file, "re");
        bool found = false;
        while (f && !found && fgets(ret, LINE_BYTES, f))
                found = strchr(ret, '\n') && span_is(field_of(ret, at), want);
        if (f)
                (void) fclose(f);
        return found;
}

static bool is_listed(struct span members, struct span name)
{
        for (size_t at = 0, n; at < members.n; at += n + 1) {
                const uint8_t *comma = memchr(members.p + at, ',', members.n - at);
                n = comma ? (size_t) (comma - members.p) - at : members.n - at;
                if (span_eq(span_of(members.p + at, n), name))
                        return true;
        }
        return false;
}

bool peer_in_group(uint32_t uid, const char *group)
{
        char user[LINE_BYTES], members[LINE_BYTES], number[16];
        (void) snprintf(number, sizeof number, "%u", uid);
        if (!find_line("/etc/passwd", 2, number, user) || !find_line("/etc/group", 0, group, members))
                return false;
        return span_eq(field_of(user, 3), field_of(members, 2)) ||
               is_listed(field_of(members, 3), field_of(user, 0));
}

uint64_t peer_number(const char *name)
{
        char user[LINE_BYTES];
        return find_line("/etc/passwd", 0, name, user)
                       ? strtoull((const char *) field_of(user, 2).p, NULL, 10)
                       : gate_person(name);
}

bool peer_may_connect(const struct box *b, uint32_t uid)
{
        if (uid == b->c.uid)
                return true;

        for (const struct door *d = NULL; (d = policy_door_next(b->c.policy, d));)
                if (d->ask.on && d->ask.group && peer_in_group(uid, d->ask.group))
                        return true;

        return false;
}

/* ---- terminals ---- */

enum { STAT_STATE = 0, STAT_PARENT, STAT_GROUP, STAT_SESSION, STAT_TERMINAL, STAT_FOREGROUND, STAT__COUNT };

/* The fields of /proc/PID/stat behind the name, which may contain anything. */
static bool read_stat(int32_t pid, long ret[STAT__COUNT])
{
        char path[64], text[1024];
        (void) snprintf(path, sizeof path, "/proc/%d/stat", pid);
        ssize_t n = fd_get(AT_FDCWD, path, text, sizeof text);
        char *at = n > 0 ? strrchr(text, ')') : NULL;
        if (!at || strlen(at) < 4)
                return false;

        at += 3; /* ") S" */
        for (unsigned i = STAT_PARENT; i < STAT__COUNT; i++) {
                const char *from = at;
                ret[i] = strtol(from, &at, 10);
                if (at == from)
                        return false;
        }
        return true;
}

static bool same_namespace(int32_t pid, const char *name)
{
        char its[64], ours[64];
        struct stat a, b;
        (void) snprintf(its, sizeof its, "/proc/%d/ns/%s", pid, name);
        (void) snprintf(ours, sizeof ours, "/proc/self/ns/%s", name);
        return stat(its, &a) == 0 && stat(ours, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
}

bool peer_at_terminal(int32_t pid)
{
        long s[STAT__COUNT] = { 0 };
        return pid > 0 && read_stat(pid, s) && s[STAT_TERMINAL] != 0 && s[STAT_FOREGROUND] == s[STAT_GROUP] &&
               same_namespace(pid, "user") && same_namespace(pid, "pid") && same_namespace(pid, "net");
}

bool box_person_is_here(void) { return peer_at_terminal(getpid()); }
