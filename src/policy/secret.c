/* SPDX-License-Identifier: MIT */
/* policy/secret.c - where keys, tokens, agents and the private life of a person usually lie. One table for
 * the lints, for `why` and for what is never learned. Names only: what a file holds is not looked at. */
#include "policy/internal.h"

enum match {
        PART,   /* whole components, anywhere in the path */
        NAME,   /* the last component */
        SUFFIX, /* how the last component ends */
        TREE,   /* this absolute path and all below it */
        ONE     /* this absolute path alone */
};

struct row {
        enum match how;
        const char *text;
};

static const struct row keys[] = {
        { PART, ".ssh" },        { PART, ".gnupg" },
        { PART, ".pki" },        { NAME, "id_rsa" },
        { NAME, "id_dsa" },      { NAME, "id_ed25519" },
        { NAME, "id_ecdsa" },    { SUFFIX, ".pem" },
        { SUFFIX, ".key" },      { SUFFIX, ".p12" },
        { SUFFIX, ".pfx" },      { SUFFIX, ".keystore" },
        { SUFFIX, ".kdbx" },     { TREE, "/etc/ssl/private" },
        { TREE, "/etc/ssh" },    { TREE, "/etc/letsencrypt" },
        { NAME, "key.json" },    { TREE, "/etc/wireguard" },
        { NAME, "krb5.keytab" }, { TREE, "/etc/kubernetes" },
};

static const struct row tokens[] = {
        { PART, ".aws" },
        { PART, ".azure" },
        { PART, ".kube" },
        { PART, ".docker" },
        { PART, ".oci" },
        { PART, ".fly" },
        { PART, ".terraform.d" },
        { PART, ".config/gcloud" },
        { PART, ".config/gh" },
        { PART, ".config/glab-cli" },
        { PART, ".config/op" },
        { PART, ".config/doctl" },
        { PART, ".config/hcloud" },
        { PART, ".config/containers" },
        { PART, ".config/rclone" },
        { PART, ".config/github-copilot" },
        { PART, ".config/anthropic" },
        { PART, ".config/git/credentials" },
        { PART, ".claude" },
        { PART, ".codex" },
        { PART, ".gemini" },
        { PART, ".cursor" },
        { PART, ".openai" },
        { PART, ".huggingface" },
        { PART, ".cache/huggingface/token" },
        { PART, ".m2/settings.xml" },
        { PART, ".gradle/gradle.properties" },
        { PART, ".composer/auth.json" },
        { PART, ".cargo/credentials.toml" },
        { PART, ".gem/credentials" },
        { NAME, ".claude.json" },
        { NAME, ".vault-token" },
        { NAME, ".netrc" },
        { NAME, ".pgpass" },
        { NAME, ".my.cnf" },
        { NAME, ".s3cfg" },
        { NAME, ".git-credentials" },
        { NAME, ".pypirc" },
        { NAME, ".npmrc" },
        { NAME, ".yarnrc.yml" },
        { NAME, ".env" },
        { NAME, ".htpasswd" },
        { NAME, "credentials" },
        { NAME, "credentials.json" },
        { NAME, "shadow" },
        { NAME, "gshadow" },
        { TREE, "/run/secrets" },
        { TREE, "/var/run/secrets" },
        { TREE, "/run/credentials" },
        { TREE, "/etc/rancher" },
        { TREE, "/etc/NetworkManager" },
        { ONE, "/var/lib/cloud/instance/user-data.txt" },
        { TREE, "/var/tmp/krb5cc_0" },
        { TREE, "/tmp/krb5cc_1000" },
};

static const struct row stores[] = {
        { PART, ".password-store" },        { PART, ".mozilla" },
        { PART, ".thunderbird" },           { PART, ".config/google-chrome" },
        { PART, ".config/chromium" },       { PART, ".config/BraveSoftware" },
        { PART, ".config/microsoft-edge" }, { PART, ".config/keepassxc" },
        { PART, ".config/Bitwarden" },      { PART, ".config/1Password" },
        { PART, ".local/share/keyrings" },  { PART, ".local/share/kwalletd" },
};

static const struct row histories[] = {
        { SUFFIX, "_history" },
        { NAME, ".lesshst" },
        { NAME, ".viminfo" },
        { NAME, ".wget-hsts" },
};

/* Whoever talks to these acts as somebody else. */
static const struct row agents[] = {
        { PART, "ssh-agent" },       { NAME, "docker.sock" },       { NAME, "podman.sock" },
        { NAME, "containerd.sock" }, { NAME, "system_bus_socket" }, { PART, ".X11-unix" },
        { TREE, "/run/user" },       { TREE, "/run/containerd" },   { TREE, "/run/docker" },
        { TREE, "/run/dbus" },       { TREE, "/tmp/ssh-agent" },    { SUFFIX, ".gpg-agent" },
};

/* What tells about the host or other people, and what no program of a task needs. */
static const struct row host[] = {
        { NAME, "sudoers" },
        { ONE, "/root" },
        { ONE, "/home" },
        { TREE, "/boot" },
        { TREE, "/etc/sudoers.d" },
        { ONE, "/etc/machine-id" },
        { ONE, "/etc/fstab" },
        { ONE, "/etc/crontab" },
        { ONE, "/etc/environment" },
        { TREE, "/var/log" },
        { TREE, "/var/backups" },
        { TREE, "/var/spool/cron" },
        { TREE, "/var/lib/docker" },
        { TREE, "/var/lib/mysql" },
        { TREE, "/var/lib/kubelet" },
        { TREE, "/var/lib/postgresql" },
        { ONE, "/var/lib/systemd/random-seed" },
};

static const struct row kernel[] = {
        { TREE, "/sys" },
        { TREE, "/proc" },
        { TREE, "/dev" },
        { TREE, "/lib/modules" },
        { TREE, "/usr/lib/modules" },
};

static const struct {
        const char *kind;
        const struct row *rows;
        size_t count;
        bool lint; /* a door over it is told by W122 */
} groups[] = {
        { "keys", keys, COUNT(keys), true },          { "tokens", tokens, COUNT(tokens), true },
        { "passwords", stores, COUNT(stores), true }, { "history", histories, COUNT(histories), true },
        { "agent", agents, COUNT(agents), false },    { "host", host, COUNT(host), false },
        { "kernel", kernel, COUNT(kernel), false },
};

/* Certificates that everybody has are no keys: where distributions keep the roots that they trust. */
static bool is_public(const char *path)
{
        static const char *const trees[] = { "/usr", "/etc/ssl/certs", "/etc/ca-certificates",
                                             "/etc/pki/ca-trust", "/var/lib/ca-certificates" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (path_inside(trees[i], path))
                        return true;
        return false;
}

static bool fits(const struct row *r, const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        size_t n = strlen(r->text), k = strlen(name);
        switch (r->how) {
        case PART:
                return path_has_part(path, r->text);
        case NAME:
                return strcmp(name, r->text) == 0;
        case SUFFIX:
                return k >= n && strcmp(name + k - n, r->text) == 0 && !is_public(path);
        case TREE:
                return path_inside(r->text, path);
        case ONE:
                return strcmp(r->text, path) == 0;
        }
        return false;
}

static const char *kind_of(const char *path, bool lint_only)
{
        for (size_t g = 0; g < COUNT(groups); g++)
                for (size_t i = 0; i < groups[g].count; i++)
                        if ((groups[g].lint || !lint_only) && fits(&groups[g].rows[i], path))
                                return groups[g].kind;
        return NULL;
}

const char *policy_secret_kind(const char *path) { return kind_of(path, false); }
bool policy_holds_secrets(const char *path) { return kind_of(path, true) != NULL; }

/* The directory that such a part lies in: all of them are behind a door to ".config". */
static bool is_above(const struct row *r, const char *path)
{
        size_t k = strlen(path);
        for (const char *at = r->how == PART ? r->text : ""; (at = strchr(at, '/')); at++) {
                size_t n = (size_t) (at - r->text);
                if (k > n && path[k - n - 1] == '/' && memcmp(path + k - n, r->text, n) == 0)
                        return true;
        }
        return false;
}

static bool holds(const struct row *r, const char *path) { return fits(r, path) || is_above(r, path); }

/* Places of the system's that have two names, as /run and /var/run, are the same to who names one of them. */
static bool names_tree(const struct row *rows, size_t count, const char *path)
{
        for (size_t i = 0; i < count; i++)
                if (rows[i].how == TREE && fits(&rows[i], path))
                        return true;
        return false;
}

bool policy_leads_to_secrets(const char *path, const char *real)
{
        for (size_t g = 0; g < COUNT(groups); g++)
                for (size_t i = 0; groups[g].lint && i < groups[g].count; i++) {
                        const struct row *r = &groups[g].rows[i];
                        if (holds(r, real) && !holds(r, path) &&
                            !(r->how == TREE && names_tree(groups[g].rows, groups[g].count, path)))
                                return true;
                }
        return false;
}
