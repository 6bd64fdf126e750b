/* SPDX-License-Identifier: MIT */
/* policy/read/stock.c - the stock policies. Every entry is optional (?), because hosts differ; none of
 * them opens /home, /root, /var or /run, and of the network the agents' (stock_agents.c) their APIs alone. A
 * widening here widens every box that uses it: mention it in NEWS.md. */
#include "policy/internal.h"

static const char loader[] =
        "doc \"The loader and shared libraries that programs are linked to; no programs.\"\n"
        "read /usr/lib/x86_64-linux-gnu? /usr/lib/aarch64-linux-gnu? /usr/lib64? /lib64?\n"
        "read /lib/x86_64-linux-gnu? /lib/aarch64-linux-gnu?\n"
        "read /usr/lib/ld-linux-aarch64.so.1? /lib/ld-linux-aarch64.so.1? /lib64/ld-linux-x86-64.so.2?\n"
        "read /etc/ld.so.cache? /etc/alternatives?\n" /* libblas.so.3 leads through it */
        "read /usr/share/zoneinfo? /usr/lib/locale? /usr/share/locale?\n";

/* Programs, and configuration that they need to start or work, one row each with its reason, which `cordon
 * policy stock` prints. A row comes from a package, is readable by every account of the host, and never
 * holds a password or a key of an administrator: so neither /etc/gitconfig, npmrc, pip.conf, wgetrc,
 * environment nor maven's settings.xml, and of /etc/ssl never `private`. In the order of doors: every
 * start sorts them. */
#define SYSTEM_FILES                                                                                         \
        "read /bin?\n"                                                                                       \
        "read /etc/ImageMagick-6? /etc/ImageMagick-7? # its limits and delegates\n"                          \
        "read /etc/alternatives? # which of several programs a name is\n"                                    \
        "read /etc/chromium.d? # its start script reads it\n"                                                \
        "read /etc/crypto-policies? # OpenSSL and GnuTLS of Fedora fail without it\n"                        \
        "read /etc/debian_version? # installers ask which system this is\n"                                  \
        "read /etc/emacs? # an editor\n"                                                                     \
        "read /etc/fonts? # text on pictures and pages\n"                                                    \
        "read /etc/fpc-3.2.2.cfg? /etc/fpc.cfg? /etc/gnucobol? # compilers\n"                                \
        "read /etc/inputrc? # keys of terminals\n"                                                           \
        "read /etc/java-11-openjdk? /etc/java-17-openjdk? /etc/java-21-openjdk? # a JVM does not start "     \
        "without it\n"                                                                                       \
        "read /etc/java-25-openjdk? /etc/java-8-openjdk? # the same\n"                                       \
        "read /etc/ld.so.cache? /etc/localtime? # libraries, the time\n"                                     \
        "read /etc/matplotlibrc? # matplotlib does not start without it\n"                                   \
        "read /etc/maven/logging? /etc/maven/m2.conf? # mvn does not start without m2.conf\n"                \
        "read /etc/mime.types? # kinds of files\n"                                                           \
        "read /etc/nanorc? # an editor\n"                                                                    \
        "read /etc/os-release? # installers ask which system this is\n"                                      \
        "read /etc/papersize? # TeX\n"                                                                       \
        "read /etc/pki/ca-trust/extracted? /etc/pki/tls/certs? /etc/pki/tls/openssl.cnf? # TLS of Fedora\n"  \
        "read /etc/postgresql-common? # psql and initdb are started by a script that reads it\n"             \
        "read /etc/protocols? # getprotobyname, which clients and servers call\n"                            \
        "read /etc/python3? # debian_config, for scripts of packages\n"                                      \
        "read /etc/services? # getservbyname, which clients and servers call\n"                              \
        "read /etc/ssl/certs? /etc/ssl/openssl.cnf? # TLS libraries: the public roots and defaults\n"        \
        "read /etc/texmf? # TeX\n"                                                                           \
        "read /etc/timezone? # the name of the time zone: Java, Python\n"                                    \
        "read /etc/vim? # an editor\n"                                                                       \
        "read /etc/xml? # catalogs of XML tools\n"                                                           \
        "read /lib? /lib32? /lib64? /libx32? /sbin? /usr?\n"

static const char system_text[] =
        "doc \"The program files of this host and their configuration, read-only.\"\n" SYSTEM_FILES
        "run  any\n"
        "local loopback unix pty proc\n";

/* For `root IMAGE`, which brings its own program files. */
static const char image[] = "doc \"The programs of the image that is the box's root.\"\n"
                            "run  any\n"
                            "local loopback unix pty proc\n";

/* The same files for untrusted code: files that the box writes do not run, and `local` opens nothing. */
static const char strict[] =
        "doc \"base/system for code nobody trusts: what it writes does not run.\"\n" SYSTEM_FILES
        "run  /usr/? /bin/? /sbin/? /lib/? /lib32/? /lib64/? /libx32/?\n";

static const char python3[] =
        "doc \"The Python 3 of this host.\"\n"
        "use  base/loader\n"
        "run  python3? python3.9? python3.10? python3.11? python3.12? python3.13? python3.14?\n"
        "read /usr/lib/python3? /usr/lib/python3.9? /usr/lib/python3.10? /usr/lib/python3.11?\n"
        "read /usr/lib/python3.12? /usr/lib/python3.13? /usr/lib/python3.14?\n"
        "read /usr/local/lib/python3.9? /usr/local/lib/python3.10? /usr/local/lib/python3.11?\n"
        "read /usr/local/lib/python3.12? /usr/local/lib/python3.13? /usr/local/lib/python3.14?\n"
        "read /usr/share/python3? /etc/python3? /etc/python3.9? /etc/python3.10? /etc/python3.11?\n"
        "read /etc/python3.12? /etc/python3.13? /etc/python3.14? /etc/mime.types?\n"
        "read /etc/ssl/certs? /usr/share/ca-certificates? /etc/ssl/openssl.cnf?\n";

static const char node[] = "doc \"The Node.js and npm of this host.\"\n"
                           "use  base/loader\n"
                           "run  node? nodejs? npm? npx? sh? env?\n"
                           "read /usr/share/nodejs? /usr/lib/nodejs? /usr/lib/node_modules? "
                           "/usr/share/node_modules? /usr/share/npm?\n"
                           "read /usr/local/lib/node_modules? /etc/ssl/certs? /usr/share/ca-certificates? "
                           "/etc/ssl/openssl.cnf?\n";

static const char git[] = "doc \"The git of this host, with its helpers.\"\n"
                          "use  base/loader\n"
                          "run  git? sh? less? /usr/lib/git-core/? /usr/libexec/git-core/?\n"
                          "read /usr/lib/git-core? /usr/libexec/git-core? /usr/share/git-core?\n"
                          "read /etc/ssl/certs? /usr/share/ca-certificates?\n";

static const char build[] = "doc \"Compilers, headers and make of this host.\"\n"
                            "use  base/system\n";

static const char *const names[] = {
        "agent/aider",  "agent/claude", "agent/cline",    "agent/codex", "agent/crush",
        "agent/gemini", "agent/goose",  "agent/opencode", "agent/other", "agent/pi",
        "agent/qwen",   "base/build",   "base/git",       "base/image",  "base/loader",
        "base/node",    "base/python3", "base/strict",    "base/system",
};
static const char *const texts[] = {
        policy_agent_aider,
        policy_agent_claude,
        policy_agent_cline,
        policy_agent_codex,
        policy_agent_crush,
        policy_agent_gemini,
        policy_agent_goose,
        policy_agent_opencode,
        policy_agent_other,
        policy_agent_pi,
        policy_agent_qwen,
        build,
        git,
        image,
        loader,
        node,
        python3,
        strict,
        system_text,
};
_Static_assert(COUNT(names) == COUNT(texts), "a text for each name");

const char *const *policy_stock_names(size_t *ret_count)
{
        *ret_count = COUNT(names);
        return names;
}

/* Searches the texts word by word: in them every path follows a blank and ends in a question mark. */
static bool names_path(const char *text, const char *path)
{
        size_t n = strlen(path);
        for (const char *at = strstr(text, path); at; at = strstr(at + n, path))
                if (at > text && at[-1] == ' ' && at[n] == '?')
                        return true;
        return false;
}

/* Checked only if needed, not for every door: most boxes have `run any`. */
bool policy_shows_libraries(const struct door *d)
{
        const char *path = d->path;
        static const char *const with_named_programs[] = { loader, python3, node, git };
        if (d->kind != DOOR_READ)
                return false;

        if (!path_under(path, "/usr") && !path_under(path, "/etc") && strncmp(path, "/lib", 4) != 0)
                return false; /* most doors, at once */

        for (size_t i = 0; i < COUNT(with_named_programs); i++)
                if (names_path(with_named_programs[i], path))
                        return true;

        return false;
}

const char *policy_stock_text(const char *name)
{
        for (size_t i = 0; i < COUNT(names); i++)
                if (strcmp(names[i], name) == 0)
                        return texts[i];
        return NULL;
}
