/* SPDX-License-Identifier: MIT */
/* selftest/probe/try_secrets.c - the usual locations of secrets: home directories, /etc, /run, the
 * environment, /proc. A location is reached if it opens, or if its existence can be detected. */
#include "base/variable.h"
#include "selftest/probe/probe_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int reach_one(struct probe_result *r, const char *path)
{
        int o = by_open(r, path, O_RDONLY);
        struct stat st;
        if (o == PROBE_ESCAPED && is_way(path)) {
                r->effect[0] = '\0';
                return held(r, "%s is only the way to a door", path);
        }

        if (o == PROBE_HELD && r->sys != ENOENT && lstat(path, &st) == 0)
                return PROBE_HELD; /* seen and denied: another probe reports that it is seen */

        return o;
}

static int reach_all(struct probe_result *r, const char *home)
{
        char path[512];
        for (const char *const *at = r->probe->paths; *at; at++) {
                int len = snprintf(path, sizeof path, "%s%s%s", home, home[0] ? "/" : "", *at);
                if (len < 0 || (size_t) len >= sizeof path)
                        continue; /* a home too long to have such a file in it */
                if (reach_one(r, path) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        }

        return PROBE_HELD;
}

/* The caller's home, root's, and every one in /home but the box's own. */
static int in_homes(struct probe_result *r)
{
        char home[512];
        if (r->world->home[0] && reach_all(r, r->world->home) == PROBE_ESCAPED)
                return PROBE_ESCAPED;

        if (reach_all(r, "/root") == PROBE_ESCAPED || reach_all(r, canary(r, "home")) == PROBE_ESCAPED)
                return PROBE_ESCAPED; /* the canary's home has one of each kind, so no list is tried in vain
                                       */
        DIR *d = opendir("/home");
        for (struct dirent *e; d && (e = readdir(d));) {
                if (e->d_name[0] == '.' || strcmp(e->d_name, "box") == 0)
                        continue;
                (void) snprintf(home, sizeof home, "/home/%s", e->d_name);
                if (reach_all(r, home) == PROBE_ESCAPED)
                        break;
        }

        if (d)
                (void) closedir(d);

        if (r->outcome == PROBE_ESCAPED)
                return PROBE_ESCAPED;

        return held(r, "none of these places opens in any home (the last: %s)", errno_name(r->sys));
}

static int in_system(struct probe_result *r)
{
        if (reach_all(r, "") == PROBE_ESCAPED)
                return PROBE_ESCAPED;
        return held(r, "none of these places opens (the last: %s)", errno_name(r->sys));
}

static int homes_listed(struct probe_result *r)
{
        DIR *d = opendir("/home");
        if (!d)
                return refused(r, "opendir /home");

        for (struct dirent *e; (e = readdir(d));) {
                if (e->d_name[0] == '.' || strcmp(e->d_name, "box") == 0)
                        continue;
                (void) snprintf(r->effect, sizeof r->effect, "read /home/%s", e->d_name);
                if (is_way(r->effect + 5)) {
                        r->effect[0] = '\0';
                        continue;
                }
                (void) closedir(d);
                return escaped(r, "%s is visible", r->effect + 5);
        }

        (void) closedir(d);
        return held(r, "/home holds only the box's own");
}

static int work_dir(struct probe_result *r)
{
        struct stat st;
        if (!r->world->cwd[0])
                return cannot_tell(r, "the caller's directory is not known");

        int o = by_open(r, r->world->cwd, O_RDONLY | O_DIRECTORY);
        if (o == PROBE_ESCAPED && stat(r->world->cwd, &st) == 0 && (int64_t) st.st_ino != r->world->cwd_inode)
                return held(r, "another directory has its name here");

        return o;
}

extern char **environ;

static int env_token(struct probe_result *r)
{
        for (char **v = environ; *v; v++)
                if (r->world->token[0] && strstr(*v, r->world->token))
                        return escaped(r, "the caller's variable %.*s came along", (int) strcspn(*v, "="),
                                       *v);
        return held(r, "no variable holds the caller's token");
}

/* Not secrets, but ways to a process that has them, or into a program that starts. */
static bool leads_out(const char *name)
{
        static const char *const words[] = { "SSH_AUTH",      "DBUS_",      "XDG_RUNTIME", "DISPLAY",
                                             "WAYLAND",       "KUBERNETES", "AWS_",        "DOCKER_HOST",
                                             "NOTIFY_SOCKET", "LD_PRELOAD", "LD_LIBRARY" };
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (strcasestr(name, words[i]))
                        return true;

        return false;
}

/* Names that a scanner would look for. The policy may set such a variable on purpose: then the host reports
 * that. */
static int env_names(struct probe_result *r)
{
        for (char **v = environ; *v; v++) {
                char name[64];
                (void) snprintf(name, sizeof name, "%.*s", (int) strcspn(*v, "="), *v);
                if (!variable_looks_secret(name, strlen(name)) && !leads_out(name))
                        continue;
                (void) snprintf(r->effect, sizeof r->effect, "env %s", name);
                return escaped(r, "the variable %s is set", name);
        }

        return held(r, "no variable has a secret's or a socket's name");
}

static int proc_environs(struct probe_result *r)
{
        char path[64];
        for (int pid = 1; pid < 400; pid++) {
                if (pid == getpid() || pid == getppid())
                        continue;
                (void) snprintf(path, sizeof path, "/proc/%d/environ", pid);
                if (by_open(r, path, O_RDONLY) == PROBE_ESCAPED)
                        return PROBE_ESCAPED;
        }

        (void) snprintf(path, sizeof path, "/proc/%lld/environ", (long long) r->world->bystander);
        return by_open(r, path, O_RDONLY);
}

static const struct probe rows[] = {
#define CLASS                    PROBE_SECRETS
#define SECRETS                  "secrets of the caller can be read"
#define SECRET(name, layers, fn) ROW(name, SECRETS, layers, fn)
/* Below every home directory. */
#define IN_HOMES(name, ...) STRINGS(name, SECRETS, "mount,landlock", in_homes, __VA_ARGS__)
        IN_HOMES("no keys in any home", ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/id_ecdsa", ".ssh/config",
                 ".ssh/authorized_keys", ".ssh/known_hosts", ".gnupg", ".gnupg/private-keys-v1.d",
                 ".pki/nssdb"),
        IN_HOMES("no cloud credentials in any home", ".aws/credentials", ".aws/config", ".config/gcloud",
                 ".config/gcloud/credentials.db", ".azure", ".kube/config", ".config/doctl/config.yaml",
                 ".oci/config", ".terraform.d/credentials.tfrc.json", ".vault-token",
                 ".config/hcloud/cli.toml", ".fly/config.yml"),
        IN_HOMES("no tool credentials in any home", ".docker/config.json", ".config/containers/auth.json",
                 ".netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".git-credentials", ".config/git/credentials",
                 ".config/gh/hosts.yml", ".config/glab-cli/config.yml", ".cargo/credentials.toml",
                 ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".composer/auth.json",
                 ".config/rclone/rclone.conf", ".s3cfg", ".pgpass", ".my.cnf", ".env"),
        IN_HOMES("no agent credentials in any home", ".claude/.credentials.json", ".claude.json",
                 ".codex/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot", ".cursor",
                 ".openai", ".config/anthropic", ".huggingface/token", ".cache/huggingface/token"),
        IN_HOMES("no browser or password store in any home", ".mozilla/firefox", ".config/google-chrome",
                 ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".thunderbird",
                 ".local/share/keyrings", ".password-store", ".config/keepassxc", ".local/share/kwalletd",
                 ".config/Bitwarden", ".config/1Password"),
        IN_HOMES("no shell history in any home", ".bash_history", ".zsh_history", ".python_history",
                 ".psql_history", ".mysql_history", ".node_repl_history", ".lesshst", ".viminfo",
                 ".local/share/fish/fish_history", ".wget-hsts"),
        STRINGS("no secret of the system in /etc", SECRETS, "mount,landlock", in_system, "/etc/shadow",
                "/etc/gshadow", "/etc/sudoers", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ed25519_key",
                "/etc/ssh/sshd_config", "/etc/ssl/private", "/etc/kubernetes/admin.conf",
                "/etc/rancher/k3s/k3s.yaml", "/etc/krb5.keytab", "/etc/machine-id", "/etc/fstab",
                "/etc/wireguard", "/etc/NetworkManager/system-connections", "/etc/letsencrypt",
                "/etc/docker/key.json", "/etc/crontab", "/etc/environment"),
        STRINGS("no secret in /run, /var and /tmp", SECRETS, "mount,landlock", in_system,
                "/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets", "/run/credentials",
                "/run/user/0", "/run/user/1000", "/run/containerd", "/var/lib/docker", "/var/lib/kubelet",
                "/var/lib/cloud/instance/user-data.txt", "/var/lib/systemd/random-seed",
                "/var/lib/postgresql", "/var/lib/mysql", "/var/log/auth.log", "/var/log/syslog",
                "/var/spool/cron", "/var/backups", "/root", "/boot", "/sys/firmware", "/tmp/ssh-agent",
                "/var/tmp/krb5cc_0", "/tmp/krb5cc_1000"),
        SECRET("no other home is listed", "mount,landlock", homes_listed),
        SECRET("the caller's working directory is not here", "mount,landlock", work_dir),
        SECRET("no variable of the caller came along", "environment", env_token),
        SECRET("no variable looks like a secret or a socket", "environment", env_names),
        SECRET("no other process's environment", "proc,pid,landlock", proc_environs),
        READS("no list of keys", SECRETS, "mount,landlock,proc", "/proc/keys", "/proc/key-users"),
};
const struct probe_list probes_secrets = PROBE_LIST(rows);
