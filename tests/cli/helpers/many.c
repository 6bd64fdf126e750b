/* SPDX-License-Identifier: MIT */
/* tests/cli/helpers/many.c - one keeper of many boxes, one after the other, some of which do not start or are
 * killed: its descriptors, children and memory afterwards are those after the first few. Used by tools/soak.
 *   many N */
#include "../../context.h"
#include <cordon.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int descriptors(void)
{
        int n = 0;
        DIR *d = opendir("/proc/self/fd");
        while (d && readdir(d))
                n++;
        if (d)
                closedir(d);
        return n;
}

static long resident_pages(void)
{
        long size = 0, pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");
        if (!f || fscanf(f, "%ld %ld", &size, &pages) != 2)
                pages = -1;
        if (f)
                fclose(f);
        return pages;
}

/* Kinds: ends well, does not exist, has a door that is not there, is killed, is let go of while it runs. */
static int one(int kind)
{
        static const char *const well[] = { "/bin/true", NULL },
                                 *const missing[] = { "/no/such/program", NULL },
                                 *const longer[] = { "/bin/sleep", "30", NULL };
        cordon_error e = { 0 };
        cordon_policy *p = cordon_policy_new(test_context());
        if (kind == 2)
                (void) cordon_policy_add(p, "read", "/no/such/door", &e);
        cordon_box *b = cordon_box_new(p);
        cordon_box_command(b, kind == 1 ? missing : kind >= 3 ? longer : well);
        int started = cordon_box_start(b, &e) == 0;
        if (started && kind == 3)
                cordon_box_kill(b);
        while (started && kind != 4 && cordon_box_wait(b, -1) == 0)
                ;
        int good = started == (kind != 1 && kind != 2) || (kind == 1 && started);
        if (!good)
                printf("kind %d: started %d: %s\n", kind, started, e.what);
        cordon_box_free(b);
        cordon_policy_free(p);
        return good ? 0 : -1;
}

int main(int argc, char **argv)
{
        int n = argc > 1 ? atoi(argv[1]) : 10, before = 0;
        long pages = 0;
        for (int i = 0; i < n + 5; i++) {
                if (i == 5) { /* every kind was there once */
                        before = descriptors();
                        pages = resident_pages();
                }
                if (one(i % 5) < 0)
                        return 1;
        }
        int after = descriptors();
        long grown = resident_pages() - pages;
        if (after != before)
                printf("%d descriptors before, %d after\n", before, after);
        if (grown > 256)
                printf("%ld pages grown in %d boxes\n", grown, n);
        int child = waitpid(-1, NULL, WNOHANG | __WALL);
        if (child != -1 || errno != ECHILD)
                printf("a child is left\n");
        return after != before || grown > 256 || child != -1;
}
