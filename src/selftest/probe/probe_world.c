/* SPDX-License-Identifier: MIT */
/* selftest/probe/probe_world.c - the targets of the host side, as words on the prober's command line. */
#include "selftest/probe/probe_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One row: the key, and its member. cap 0: a number. */
static const struct {
        const char *key;
        size_t at, cap;
} members[] = {
#define TEXT(m)                                                                                              \
        {                                                                                                    \
#m, offsetof(struct probe_world, m), sizeof(((struct probe_world *) 0)->m)                   \
        }
#define NUMBER(m)                                                                                            \
        {                                                                                                    \
#m, offsetof(struct probe_world, m), 0                                                       \
        }
        TEXT(dir),         TEXT(home),        TEXT(cwd),         TEXT(self),     TEXT(abstract),
        TEXT(resident),    TEXT(queue),       TEXT(hostname),    TEXT(token),    NUMBER(port),
        NUMBER(udp),       NUMBER(key),       NUMBER(bystander), NUMBER(keeper), NUMBER(leaked),
        NUMBER(cwd_inode), NUMBER(core_pipe),
#undef TEXT
#undef NUMBER
};
enum { MEMBERS = sizeof members / sizeof *members };

bool probe_world_take(struct probe_world *w, const char *word)
{
        for (size_t i = 0; i < MEMBERS; i++) {
                size_t n = strlen(members[i].key);
                if (strncmp(word, members[i].key, n) != 0 || word[n] != '=')
                        continue;
                char *at = (char *) w + members[i].at;
                const char *value = word + n + 1;
                if (members[i].cap == 0) {
                        char *end;
                        int64_t number = strtoll(value, &end, 10);
                        memcpy(at, &number, sizeof number);
                        return end != value && *end == '\0';
                }
                return snprintf(at, members[i].cap, "%s", value) < (int) members[i].cap;
        }

        return false;
}

size_t probe_world_words(const struct probe_world *w, char **ret_words, size_t cap)
{
        size_t n = 0;
        for (size_t i = 0; i < MEMBERS && n < cap; i++) {
                const char *at = (const char *) w + members[i].at;
                char *word = NULL;
                int64_t number;
                memcpy(&number, at, members[i].cap ? 1 : sizeof number);
                int bad = members[i].cap ? asprintf(&word, "%s=%s", members[i].key, at)
                                         : asprintf(&word, "%s=%lld", members[i].key, (long long) number);
                if (bad >= 0)
                        ret_words[n++] = word;
        }

        return n;
}
