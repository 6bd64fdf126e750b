/* SPDX-License-Identifier: MIT */
/* base/dir.h - the names in a directory, straight from the kernel: readdir() needs the heap, and some of us
 * live between clone and exec, or in a forked child of a program with threads. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* struct linux_dirent64, which libc does not promise. */
struct dir_entry {
        uint64_t ino;
        int64_t off;
        uint16_t len;
        uint8_t type; /* DT_DIR ... of dirent.h; DT_UNKNOWN: its filesystem does not tell */
        char name[];
};

struct dir_list {
        char *bytes;
        size_t cap;
        size_t n, at;
};

/* A list of that name, with room for as many bytes of entries at a time. */
#define DIR_LIST(name, room)                                                                                 \
        _Alignas(struct dir_entry) char name##_bytes[room];                                                  \
        struct dir_list name = { .bytes = name##_bytes, .cap = sizeof name##_bytes }

/* One call: the next entries of the open directory `fd`. 1: dir_next() gives them; 0: there are no more; -1
 * with errno. */
int dir_more(struct dir_list *l, int fd);
/* One of them, "." and ".." too; NULL: ask for more. */
const struct dir_entry *dir_next(struct dir_list *l);
