/* SPDX-License-Identifier: MIT */
/* wall/wasm/wasi/wasi_calls.c - the table of calls, and the one way into each: its descriptor is checked
 * first. */
#include "wall/wasm/wasi/wasi_internal.h"

#define ROW(name, signature, takes, right)                                                                   \
        {                                                                                                    \
#name, signature, wasi_##name, takes, right                                                  \
        }
#define NEEDS(right) WASI_RIGHT(right)

/* Signatures as wasm_define() takes them: i = i32, l = i64. */
const struct wasi_row wasi_rows[] = {
        ROW(args_get, "ii:i", WASI_NO_FD, 0),
        ROW(args_sizes_get, "ii:i", WASI_NO_FD, 0),
        ROW(environ_get, "ii:i", WASI_NO_FD, 0),
        ROW(environ_sizes_get, "ii:i", WASI_NO_FD, 0),
        ROW(clock_res_get, "ii:i", WASI_NO_FD, 0),
        ROW(clock_time_get, "ili:i", WASI_NO_FD, 0),

        ROW(fd_advise, "illi:i", WASI_FILE_FD, NEEDS(FD_ADVISE)),
        ROW(fd_allocate, "ill:i", WASI_FILE_FD, NEEDS(FD_ALLOCATE)),
        ROW(fd_close, "i:i", WASI_ANY_FD, 0),
        ROW(fd_datasync, "i:i", WASI_ANY_FD, NEEDS(FD_DATASYNC)),
        ROW(fd_fdstat_get, "ii:i", WASI_ANY_FD, 0),
        ROW(fd_fdstat_set_flags, "ii:i", WASI_ANY_FD, NEEDS(FDSTAT_SET_FLAGS)),
        ROW(fd_fdstat_set_rights, "ill:i", WASI_ANY_FD, 0),
        ROW(fd_filestat_get, "ii:i", WASI_ANY_FD, NEEDS(FD_FILESTAT_GET)),
        ROW(fd_filestat_set_size, "il:i", WASI_FILE_FD, NEEDS(FD_FILESTAT_SET_SIZE)),
        ROW(fd_filestat_set_times, "illi:i", WASI_ANY_FD, NEEDS(FD_FILESTAT_SET_TIMES)),
        ROW(fd_pread, "iiili:i", WASI_FILE_FD, NEEDS(FD_READ)),
        ROW(fd_prestat_get, "ii:i", WASI_ANY_FD, 0),
        ROW(fd_prestat_dir_name, "iii:i", WASI_ANY_FD, 0),
        ROW(fd_pwrite, "iiili:i", WASI_FILE_FD, NEEDS(FD_WRITE)),
        ROW(fd_read, "iiii:i", WASI_FILE_FD, NEEDS(FD_READ)),
        ROW(fd_readdir, "iiili:i", WASI_DIR_FD, NEEDS(FD_READDIR)),
        ROW(fd_renumber, "ii:i", WASI_ANY_FD, 0),
        ROW(fd_seek, "ilii:i", WASI_FILE_FD, 0), /* a seek by nothing is a tell */
        ROW(fd_sync, "i:i", WASI_ANY_FD, NEEDS(FD_SYNC)),
        ROW(fd_tell, "ii:i", WASI_FILE_FD, NEEDS(FD_TELL)),
        ROW(fd_write, "iiii:i", WASI_FILE_FD, NEEDS(FD_WRITE)),

        ROW(path_create_directory, "iii:i", WASI_DIR_FD, NEEDS(PATH_CREATE_DIRECTORY)),
        ROW(path_filestat_get, "iiiii:i", WASI_DIR_FD, NEEDS(PATH_FILESTAT_GET)),
        ROW(path_filestat_set_times, "iiiilli:i", WASI_DIR_FD, NEEDS(PATH_FILESTAT_SET_TIMES)),
        ROW(path_link, "iiiiiii:i", WASI_DIR_FD, NEEDS(PATH_LINK_SOURCE)),
        ROW(path_open, "iiiiillii:i", WASI_DIR_FD, NEEDS(PATH_OPEN)),
        ROW(path_readlink, "iiiiii:i", WASI_DIR_FD, NEEDS(PATH_READLINK)),
        ROW(path_remove_directory, "iii:i", WASI_DIR_FD, NEEDS(PATH_REMOVE_DIRECTORY)),
        ROW(path_rename, "iiiiii:i", WASI_DIR_FD, NEEDS(PATH_RENAME_SOURCE)),
        ROW(path_symlink, "iiiii:i", WASI_NO_FD, 0), /* its descriptor is the third argument */
        ROW(path_unlink_file, "iii:i", WASI_DIR_FD, NEEDS(PATH_UNLINK_FILE)),

        ROW(poll_oneoff, "iiii:i", WASI_NO_FD, 0),
        ROW(proc_exit, "i:", WASI_NO_FD, 0),
        ROW(proc_raise, "i:i", WASI_NO_FD, 0),
        ROW(sched_yield, ":i", WASI_NO_FD, 0),
        ROW(random_get, "ii:i", WASI_NO_FD, 0),

        ROW(sock_accept, "iii:i", WASI_ANY_FD, 0),
        ROW(sock_recv, "iiiiii:i", WASI_ANY_FD, 0),
        ROW(sock_send, "iiiii:i", WASI_ANY_FD, 0),
        ROW(sock_shutdown, "ii:i", WASI_ANY_FD, 0),
};
_Static_assert(sizeof wasi_rows / sizeof *wasi_rows == WASI_CALLS, "all calls of preview 1");

static enum wasi_errno check_file(const struct wasi_file *f, const struct wasi_row *row)
{
        if (!f || (row->takes == WASI_FILE_FD && f->type == WASI_DIRECTORY))
                return WASI_BADF;

        if (row->takes == WASI_DIR_FD && f->type != WASI_DIRECTORY)
                return WASI_NOTDIR;

        return row->right & ~f->rights ? WASI_NOTCAPABLE : WASI_SUCCESS;
}

enum wasi_errno wasi_dispatch(struct wasi_call *c, const struct wasi_row *row)
{
        if (row->takes != WASI_NO_FD) {
                c->file = wasi_file(c->w, wasi_u32(c, 0));
                enum wasi_errno wrong = check_file(c->file, row);
                if (wrong)
                        return wrong;
        }

        return row->call(c);
}
