/* SPDX-License-Identifier: MIT */
/* files/work/journal/journal_marks.c - marks, slot names and errors of a journal. */
#include "base/str.h"
#include "files/work/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int journal_failed(struct err *e, const char *doing, const char *path)
{
        char shown[256];
        int sys = errno;
        return err_set(e, ERR_IO, sys, "%s %s: %s", doing, str_inert(span_str(path), shown, sizeof shown),
                       strerror(sys));
}

const char *slot_name(size_t slot, const char *suffix, char buf[32])
{
        (void) snprintf(buf, 32, "%zu%s", slot, suffix);
        return buf;
}

bool journal_has(struct journal *j, const char *mark)
{
        if (faccessat(j->dir, mark, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return true;
        if (errno != ENOENT)
                j->unsure = errno;
        return false;
}

/* Taking a committed apply for an uncommitted one would lose the entries it replaced. */
int journal_sure(const struct journal *j, struct err *e)
{
        if (!j->unsure)
                return 0;
        errno = j->unsure;
        return journal_failed(e, "looking into the journal of", j->l->run);
}
