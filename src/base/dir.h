/* SPDX-License-Identifier: MIT */
/* base/dir.h - lists a directory with getdents64(). readdir() allocates, which is not allowed between clone
 * and exec, or in a forked child of a program with threads. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* struct linux_dirent64, which libc does not guarantee. */
struct dir_entry {
        uint64_t ino;
        int64_t off;
        uint16_t len;
        uint8_t type; /* DT_DIR ... of dirent.h; DT_UNKNOWN: the filesystem does not report it */
        char name[];
};

struct dir_list {
        char *bytes;
        size_t cap;
        size_t n, at;
};

/* Declares a list with a buffer for this many bytes of entries. */
#define DIR_LIST(name, room)                                                                                 \
        _Alignas(struct dir_entry) char name##_bytes[room];                                                  \
        struct dir_list name = { .bytes = name##_bytes, .cap = sizeof name##_bytes }

/* Reads the next entries of the open directory `fd`. Returns 1 if dir_next() has entries, 0 at the end, -1
 * with errno. */
int dir_more(struct dir_list *l, int fd);
/* Returns the next entry, including "." and ".."; NULL: call dir_more(). */
const struct dir_entry *dir_next(struct dir_list *l);
