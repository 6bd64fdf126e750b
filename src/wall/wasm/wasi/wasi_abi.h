/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_abi.h - numbers and layouts of WASI preview 1 (wasi_snapshot_preview1). */
#pragma once
#include <stdint.h>

enum wasi_errno {
        WASI_SUCCESS = 0,
        WASI_2BIG = 1,
        WASI_ACCES = 2,
        WASI_AGAIN = 6,
        WASI_BADF = 8,
        WASI_EXIST = 20,
        WASI_FAULT = 21,
        WASI_ILSEQ = 25,
        WASI_INVAL = 28,
        WASI_IO = 29,
        WASI_ISDIR = 31,
        WASI_LOOP = 32,
        WASI_MFILE = 33,
        WASI_NAMETOOLONG = 37,
        WASI_NOENT = 44,
        WASI_NOMEM = 48,
        WASI_NOTDIR = 54,
        WASI_NOTSOCK = 57,
        WASI_NOTSUP = 58,
        WASI_OVERFLOW = 61,
        WASI_PERM = 63,
        WASI_ROFS = 69,
        WASI_NOTCAPABLE = 76,
};

enum wasi_right {
        RIGHT_FD_DATASYNC,
        RIGHT_FD_READ,
        RIGHT_FD_SEEK,
        RIGHT_FDSTAT_SET_FLAGS,
        RIGHT_FD_SYNC,
        RIGHT_FD_TELL,
        RIGHT_FD_WRITE,
        RIGHT_FD_ADVISE,
        RIGHT_FD_ALLOCATE,
        RIGHT_PATH_CREATE_DIRECTORY,
        RIGHT_PATH_CREATE_FILE,
        RIGHT_PATH_LINK_SOURCE,
        RIGHT_PATH_LINK_TARGET,
        RIGHT_PATH_OPEN,
        RIGHT_FD_READDIR,
        RIGHT_PATH_READLINK,
        RIGHT_PATH_RENAME_SOURCE,
        RIGHT_PATH_RENAME_TARGET,
        RIGHT_PATH_FILESTAT_GET,
        RIGHT_PATH_FILESTAT_SET_SIZE,
        RIGHT_PATH_FILESTAT_SET_TIMES,
        RIGHT_FD_FILESTAT_GET,
        RIGHT_FD_FILESTAT_SET_SIZE,
        RIGHT_FD_FILESTAT_SET_TIMES,
        RIGHT_PATH_SYMLINK,
        RIGHT_PATH_REMOVE_DIRECTORY,
        RIGHT_PATH_UNLINK_FILE,
        RIGHT_POLL_FD_READWRITE,
        RIGHT_SOCK_SHUTDOWN,
        RIGHT_SOCK_ACCEPT,
        RIGHT__COUNT
};
#define WASI_RIGHT(name) (UINT64_C(1) << RIGHT_##name)

enum wasi_filetype {
        WASI_UNKNOWN = 0,
        WASI_BLOCK_DEVICE,
        WASI_CHARACTER_DEVICE,
        WASI_DIRECTORY,
        WASI_REGULAR_FILE,
        WASI_SOCKET_DGRAM,
        WASI_SOCKET_STREAM,
        WASI_SYMBOLIC_LINK
};

enum { WASI_SYMLINK_FOLLOW = 1 };                                                            /* lookupflags */
enum { WASI_CREAT = 1, WASI_O_DIRECTORY = 2, WASI_EXCL = 4, WASI_TRUNC = 8 };                /* oflags */
enum { WASI_APPEND = 1, WASI_DSYNC = 2, WASI_NONBLOCK = 4, WASI_RSYNC = 8, WASI_SYNC = 16 }; /* fdflags */
enum { WASI_ATIM = 1, WASI_ATIM_NOW = 2, WASI_MTIM = 4, WASI_MTIM_NOW = 8 };                 /* fstflags */
enum { WASI_EVENT_CLOCK, WASI_EVENT_READ, WASI_EVENT_WRITE };
enum { WASI_CLOCK_ABSTIME = 1, WASI_EVENT_HANGUP = 1 };
enum { WASI_RECV_PEEK = 1, WASI_RECV_WAITALL = 2, WASI_RECV_TRUNCATED = 1 };
enum { WASI_SHUT_RD = 1, WASI_SHUT_WR = 2 };

/* Sizes of what is read and written in the guest's memory. */
enum {
        WASI_IOVEC_SIZE = 8,
        WASI_FDSTAT_SIZE = 24,
        WASI_FILESTAT_SIZE = 64,
        WASI_PRESTAT_SIZE = 8,
        WASI_DIRENT_SIZE = 24,
        WASI_SUBSCRIPTION_SIZE = 48,
        WASI_EVENT_SIZE = 32
};
