/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_execution.c - executes files that the box wrote. Every attempt runs the same tiny
 * program, which only exits with status 77; a door that grants execution of written files makes it run, and
 * the table then reports that. */
#include "selftest/probe/probe_internal.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t probe_tiny_program(unsigned char *buf, size_t cap)
{
#ifdef __x86_64__
        static const unsigned char code[] = { 0xbf, 77, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05 };
        enum { MACHINE = EM_X86_64 };
#else
        static const uint32_t code[] = { 0xd28009a0, 0xd2800ba8, 0xd4000001 };
        enum { MACHINE = EM_AARCH64 };
#endif
        const uint64_t base = 0x400000, at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

        Elf64_Ehdr e = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                         .e_type = ET_EXEC,
                         .e_machine = MACHINE,
                         .e_version = EV_CURRENT,
                         .e_entry = base + at,
                         .e_phoff = sizeof e,
                         .e_ehsize = sizeof e,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1 };
        Elf64_Phdr p = { .p_type = PT_LOAD,
                         .p_flags = PF_R | PF_X,
                         .p_vaddr = base,
                         .p_paddr = base,
                         .p_filesz = at + sizeof code,
                         .p_memsz = at + sizeof code,
                         .p_align = 4096 };
        if (cap < at + sizeof code)
                return 0;

        memcpy(buf, &e, sizeof e);
        memcpy(buf + sizeof e, &p, sizeof p);
        memcpy(buf + at, code, sizeof code);
        return at + sizeof code;
}

static char *const no_words[] = { (char[]){ "probe" }, NULL };

static int write_program(char path[static 128], const char *name)
{
        unsigned char program[256];
        int fd = make_file(path, name, 0700);
        if (fd >= 0 && fd_write_all(fd, program, probe_tiny_program(program, sizeof program)) < 0)
                fd_close(&fd);
        return fd;
}

/* exec does not return when it works: the answer is written before, and taken back after. */
static void before_exec(struct probe_result *r, const char *path)
{
        (void) snprintf(r->effect, sizeof r->effect, "run %s", path);
        (void) escaped(r, "what was written to %.150s was run", path);
}

static int after_exec(struct probe_result *r, const char *path, const char *call)
{
        int sys = errno;
        (void) unlink(path);
        r->effect[0] = '\0';
        errno = sys;
        return refused(r, call);
}

static int written_file(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, write_program(path, "run"));
        if (fd < 0)
                return refused(r, "writing a program");

        fd_close(&fd); /* or the kernel returns ETXTBSY */
        before_exec(r, path);
        (void) execve(path, no_words, no_words + 1);
        return after_exec(r, path, "execve of a written file");
}

static int written_by_descriptor(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, write_program(path, "runfd"));
        if (fd < 0)
                return refused(r, "writing a program");

        fd_close(&fd);
        AUTO_FD(again, open(path, O_RDONLY | O_CLOEXEC));
        before_exec(r, path);
        (void) syscall(SYS_execveat, again, "", no_words, no_words + 1, AT_EMPTY_PATH);
        return after_exec(r, path, "execveat of a written file");
}

/* The file is not executable by its mode but the loader only maps it. */
static int by_loader(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, write_program(path, "loaded"));
        if (fd < 0)
                return refused(r, "writing a program");

        fd_close(&fd);

        /* The map is the loader's way in. If that is shut, handing it the file is too. */
        AUTO_FD(again, open(path, O_RDONLY | O_CLOEXEC));
        void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, again, 0);
        if (p == MAP_FAILED)
                return after_exec(r, path, "mapping a written file for execution");

        (void) unlink(path);
        return escaped(r, "a written file was mapped for execution: ld.so would run it");
}

static int map_then_protect(struct probe_result *r)
{
        char path[128];
        AUTO_FD(fd, write_program(path, "protected"));
        if (fd < 0)
                return refused(r, "writing a program");

        void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
        (void) unlink(path);
        if (p == MAP_FAILED)
                return refused(r, "mmap of a written file");

        return by_reply(r, mprotect(p, 4096, PROT_READ | PROT_EXEC),
                        "mprotect of a written file for execution");
}

static int by_script(struct probe_result *r)
{
        const char *text = r->probe->paths[0];
        char path[128];
        AUTO_FD(fd, make_file(path, "script", 0700));
        if (fd < 0)
                return refused(r, "writing a script");

        (void) !write(fd, text, strlen(text));
        fd_close(&fd);
        before_exec(r, path);
        (void) execve(path, no_words, no_words + 1);
        return after_exec(r, path, r->probe->what);
}

static int filled_memfd(struct probe_result *r, unsigned flags)
{
        unsigned char program[256];
        int fd = (int) syscall(SYS_memfd_create, "probe", flags);
        if (fd < 0)
                return (void) refused(r, "memfd_create"), -1;

        (void) fchmod(fd, 0700);
        (void) fd_write_all(fd, program, probe_tiny_program(program, sizeof program));
        return fd;
}

static int memfd_exec(struct probe_result *r)
{
        AUTO_FD(fd, filled_memfd(r, (unsigned) r->probe->call[0]));
        if (fd < 0)
                return (int) r->outcome;
        (void) escaped(r, "a memory file was run by execveat");
        (void) syscall(SYS_execveat, fd, "", no_words, no_words + 1, AT_EMPTY_PATH);
        return refused(r, "execveat of a memory file");
}

/* hugetlbfs does not support the seal that keeps a mode from becoming executable. It cannot be filled by
 * write(2), so the mode decides. */
static int memfd_huge_mode(struct probe_result *r, unsigned flags)
{
        AUTO_FD(fd, (int) syscall(SYS_memfd_create, "probe", flags));
        struct stat st;
        if (fd < 0)
                return refused(r, "memfd_create(MFD_HUGETLB)");

        (void) fchmod(fd, 0700);
        if (fstat(fd, &st) == 0 && (st.st_mode & 0111))
                return escaped(r, "a memory file of huge pages became executable by its mode");

        errno = EPERM;
        return refused(r, "fchmod of a memory file of huge pages");
}

static int memfd_huge(struct probe_result *r)
{
        int o = memfd_huge_mode(r, 0x4 /* MFD_HUGETLB */);
        return o == PROBE_ESCAPED ? o : memfd_huge_mode(r, 0x4 | 0x8 /* and MFD_NOEXEC_SEAL */);
}

static int memfd_by_proc(struct probe_result *r)
{
        char path[64];
        AUTO_FD(fd, filled_memfd(r, 0));
        if (fd < 0)
                return (int) r->outcome;

        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        (void) escaped(r, "a memory file was run through /proc");
        (void) execve(path, no_words, no_words + 1);
        return refused(r, "execve of a memory file through /proc");
}

static int memfd_map(struct probe_result *r)
{
        AUTO_FD(fd, filled_memfd(r, 0x8 /* MFD_NOEXEC_SEAL */));
        if (fd < 0)
                return (int) r->outcome;

        if (fchmod(fd, 0700) == 0)
                return escaped(r, "a memory file's mode became executable");

        void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
                return escaped(r, "a memory file was mapped for execution: ld.so would run it");

        return refused(r, "fchmod and mmap of a memory file");
}

/* An unnamed file in a writable place, run by its descriptor. */
static int unnamed_file(struct probe_result *r)
{
        unsigned char program[256];
        char path[64];
        const char *dir = writable_dir();
        AUTO_FD(fd, dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0700) : -1);
        if (fd < 0)
                return refused(r, "open with O_TMPFILE");

        (void) fd_write_all(fd, program, probe_tiny_program(program, sizeof program));
        (void) snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        AUTO_FD(again, open(path, O_RDONLY | O_CLOEXEC));
        fd_close(&fd);
        before_exec(r, dir);
        (void) syscall(SYS_execveat, again, "", no_words, no_words + 1, AT_EMPTY_PATH);
        return after_exec(r, "", "execveat of an unnamed file");
}

/* The kernel writes through /proc/PID/mem to pages that the process itself may not write: into the text of
 * its child. */
static int patch_text(struct probe_result *r)
{
        AUTO_FD(fd, open("/proc/self/mem", O_RDWR | O_CLOEXEC));
        if (fd < 0)
                return refused(r, "open /proc/self/mem for writing");
        unsigned char byte = *(const unsigned char *) (uintptr_t) &probe_tiny_program;
        ssize_t n = pwrite(fd, &byte, 1, (off_t) (uintptr_t) &probe_tiny_program);
        return by_reply(r, n, "writing its own text through /proc/self/mem");
}

/* A thread's name is the one file of /proc that can be written: neither its descriptor nor its path leads to
 * another. */
static int by_name(struct probe_result *r)
{
        static const char *const ways[] = { "/proc/self/fd/%d/../mem", "/proc/thread-self/comm/../mem",
                                            "/proc/self/task/../mem" };
        char path[64];
        AUTO_FD(fd, open("/proc/self/comm", O_RDWR | O_CLOEXEC));
        AUTO_FD(beside, fd < 0 ? -1 : openat(fd, "../mem", O_RDWR | O_CLOEXEC));
        if (beside >= 0)
                return escaped(r, "/proc/self/mem beside the name of a thread");

        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                (void) snprintf(path, sizeof path, ways[i], fd);
#pragma GCC diagnostic pop
                AUTO_FD(other, open(path, O_RDWR | O_CLOEXEC));
                if (other >= 0)
                        return escaped(r, "%s", path);
        }

        return by_write_open(r, "/proc/1/comm");
}

static const struct probe rows[] = {
#define CLASS                              PROBE_EXECUTION
#define WRITTEN(name, success, layers, fn) CLAIM(name, PROBE_EXECUTION, success, layers, fn, NOT_WITH_RUN_ANY)
#define WRITTEN_AS(name, success, layers, fn, ...)                                                           \
        WITH(name, PROBE_EXECUTION, success, layers, fn, NOT_WITH_RUN_ANY, __VA_ARGS__)
        WRITTEN("a written file is not run", "downloads can be run", "mount,landlock", written_file),
        WRITTEN("a written file is not run by descriptor", "downloads can be run", "mount,landlock",
                written_by_descriptor),
        WRITTEN("a written file is not loaded by ld.so", "downloads can be run", "mount,landlock", by_loader),
        WRITTEN("a written file is not made executable in memory", "downloads can be run", "mount",
                map_then_protect),
        WRITTEN_AS("a written script is not run", "downloads can be run", "mount,landlock", by_script,
                   .what = "execve of a written script",
                   .paths = (const char *const[]){ "#!/bin/sh\nexit 77\n" }),
        WRITTEN_AS("a script does not name the runtime as its interpreter",
                   "the runtime runs what the box wrote (CVE-2019-5736)", "mount,landlock", by_script,
                   .what = "execve of #!/proc/self/exe",
                   .paths = (const char *const[]){ "#!/proc/self/exe\n" }),
        WRITTEN("an unnamed file is not run", "downloads can be run", "mount,landlock", unnamed_file),
        WRITTEN("a memory file is not run", "programs without a file", "memfd-noexec,seccomp", memfd_exec),
        WRITTEN_AS("a memory file is not run that asks for it", "programs without a file",
                   "seccomp,memfd-noexec", memfd_exec, .call = { 0x10 /* MFD_EXEC */ }),
        ROW("a memory file of huge pages is not run", "programs without a file", "memfd-noexec,seccomp",
            memfd_huge),
        WRITTEN("a memory file is not run through /proc", "programs without a file", "memfd-noexec,seccomp",
                memfd_by_proc),
        WRITTEN("a memory file is not made executable", "programs without a file", "memfd-noexec,seccomp",
                memfd_map),
        ROW("text is not patched through /proc/self/mem", "granted programs are rewritten as they run",
            "mount,landlock", patch_text),
        ROW("a thread's name leads to no other file of /proc", "granted programs are rewritten as they run",
            "mount,landlock", by_name),
        WRITES("init's text is not patched", "the supervisor is rewritten", "proc,landlock,mount,pid",
               "/proc/1/mem"),
};
const struct probe_list probes_execution = PROBE_LIST(rows);
