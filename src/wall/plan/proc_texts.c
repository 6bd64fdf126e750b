/* SPDX-License-Identifier: MIT */
/* wall/plan/proc_texts.c - the texts of /proc/cpuinfo and the like: the processors that the box may run on,
 * its own share of memory, the real time of boot, and zeros for values that would reveal the activity of
 * others; with a `gpu` door its nodes.
 *
 * Never: a serial number, a frequency or a count of the host's. */
#include "wall/plan/internal.h"

#include <string.h>
#include <sys/sysmacros.h>

enum { SYS_STEPS = 3 };

static const char sys_cpu[] = "/sys/devices/system/cpu";

static bool has_cpu(const struct host_machine *m, unsigned i) { return m->cpus[i / 64] >> (i % 64) & 1; }

/* The first one from `i` on; HOST_CPUS_MAX: none. */
static unsigned next_cpu(const struct host_machine *m, unsigned i)
{
        for (; i < HOST_CPUS_MAX; i = (i / 64 + 1) * 64)
                if (m->cpus[i / 64] >> (i % 64))
                        return i + (unsigned) __builtin_ctzll(m->cpus[i / 64] >> (i % 64));
        return HOST_CPUS_MAX;
}

static unsigned count_cpus(const struct host_machine *m)
{
        unsigned n = 0;
        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1))
                n++;
        return n;
}

/* ---- /proc/cpuinfo ---- */

/* Facts that every program can get from the processor, by cpuid or its identification registers. */
static bool is_of_processor(struct span key)
{
        static const char *const keys[] = {
                "vendor_id",    "cpu family",      "model",    "model name",       "stepping",
                "cache size",   "cpuid level",     "flags",    "clflush size",     "cache_alignment",
                "Features",     "address sizes",   "CPU part", "CPU architecture", "CPU variant",
                "CPU revision", "CPU implementer",
        };

        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                if (key.n == strlen(keys[i]) && memcmp(key.p, keys[i], key.n) == 0)
                        return true;

        return false;
}

/* The rows of the host's first processor that every box may see. */
static void processor_rows(const char *cpuinfo, struct buf *out)
{
        for (const char *at = cpuinfo, *end; (end = strchr(at, '\n')) && end > at; at = end + 1) {
                size_t n = strcspn(at, "\t:");
                if (is_of_processor(span_of(at, n)))
                        buf_add(out, at, (size_t) (end - at) + 1);
        }
}

static void write_cpuinfo(const struct builder *b, struct buf *out)
{
        AUTO_BUF(rows);
        const struct host_machine *m = b->r->machine;
        unsigned core = 0, cores = count_cpus(m);

        processor_rows(m->cpuinfo, &rows);

        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1)) {
                buf_printf(out, "processor\t: %u\n", i);
                buf_add(out, buf_str(&rows), rows.n);
                buf_printf(out, "physical id\t: 0\nsiblings\t: %u\ncore id\t\t: %u\ncpu cores\t: %u\n\n",
                           cores, core++, cores);
        }

        out->failed |= rows.failed;
}

/* ---- the others ---- */

#define NOTHING_USED                                                                                         \
        "Buffers:               0 kB\nCached:                0 kB\nSwapCached:            0 kB\n"            \
        "Active:                0 kB\nInactive:              0 kB\nSwapTotal:             0 kB\n"            \
        "SwapFree:              0 kB\nDirty:                 0 kB\nWriteback:             0 kB\n"            \
        "AnonPages:             0 kB\nMapped:                0 kB\nShmem:                 0 kB\n"            \
        "Slab:                  0 kB\nSReclaimable:          0 kB\nSUnreclaim:            0 kB\n"

static void write_meminfo(const struct builder *b, struct buf *out)
{
        uint64_t limit = b->p->limits.value[LIMIT_MEMORY], all = b->r->machine->memory;
        unsigned long long kb = (limit < all || all == 0 ? limit : all) / 1024;

        buf_printf(
                out,
                "MemTotal:       %8llu kB\nMemFree:        %8llu kB\nMemAvailable:   %8llu kB\n" NOTHING_USED,
                kb, kb, kb);
}

static void write_stat(const struct builder *b, struct buf *out)
{
        const struct host_machine *m = b->r->machine;
        buf_puts(out, "cpu  0 0 0 0 0 0 0 0 0 0\n");
        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1))
                buf_printf(out, "cpu%u 0 0 0 0 0 0 0 0 0 0\n", i);

        buf_printf(out,
                   "intr 0\nctxt 0\nbtime %lld\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n"
                   "softirq 0 0 0 0 0 0 0 0 0 0 0\n",
                   (long long) m->booted_s);
}

/* At the start of the box; idle time of the processors is not revealed. */
static void write_uptime(const struct builder *b, struct buf *out)
{
        uint64_t cs = b->r->machine->up_cs;
        buf_printf(out, "%llu.%02u 0.00\n", (unsigned long long) cs / 100, (unsigned) (cs % 100));
}

static void write_version(const struct builder *b, struct buf *out)
{
        const struct host_machine *m = b->r->machine;
        buf_printf(out, "Linux version %s (" BOX_USER "@box) %s\n", m->release, m->version);
}

/* ---- of a `gpu` door to NVIDIA's ---- */

static const char nvidia[] = "/dev/nvidia";

/* Its libraries look up the number of nvidia-uvm there. */
static void write_devices(const struct builder *b, struct buf *out)
{
        for (size_t i = 0; i < b->door_count; i++)
                for (size_t k = 0; k < b->r->seen[i].node_count; k++) {
                        const struct plan_node *n = &b->r->seen[i].nodes[k];
                        if (n->seen.device && strncmp(n->path, nvidia, strlen(nvidia)) == 0)
                                buf_printf(out, "%s%3u %s\n", out->n ? "" : "Character devices:\n",
                                           major(n->seen.device), strrchr(n->path, '/') + 1);
                }
}

/* Without it they try to make the nodes anew, as the owner and mode differ from what they take for right. */
static void write_params(const struct builder *b, struct buf *out)
{
        write_devices(b, out);
        if (out->n > 0) {
                out->n = 0;
                buf_puts(out,
                         "ModifyDeviceFiles: 0\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\n");
        }
}

static const char no_paging[] =
        "pgpgin 0\npgpgout 0\npswpin 0\npswpout 0\npgfault 0\npgmajfault 0\noom_kill 0\n";

static const struct {
        const char *path;
        void (*write)(const struct builder *, struct buf *);
        const char *text;
} files[] = {
        { "/proc/cpuinfo", write_cpuinfo, NULL },
        { "/proc/devices", write_devices, NULL },
        { "/proc/diskstats", NULL, "" },
        { "/proc/driver/nvidia/params", write_params, NULL },
        { "/proc/filesystems", NULL, "nodev\tproc\nnodev\ttmpfs\nnodev\tdevpts\n" },
        { "/proc/loadavg", NULL, "0.00 0.00 0.00 1/1 1\n" },
        { "/proc/meminfo", write_meminfo, NULL },
        { "/proc/stat", write_stat, NULL },
        { PLAN_UPTIME, write_uptime, NULL },
        { "/proc/version", write_version, NULL },
        { "/proc/vmstat", NULL, no_paging },
};

size_t machine_steps(const struct plan_request *r)
{
        return r->machine ? sizeof files / sizeof *files + SYS_STEPS + count_cpus(r->machine) : 0;
}

/* ---- /sys/devices/system/cpu ---- */

/* "0-3,8", as the kernel writes it. */
static void write_list(const struct host_machine *m, struct buf *out)
{
        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1)) {
                unsigned last = i;
                while (last + 1 < HOST_CPUS_MAX && has_cpu(m, last + 1))
                        last++;
                buf_printf(out, last > i ? "%s%u-%u" : "%s%u", out->n ? "," : "", i, last);
                i = last;
        }

        buf_putc(out, '\n');
}

/* Programs number processors up to the last possible one: so none beyond it exists. */
static void write_possible(const struct host_machine *m, struct buf *out)
{
        unsigned last = 0;
        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1))
                last = i;
        buf_printf(out, last ? "0-%u\n" : "%u\n", last);
}

static void keep_text(struct builder *b, enum step_kind kind, const char *path, const struct buf *text)
{
        b->a->failed |= text->failed;
        (void) build_step(b, kind, path, arena_str(b->a, buf_str(text)), 0);
}

static void add_sys(struct builder *b)
{
        AUTO_BUF(online);
        AUTO_BUF(possible);
        const struct host_machine *m = b->r->machine;

        write_list(m, &online);
        write_possible(m, &possible);

        keep_text(b, STEP_FILE, "/sys/devices/system/cpu/online", &online);
        if (strcmp(buf_str(&online), buf_str(&possible)) == 0)
                (void) build_step(b, STEP_LINK, "/sys/devices/system/cpu/possible", "online", 0);
        else
                keep_text(b, STEP_FILE, "/sys/devices/system/cpu/possible", &possible);

        (void) build_step(b, STEP_LINK, "/sys/devices/system/cpu/present", "possible", 0);

        /* glibc before 2.35 counts them. */
        for (unsigned i = next_cpu(m, 0); i < HOST_CPUS_MAX; i = next_cpu(m, i + 1))
                (void) build_step(b, STEP_DIR, arena_printf(b->a, "%s/cpu%u", sys_cpu, i), NULL, 0);

        (void) build_rule(b, sys_cpu, RIGHT_READ, false);
}

void build_machine(struct builder *b)
{
        if (!(b->p->local & LOCAL_PROC) || !b->r->machine)
                return;

        AUTO_BUF(text);
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
                text.n = 0;
                if (files[i].write)
                        files[i].write(b, &text);
                else
                        buf_puts(&text, files[i].text);
                if (text.n > 0 || files[i].text)
                        keep_text(b, STEP_COVER, files[i].path, &text);
        }

        if (!door_any_under(b, "/sys"))
                add_sys(b);
}
