/* SPDX-License-Identifier: MIT */
/* base/usual_dirs.c - names that people and build tools give to directories. */
#include "base/str.h"

#include <string.h>

bool str_names_directory(const char *path)
{
        static const char *const names[] = {
                ".cache",        ".gradle",       ".mypy_cache",  ".next",   ".nuxt",   ".output",
                ".parcel-cache", ".pytest_cache", ".ruff_cache",  ".tox",    ".turbo",  ".venv",
                "__pycache__",   "_build",        "artifacts",    "bin",     "build",   "builds",
                "cache",         "checkpoints",   "coverage",     "data",    "debug",   "dist",
                "docs",          "downloads",     "figures",      "htmlcov", "images",  "lib",
                "logs",          "models",        "node_modules", "obj",     "outputs", "plots",
                "public",        "release",       "reports",      "results", "site",    "site-packages",
                "target",        "test-results",  "tmp",          "uploads", "vendor",  "venv",
        };
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(names[i], name) == 0)
                        return true;
        return name != path && name[0] == '\0'; /* DIR/ */
}
