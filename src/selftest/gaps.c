/* SPDX-License-Identifier: MIT */
/* selftest/gaps.c - the attacks that walls do not stop, as text: one table for `cordon selftest claims` and
 * `cordon selftest walls`. */
#include "selftest/selftest.h"

const char *const gaps_always[] = {
        "the kernel is shared: a fault in what the filter lets through is a way out of every box",
        "side channels: processor caches, timing, power and the load of the machine are not closed",
        "novel escapes: these attempts are the known ways, and their failure says nothing of the unknown",
        "supply chain: the kernel, cordon itself and the programs that a box runs are trusted as they came",
        "locks (flock) on read-only files that boxes share, as program files, are a channel between boxes",
        ("/proc/self/pagemap and smaps show whether another process has the same page of a shared file "
         "mapped: "
         "a channel between boxes, and a sign of which programs run"),
        ("/proc/self/net/sockstat and protocols count memory and sockets of TCP and UDP of the whole host, "
         "softnet_stat its packets"),
        "sysinfo(2), uname(2) and cpuid show the machine's memory, load, kernel and processor",
        "a read door below /tmp is read-only by its mount alone: Landlock's rule for /tmp covers it too",
        "a fifo of the host behind a read door below /tmp can be written: the mount does not stop that",
        "without root a box keeps the account's supplementary groups, and what they open behind a door",
        "out of scope: what an agent does with a network that a door gives it",
        "out of scope: what a model says or wants, and its instructions",
        "out of scope: products of providers, and what happens to data that was sent to them",
        "out of scope: enclaves and attested hardware",
        "out of scope: regulation; nothing here is a statement of compliance",
        NULL,
};

const char *const gaps_process_wall[] = {
        "the process wall: paths outside the doors exist, and stat tells their size, owner and times",
        "the process wall: what an `except` names is seen, and cannot be read",
        "the process wall: what was written does not start, but the dynamic loader can be asked to load it",
        "the process wall: no private /tmp, home or /proc; numbers of other processes can be seen",
        "the process wall: the host's name and clock are the host's",
        "the process wall: before Linux 6.10 a device behind a read door takes any ioctl of its readers",
        "the process wall: as an ordinary user the box has the caller's own id",
        NULL,
};

const char *const gaps_wasm_wall[] = {
        "the wasm wall: a fault of the engine gives a module the box of the namespace wall, less most calls",
        NULL,
};

const char *const gaps_no_group[] = {
        "no control group keeps this box: memory and processor time are sampled, twenty times a second or "
        "more",
        "no control group keeps this box: memory files count while they are open or mapped, pipes "
        "not at all",
        "no control group keeps this box: kernel budgets per user (pipe buffers) are shared with the caller",
        NULL,
};
