/* SPDX-License-Identifier: MIT */
/* policy/lint/hint.c - lines that are never proposed to a user who only wants a command to work: keys and
 * tokens, start files, whole homes, directories of the system, metadata services. Pure, by names alone. */
#include "policy/internal.h"

/* Writing below these is never proposed. */
static const char *const system_trees[] = { "/usr", "/bin",  "/sbin", "/lib",     "/lib32",   "/lib64",
                                            "/etc", "/boot", "/opt",  "/var/lib", "/var/log", "/var/run",
                                            "/run", "/sys",  "/proc", "/dev",     "/snap" };
/* These as a whole are never proposed. */
static const char *const system_tops[] = { "/",        "/etc",  "/var",  "/var/lib", "/usr",   "/run",
                                           "/var/run", "/opt",  "/boot", "/mnt",     "/media", "/srv",
                                           "/home",    "/root", "/sys",  "/proc",    "/dev" };

static bool is_home(const char *path, const char *home)
{
        bool of_somebody = strncmp(path, "/home/", 6) == 0 && path[6] && !strchr(path + 6, '/');
        bool above = home && home[0] == '/' && home[1] && path_inside(path, home);
        return of_somebody || above || strcmp(path, "/root") == 0 || strcmp(path, "/home") == 0;
}

static bool is_system(const struct effect *f)
{
        for (size_t i = 0; i < COUNT(system_tops); i++)
                if (strcmp(system_tops[i], f->target) == 0)
                        return true;

        bool gpu = policy_gpu_covers("/dev/gpu", f->target);
        for (size_t i = 0; f->kind == EFFECT_WRITE && !gpu && i < COUNT(system_trees); i++)
                if (path_inside(system_trees[i], f->target))
                        return true;

        return false;
}

enum effect_reason policy_never_hinted(const struct effect *f, const char *home)
{
        bool file = f->kind == EFFECT_READ || f->kind == EFFECT_WRITE || f->kind == EFFECT_SOCK;
        if (!file || !f->target)
                return REASON_NONE;

        enum effect_reason secret = policy_secret_reason(f->target);
        if (is_home(f->target, home))
                return REASON_HOME;

        if (secret && secret != REASON_HOST_FILES)
                return secret;

        if (policy_is_start(f->target, f->kind == EFFECT_WRITE))
                return REASON_START;

        return is_system(f) ? REASON_SYSTEM : REASON_NONE;
}

bool policy_names_metadata(const char *destination)
{
        static const char *const hosts[] = { "169.254.",   "100.100.100.200",          "[fe80:",
                                             "[fd00:ec2:", "metadata.google.internal", "metadata.goog" };
        for (size_t i = 0; i < COUNT(hosts); i++)
                if (strstr(destination, hosts[i]))
                        return true;
        return false;
}
