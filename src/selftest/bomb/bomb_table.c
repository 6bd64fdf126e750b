/* SPDX-License-Identifier: MIT */
/* selftest/bomb/bomb_table.c - the bombs by name, with the limits of their boxes and the one that must fire;
 * and their main(). */
#include "base/clock.h"
#include "selftest/bomb/bomb_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NAP_US = 2000 };

#define SMALL "time 3s memory 64M procs 32"
static const char group_only[] = "without control groups it counts against disk, not memory";

static const struct bomb rows[] = {
        { "cpu", "two processes that spin", "cpu 200ms " SMALL, "cpu", NULL, NULL, false, NULL, bomb_cpu },
        { "memory-heap", "touches 320M of its own", SMALL, "memory", NULL, "ENOMEM", false, NULL, bomb_heap },
        { "memory-tmpfs", "320M in /dev/shm", "disk 160M " SMALL, "memory", "disk", "ENOSPC", false,
          group_only, bomb_tmpfs },
        { "memory-pagecache", "reads every program file, over and over", "time 1s memory 64M procs 32",
          "time", NULL, NULL, false, "the kernel takes the cache back; memory must stay below its limit",
          bomb_cache },
        { "memory-memfd", "320M in files without a name", SMALL, "memory", NULL, "ENOMEM", false, NULL,
          bomb_memfd },
        { "memory-segments", "320M of SysV shared memory in no process", SMALL, "memory", NULL, "ENOMEM",
          false, NULL, bomb_segments },
        { "pipes", "pipes of 1M, all full", "files 512 time 3s memory 32M procs 32", "memory", "files",
          "EMFILE", false,
          "without control groups the kernel's budget for all pipes of the user holds it too", bomb_pipes },
        { "sockets", "pairs of sockets, all full", "files 512 time 3s memory 32M procs 32", "memory", "files",
          "EMFILE", false, NULL, bomb_sockets },
        { "connections", "TCP connections to itself, all full", "files 512 time 3s memory 32M procs 32",
          "memory", NULL, "EMFILE", true, NULL, bomb_connections },
        { "fork", "200 processes", SMALL, "procs", NULL, "EAGAIN", false, NULL, bomb_fork },
        { "threads", "200 threads", SMALL, "procs", NULL, "EAGAIN", false, NULL, bomb_threads },
        { "descriptors", "100000 open files", "files 64 " SMALL, "files", NULL, "EMFILE", true, NULL,
          bomb_descriptors },
        { "watches", "100 instances of inotify", SMALL, "instances of inotify", NULL, "EMFILE", true, NULL,
          bomb_watches },
        { "events", "100000 events of inotify that nobody reads", SMALL, "queued events of inotify", NULL,
          "EOVERFLOW", true, NULL, bomb_events },
        { "interfaces", "sockets that ask for interfaces, all full", SMALL, "sockets of that kind", NULL,
          "ENOBUFS", true, NULL, bomb_interfaces },
        { "inodes", "200000 empty files", "disk 4M " SMALL, "disk", NULL, "ENOSPC", false, NULL,
          bomb_inodes },
        { "disk", "a file of 256M", "disk 8M " SMALL, "disk", NULL, "ENOSPC", false, NULL, bomb_disk },
        { "sparse-file", "a terabyte with holes", "disk 8M " SMALL, "disk", NULL, "ENOSPC", false, NULL,
          bomb_sparse },
        { "output", "256M of output", "output 1M " SMALL, "output", NULL, NULL, false, NULL, bomb_output },
        { "timers", "100000 timers", SMALL, "pending signals", NULL, "EAGAIN", true, NULL, bomb_timers },
        { "signals", "100000 queued signals", SMALL, "pending signals", NULL, "EAGAIN", true, NULL,
          bomb_signals },
        { "stopped-self", "stops itself and waits", "time 1s memory 64M procs 32", "time", NULL, NULL, false,
          NULL, bomb_stopped_self },
        { "daemon", "a deaf process in a session of its own", SMALL, "end of the box", NULL, NULL, true, NULL,
          bomb_daemon },
        { "deep-directory", "200000 directories in each other", "disk 4M " SMALL, "disk", NULL, "ENOSPC",
          false, NULL, bomb_deep },
        { "huge-argv", "arguments of 200M", SMALL, "argument size", NULL, "E2BIG", true, NULL, bomb_argv },
        { "zip", "bytes that unpack to 16G", "disk 8M " SMALL, "disk", NULL, "ENOSPC", false, NULL,
          bomb_zip },
};

const struct bomb *bomb_table(size_t *ret_count)
{
        *ret_count = sizeof rows / sizeof *rows;
        return rows;
}

const struct bomb *bomb_find(const char *name)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (strcmp(rows[i].name, name) == 0)
                        return &rows[i];
        return NULL;
}

static int bomb_neighbour(void)
{
        for (;;) {
                char line[32];
                const struct timespec nap = { 0, NAP_US * 1000L };
                uint64_t t = clock_mono_ns();
                (void) nanosleep(&nap, NULL);
                uint64_t late = (clock_mono_ns() - t) / 1000;
                late = late > NAP_US ? late - NAP_US : 0;
                int n = snprintf(line, sizeof line, "%llu\n", (unsigned long long) late);
                if (write(1, line, (size_t) n) < 0)
                        return 0;
        }
}

int bomb_main(int argc, char **argv)
{
        const struct bomb *b = argc > 0 ? bomb_find(argv[0]) : NULL;
        if (argc > 0 && strcmp(argv[0], "neighbour") == 0)
                return bomb_neighbour();
        if (argc > 0 && strcmp(argv[0], "argv-end") == 0) /* it was carried: the bomb went through so far */
                return 0;
        return b ? b->run(argc > 1 ? argv[1] : "bomb") : 64;
}
