/* SPDX-License-Identifier: MIT */
/* run/api/look_gpu.c - the nodes and files of a `gpu` door on this host, looked at once. */
#include "base/arena.h"
#include "base/dir.h"
#include "base/fd.h"
#include "base/host/host.h"
#include "run/api/internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_usable(void *ctx, const char *path)
{
        (void) ctx;
        return access(path, R_OK | W_OK) == 0 || (strncmp(path, "/dev/", 5) != 0 && access(path, R_OK) == 0);
}

static bool node_exists(void *ctx, const char *path)
{
        (void) ctx;
        return access(path, F_OK) == 0;
}

/* "Device Minor: \t 0" of the card whose "GPU UUID:" this is. */
static bool number_in(const char *information, const char *uuid, char ret[4])
{
        static const char minor_key[] = "Device Minor:";
        const char *minor = strstr(information, minor_key);
        if (!strstr(information, uuid) || !minor)
                return false;

        minor += sizeof minor_key - 1;
        minor += strspn(minor, " \t");
        size_t n = strspn(minor, "0123456789");
        (void) snprintf(ret, 4, "%.*s", (int) n, minor);
        return n > 0 && n < 3;
}

bool look_gpu_number(const char *cards, const char *uuid, char ret[4])
{
        DIR *dir = opendir(cards);
        bool found = false;
        for (struct dirent *card; dir && !found && (card = readdir(dir));) {
                char path[512], text[2048];
                (void) snprintf(path, sizeof path, "%s/%s/information", cards, card->d_name);
                AUTO_FD(fd, card->d_name[0] == '.' ? -1 : open(path, O_RDONLY | O_CLOEXEC));
                ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
                text[n > 0 ? n : 0] = '\0';
                found = number_in(text, uuid, ret);
        }

        if (dir)
                (void) closedir(dir);
        return found;
}

static void look_at_node(const char *path, struct plan_seen *ret)
{
        struct stat st;
        if (stat(path, &st) < 0)
                return;

        ret->kind = S_ISDIR(st.st_mode) ? SEEN_DIR : SEEN_OTHER;
        ret->dev = st.st_dev;
        ret->ino = st.st_ino;
        ret->device = S_ISCHR(st.st_mode) ? st.st_rdev : 0;
        ret->open_to_all = (st.st_mode & 0006) == 0006;
        ret->closed = access(path, R_OK | W_OK) < 0;
}

void look_at_gpu(struct arena *mem, const char *chosen, struct plan_seen *ret)
{
        char number[4];
        struct policy_gpu_nodes found = { .n = 0 };
        struct policy_gpu_ask ask = { .chosen = chosen, .has = is_usable };
        if (strncmp(chosen, "GPU-", 4) == 0) {
                ask.chosen = number;
                if (!look_gpu_number("/proc/driver/nvidia/gpus", chosen, number))
                        return;
        }

        policy_gpu_expand(&ask, &found);
        if (found.n == 0) { /* one that is closed to the caller is reported as that */
                ask.has = node_exists;
                policy_gpu_expand(&ask, &found);
        }

        struct plan_node *nodes = arena_alloc(mem, found.n * sizeof *nodes + 1);
        for (size_t i = 0; nodes && i < found.n; i++) {
                nodes[i] = (struct plan_node){ .path = arena_str(mem, found.path[i]) };
                look_at_node(found.path[i], &nodes[i].seen);
        }

        ret->kind = found.n > 0 ? SEEN_OTHER : SEEN_NOTHING;
        ret->nodes = nodes;
        ret->node_count = nodes ? found.n : 0;
}

/* ---- `cordon doctor` ---- */

/* " (driver 580.159.04)" of NVIDIA's; "": not loaded. */
static void driver_version(char ret[64])
{
        char text[32] = "";
        AUTO_FD(fd, open("/sys/module/nvidia/version", O_RDONLY | O_CLOEXEC));
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        text[n > 0 ? strspn(text, "0123456789.") : 0] = '\0';
        if (text[0])
                (void) snprintf(ret, 64, " (driver %s)", text);
}

/* The first that keeps a box from it, as its own check finds it; NULL: none. */
static const struct plan_node *first_closed(const struct plan_seen *gpu)
{
        for (size_t i = 0; i < gpu->node_count; i++) {
                const struct plan_seen *n = &gpu->nodes[i].seen;
                if (n->kind == SEEN_NOTHING ||
                    (n->kind != SEEN_DIR && (n->closed || (geteuid() == 0 && !n->open_to_all))))
                        return &gpu->nodes[i];
        }
        return NULL;
}

static void say_closed(const struct plan_node *n, const char *version, struct host_finding *ret)
{
        bool missing = !n || n->seen.kind == SEEN_NOTHING;
        (void) snprintf(ret->detail, sizeof ret->detail, "%s is %s%s", n ? n->path : "/dev/nvidia0",
                        missing ? "missing" : "not open to boxes", version);
        (void) snprintf(ret->mend, sizeof ret->mend, "%s",
                        missing ? "nvidia-modprobe -u -c 0"
                                : "a member of its group may: ls -l /dev/nvidia* /dev/dri");
}

bool look_gpu_finding(struct host_finding *ret)
{
        char version[64] = "";
        struct arena mem = { 0 };
        struct plan_seen gpu = { .kind = SEEN_NOTHING };
        look_at_gpu(&mem, "", &gpu);
        driver_version(version);

        const struct plan_node *closed = first_closed(&gpu);
        *ret = (struct host_finding){ .layer = "gpu", .state = HOST_YES };
        size_t n = (size_t) snprintf(ret->detail, sizeof ret->detail, "`--gpu`%s:", version);
        for (size_t i = 0; i < gpu.node_count && n < sizeof ret->detail; i++)
                n += (size_t) snprintf(ret->detail + n, sizeof ret->detail - n, " %s", gpu.nodes[i].path);
        if (closed || gpu.node_count == 0) {
                ret->state = HOST_NO;
                say_closed(closed, version, ret);
        }

        arena_done(&mem);
        return gpu.node_count > 0 || version[0];
}
