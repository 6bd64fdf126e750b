/* SPDX-License-Identifier: MIT */
/* policy/check/gpu.c - `gpu`: a `dev` door of /dev/gpu, which is the nodes that compute on a GPU needs, and
 * the driver's files outside the stock policies. Which of them exist is asked of the caller. Pure. */
#include "policy/internal.h"

#include <stdio.h>

enum gpu_maker { NVIDIA = 0, RENDER, MAKER__COUNT };
enum gpu_part {
        EACH = 0, /* one for each GPU: '#' is its number, from `first` on */
        NEEDED,   /* by each GPU of the maker */
        MAYBE     /* if it exists */
};

/* Display, profiling and partitions (MIG) have nodes of their own, which are not here. */
static const struct {
        const char *path;
        enum gpu_maker maker;
        enum gpu_part part;
        unsigned first;
} rows[] = {
        { "/dev/nvidia#", NVIDIA, EACH, 0 },
        { "/dev/nvidiactl", NVIDIA, NEEDED, 0 },
        { "/dev/nvidia-uvm", NVIDIA, NEEDED, 0 },
        { "/dev/dri/renderD#", RENDER, EACH, 128 }, /* AMD and Intel */
        { "/dev/kfd", RENDER, MAYBE, 0 },           /* AMD */
        { POLICY_GPU_LIBRARIES, NVIDIA, MAYBE, 0 },
        { "/opt/rocm", RENDER, MAYBE, 0 },
        { "/etc/OpenCL/vendors", MAKER__COUNT, MAYBE, 0 },
        { "/etc/vulkan/icd.d", MAKER__COUNT, MAYBE, 0 },
};

static const char all[] = "/dev/gpu";

/* The name behind /dev/gpu/, "" for all of them; NULL: the path is another device's. */
const char *policy_gpu(const char *path)
{
        const char *rest = path + sizeof all - 1;
        if (strncmp(path, all, sizeof all - 1) != 0)
                return NULL;

        if (rest[0] == '\0')
                return rest;

        bool uuid = strncmp(rest, "/GPU-", 5) == 0 && strlen(rest) == 41 &&
                    strspn(rest + 5, "0123456789abcdef-") == 36;
        size_t digits = rest[0] == '/' ? strspn(rest + 1, "0123456789") : 0;
        bool number =
                digits > 0 && digits <= 2 && rest[1 + digits] == '\0' && (digits == 1 || rest[1] != '0');
        return uuid || number ? rest + 1 : NULL;
}

const char *policy_gpu_line(const struct door *d)
{
        return d->kind == DOOR_DEV && !d->optional ? policy_gpu(d->path) : NULL;
}

/* The number of the GPU whose node this is; -1: it is not a node of this row. */
static int number_of(size_t row, const char *path)
{
        size_t n = strlen(rows[row].path) - 1;
        const char *digits = path + n;
        if (strncmp(path, rows[row].path, n) != 0 || strlen(path) < n + 1 || strlen(path) > n + 3 ||
            digits[strspn(digits, "0123456789")])
                return -1;

        unsigned number = 0;
        for (; *digits; digits++)
                number = number * 10 + (unsigned) (*digits - '0');
        return number < rows[row].first ? -1 : (int) (number - rows[row].first);
}

bool policy_gpu_is_card(const char *node)
{
        for (size_t i = 0; i < COUNT(rows); i++)
                if (rows[i].part == EACH && number_of(i, node) >= 0)
                        return true;
        return false;
}

static bool is_chosen(const char *chosen, unsigned number)
{
        char text[12];
        (void) snprintf(text, sizeof text, "%u", number);
        return chosen[0] == '\0' || strcmp(chosen, text) == 0;
}

bool policy_gpu_covers(const char *door, const char *node)
{
        const char *chosen = policy_gpu(door);
        for (size_t i = 0; chosen && i < COUNT(rows) && strncmp(node, "/dev/", 5) == 0; i++) {
                int number = rows[i].part == EACH ? number_of(i, node) : -1;
                if (rows[i].part == EACH ? number >= 0 && is_chosen(chosen, (unsigned) number)
                                         : strcmp(rows[i].path, node) == 0)
                        return true;
        }

        return false;
}

static void add_node(struct policy_gpu_nodes *to, const char *path)
{
        (void) snprintf(to->path[to->n++], sizeof to->path[0], "%s", path);
}

static void add_each(size_t row, const struct policy_gpu_ask *ask, struct policy_gpu_nodes *ret)
{
        for (unsigned i = 0; i < POLICY_GPUS_MAX; i++) {
                char path[sizeof ret->path[0]];
                (void) snprintf(path, sizeof path, "%.*s%u", (int) strlen(rows[row].path) - 1, rows[row].path,
                                rows[row].first + i);
                if (is_chosen(ask->chosen, i) && ask->has(ask->ctx, path))
                        add_node(ret, path);
        }
}

void policy_gpu_expand(const struct policy_gpu_ask *ask, struct policy_gpu_nodes *ret)
{
        ret->n = 0;
        for (unsigned maker = 0; maker < MAKER__COUNT && ret->n == 0; maker++) {
                for (size_t i = 0; i < COUNT(rows); i++)
                        if (rows[i].maker == maker && rows[i].part == EACH)
                                add_each(i, ask, ret);

                for (size_t i = 0; i < COUNT(rows) && ret->n > 0; i++)
                        if ((rows[i].maker == maker || rows[i].maker == MAKER__COUNT) &&
                            rows[i].part != EACH &&
                            (rows[i].part == NEEDED || ask->has(ask->ctx, rows[i].path)))
                                add_node(ret, rows[i].path);
        }
}
