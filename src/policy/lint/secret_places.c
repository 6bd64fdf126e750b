/* SPDX-License-Identifier: MIT */
/* policy/lint/secret_places.c - the usual paths of keys, tokens, agents and personal data. One table for
 * the lints, for `why` and for paths that are never learned. Names only: the content of a file is not
 * read. */
#include "policy/internal.h"

enum match {
        PART,   /* whole components, anywhere in the path */
        NAME,   /* the last component */
        PREFIX, /* how the last component begins */
        SUFFIX, /* how the last component ends */
        TREE,   /* this absolute path and all below it */
        ONE     /* this absolute path alone */
};

struct row {
        enum match how;
        const char *text;
};

static const struct row keys[] = {
        { SUFFIX, ".ppk" },       { SUFFIX, ".jks" },
        { SUFFIX, ".agekey" },    { SUFFIX, ".keytab" },
        { SUFFIX, ".kdb" },       { SUFFIX, ".psafe3" },
        { SUFFIX, ".ovpn" },      { SUFFIX, ".gpg" },
        { PART, ".config/sops" }, { PART, ".config/age" },
        { PART, ".age" },         { PART, ".step" },
        { PART, ".tsh" },         { PART, ".config/wireguard" },
        { PART, ".minisign" },    { PART, ".signify" },
        { NAME, "wallet.dat" },   { PREFIX, "UTC--" },
        { PART, ".ssh" },         { PART, ".gnupg" },
        { PART, ".pki" },         { NAME, "id_rsa" },
        { NAME, "id_dsa" },       { NAME, "id_ed25519" },
        { NAME, "id_ecdsa" },     { SUFFIX, ".pem" },
        { SUFFIX, ".key" },       { SUFFIX, ".p12" },
        { SUFFIX, ".pfx" },       { SUFFIX, ".keystore" },
        { SUFFIX, ".kdbx" },      { TREE, "/etc/ssl/private" },
        { TREE, "/etc/ssh" },     { TREE, "/etc/letsencrypt" },
        { NAME, "key.json" },     { TREE, "/etc/wireguard" },
        { NAME, "krb5.keytab" },  { TREE, "/etc/kubernetes" },
};

static const struct row tokens[] = {
        { PART, ".bluemix" },
        { PART, ".aliyun" },
        { PART, ".tccli" },
        { PART, ".linode" },
        { PART, ".config/linode-cli" },
        { PART, ".config/scw" },
        { PART, ".config/exoscale" },
        { PART, ".config/vultr-cli" },
        { PART, ".config/configstore" },
        { PART, ".config/firebase" },
        { PART, ".config/heroku" },
        { PART, ".config/netlify" },
        { PART, ".netlify" },
        { PART, ".vercel" },
        { PART, ".local/share/com.vercel.cli" },
        { PART, ".config/.wrangler" },
        { PART, ".wrangler" },
        { PART, ".cloudflared" },
        { PART, ".ngrok2" },
        { PART, ".config/ngrok" },
        { PART, ".config/stripe" },
        { PART, ".config/hub" },
        { PART, ".config/tea" },
        { PART, ".config/lab" },
        { PART, ".config/jira" },
        { PART, ".jira.d" },
        { PART, ".circleci" },
        { PART, ".travis" },
        { PART, ".buildkite-agent" },
        { PART, ".pulumi" },
        { PART, ".jfrog" },
        { PART, ".argocd" },
        { PART, ".config/argocd" },
        { PART, ".config/helm" },
        { PART, ".minikube" },
        { PART, ".databricks" },
        { PART, ".snowsql" },
        { PART, ".kaggle" },
        { PART, ".gsutil" },
        { PART, ".nuget/NuGet" },
        { PART, ".config/NuGet" },
        { PART, ".sbt/.credentials" },
        { PART, ".ivy2/.credentials" },
        { PART, ".lein/credentials.clj" },
        { PART, ".pub-cache/credentials.json" },
        { PART, ".config/dart" },
        { PART, ".config/pypoetry/auth.toml" },
        { PART, ".config/pip" },
        { PART, ".pip" },
        { PART, ".bundle/config" },
        { PART, ".config/composer/auth.json" },
        { PART, ".config/himalaya" },
        { PART, ".config/msmtp" },
        { PART, ".mutt" },
        { PART, ".config/mutt" },
        { PART, ".config/neomutt" },
        { PART, ".config/mbsync" },
        { PART, ".config/isync" },
        { PART, ".config/borg" },
        { PART, ".config/restic" },
        { PART, ".config/rbw" },
        { PART, ".config/atuin" },
        { PART, ".local/share/atuin" },
        { PART, ".config/tailscale" },
        { PART, ".config/filezilla" },
        { PART, ".config/FileZilla" },
        { PART, ".config/sqlcl" },
        { PART, ".config/hexchat" },
        { PART, ".irssi" },
        { PART, ".weechat" },
        { PART, ".config/weechat" },
        { PART, ".config/aider" },
        { PART, ".config/opencode" },
        { PART, ".local/share/opencode" },
        { PART, ".config/openai" },
        { PART, ".config/mistral" },
        { PART, ".continue" },
        { PART, ".replicate" },
        { PART, ".modal" },
        { PART, ".wandb" },
        { PART, ".expo" },
        { PART, ".sentryclirc" },
        { PART, ".ansible/vault" },
        { PART, ".config/sentry" },
        { PART, ".config/op" },
        { PART, ".1password" },
        { PART, ".config/vault" },
        { PART, ".vault" },
        { NAME, ".authinfo" },
        { NAME, ".authinfo.gpg" },
        { NAME, ".boto" },
        { NAME, ".databrickscfg" },
        { NAME, ".linode-cli" },
        { NAME, ".dockercfg" },
        { NAME, ".rclone.conf" },
        { NAME, "rclone.conf" },
        { NAME, ".msmtprc" },
        { NAME, ".fetchmailrc" },
        { NAME, ".mbsyncrc" },
        { NAME, ".offlineimaprc" },
        { NAME, ".getmailrc" },
        { NAME, ".muttrc" },
        { NAME, ".mylogin.cnf" },
        { NAME, ".terraformrc" },
        { NAME, ".tfrc" },
        { NAME, ".condarc" },
        { NAME, ".sentryclirc" },
        { NAME, ".wakatime.cfg" },
        { NAME, ".ngrok.yml" },
        { NAME, ".modal.toml" },
        { NAME, ".aider.conf.yml" },
        { NAME, ".google_authenticator" },
        { NAME, ".rhosts" },
        { NAME, ".vault_pass" },
        { NAME, ".vault_pass.txt" },
        { NAME, ".vault-pass" },
        { NAME, ".secrets" },
        { NAME, "secrets.yml" },
        { NAME, "secrets.yaml" },
        { NAME, "secrets.json" },
        { NAME, "secrets.toml" },
        { NAME, "secrets.env" },
        { NAME, "service-account.json" },
        { NAME, "service_account.json" },
        { NAME, "application_default_credentials.json" },
        { NAME, "client_secret.json" },
        { NAME, "token.json" },
        { NAME, ".envrc" },
        { NAME, ".smbcredentials" },
        { NAME, ".davfs2" },
        { NAME, "auth.json" },
        { NAME, ".pg_service.conf" },
        { NAME, "jupyter_server_config.json" },
        { NAME, ".snowflake" },
        { PREFIX, ".env." },
        { SUFFIX, ".tfvars" },
        { SUFFIX, ".tfstate" },
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
        { PART, ".bitcoin" },
        { PART, ".litecoin" },
        { PART, ".dogecoin" },
        { PART, ".ethereum" },
        { PART, ".electrum" },
        { PART, ".config/solana" },
        { PART, ".bitmonero" },
        { PART, ".monero" },
        { PART, ".near-credentials" },
        { PART, ".sui" },
        { PART, ".aptos" },
        { PART, ".foundry/keystores" },
        { PART, ".brownie" },
        { PART, ".config/Exodus" },
        { PART, ".config/Ledger Live" },
        { PART, ".config/atomic" },
        { PART, ".local/share/gopass" },
        { PART, ".config/gopass" },
        { PART, ".config/Signal" },
        { PART, ".config/Slack" },
        { PART, ".config/discord" },
        { PART, ".config/Microsoft" },
        { PART, ".config/teams-for-linux" },
        { PART, ".local/share/TelegramDesktop" },
        { PART, ".purple" },
        { PART, ".config/vivaldi" },
        { PART, ".config/opera" },
        { PART, ".librewolf" },
        { PART, ".config/evolution" },
        { PART, ".local/share/evolution" },
        { PART, ".config/geary" },
        { PART, ".config/Element" },
        { PART, ".config/remmina" },
        { PART, ".local/share/remmina" },
        { PART, ".vnc" },
        { PART, ".config/keybase" },
        { PART, ".local/share/keybase" },
        { PART, ".config/Authy Desktop" },
        { PART, ".config/enpass" },
        { PART, ".config/Proton" },
        { PART, ".config/protonmail" },
        { PART, ".config/KeePass" },
        { PART, ".password-store" },
        { PART, ".mozilla" },
        { PART, ".thunderbird" },
        { PART, ".config/google-chrome" },
        { PART, ".config/chromium" },
        { PART, ".config/BraveSoftware" },
        { PART, ".config/microsoft-edge" },
        { PART, ".config/keepassxc" },
        { PART, ".config/Bitwarden" },
        { PART, ".config/1Password" },
        { PART, ".local/share/keyrings" },
        { PART, ".local/share/kwalletd" },
};

static const struct row histories[] = {
        { SUFFIX, "_history" },
        { NAME, ".lesshst" },
        { NAME, ".viminfo" },
        { NAME, ".wget-hsts" },
};

/* Clients of these sockets act for another user. */
static const struct row agents[] = {
        { PART, "ssh-agent" },       { NAME, "docker.sock" },       { NAME, "podman.sock" },
        { NAME, "containerd.sock" }, { NAME, "system_bus_socket" }, { PART, ".X11-unix" },
        { TREE, "/run/user" },       { TREE, "/run/containerd" },   { TREE, "/run/docker" },
        { TREE, "/run/dbus" },       { TREE, "/tmp/ssh-agent" },    { SUFFIX, ".gpg-agent" },
};

/* Files about the host or other users, and files that no program of a task needs. */
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

/* Files that the host runs by itself. No hint proposes a door to them. */
static const struct row starts[] = {
        { PART, ".git/hooks" },       { PART, ".githooks" },
        { PART, ".git-hooks" },       { PART, ".husky" },
        { PART, ".bashrc.d" },        { PART, ".profile.d" },
        { PART, "profile.d" },        { PART, ".oh-my-zsh" },
        { PART, ".config/zsh" },      { PART, ".config/fish" },
        { PART, ".config/nushell" },  { PART, ".config/autostart" },
        { PART, ".config/systemd" },  { PART, ".config/environment.d" },
        { PART, "cron.d" },           { NAME, ".bashrc" },
        { NAME, ".bash_profile" },    { NAME, ".bash_login" },
        { NAME, ".bash_logout" },     { NAME, ".bash_aliases" },
        { NAME, ".bash_env" },        { NAME, ".profile" },
        { NAME, ".zshrc" },           { NAME, ".zshenv" },
        { NAME, ".zprofile" },        { NAME, ".zlogin" },
        { NAME, ".zlogout" },         { NAME, ".kshrc" },
        { NAME, ".mkshrc" },          { NAME, ".shrc" },
        { NAME, ".cshrc" },           { NAME, ".tcshrc" },
        { NAME, ".login" },           { NAME, ".xprofile" },
        { NAME, ".xinitrc" },         { NAME, ".xsession" },
        { NAME, ".xsessionrc" },      { NAME, ".xserverrc" },
        { NAME, ".pam_environment" }, { NAME, ".pythonrc" },
        { NAME, ".pythonrc.py" },     { NAME, "crontab" },
};
/* And what names programs that it runs: a hint may propose to read these. */
static const struct row settings[] = {
        { PART, ".git/config" }, { PART, ".config/git" }, { NAME, ".gitconfig" }, { NAME, ".vimrc" },
        { NAME, ".gvimrc" },     { NAME, ".exrc" },       { PART, ".vim" },       { PART, ".config/nvim" },
        { NAME, ".emacs" },      { PART, ".emacs.d" },    { NAME, ".tmux.conf" }, { NAME, ".screenrc" },
        { NAME, ".inputrc" },    { NAME, ".gdbinit" },    { NAME, ".mcp.json" },
};

static const struct row kernel[] = {
        { TREE, "/sys" },
        { TREE, "/proc" },
        { TREE, "/dev" },
        { TREE, "/lib/modules" },
        { TREE, "/usr/lib/modules" },
};

static const struct {
        enum effect_reason reason;
        const struct row *rows;
        size_t count;
        bool lint; /* a door over it is reported by W122 */
} groups[] = {
        { REASON_KEYS, keys, COUNT(keys), true },
        { REASON_TOKENS, tokens, COUNT(tokens), true },
        { REASON_PASSWORDS, stores, COUNT(stores), true },
        { REASON_HISTORY, histories, COUNT(histories), true },
        { REASON_AGENT, agents, COUNT(agents), false },
        { REASON_HOST_FILES, host, COUNT(host), false },
        { REASON_KERNEL, kernel, COUNT(kernel), false },
};

/* Public certificates are not keys: the directories in which distributions keep trusted roots. */
static bool is_public(const char *path)
{
        static const char *const trees[] = { "/usr", "/etc/ssl/certs", "/etc/ca-certificates",
                                             "/etc/pki/ca-trust", "/var/lib/ca-certificates" };
        for (size_t i = 0; i < COUNT(trees); i++)
                if (path_inside(trees[i], path))
                        return true;
        return false;
}

/* A template for another file: .env.example. */
static bool is_sample(const char *name)
{
        static const char *const ends[] = { ".example", ".sample", ".template", ".dist", ".defaults" };
        size_t k = strlen(name);
        for (size_t i = 0; i < COUNT(ends); i++)
                if (k > strlen(ends[i]) && strcmp(name + k - strlen(ends[i]), ends[i]) == 0)
                        return true;
        return false;
}

static bool row_fits(const struct row *r, const char *path)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        size_t n = strlen(r->text), k = strlen(name);
        switch (r->how) {
        case PART:
                return path_has_part(path, r->text);
        case NAME:
                return strcmp(name, r->text) == 0;
        case PREFIX:
                return k > n && strncmp(name, r->text, n) == 0 && !is_sample(name);
        case SUFFIX:
                return k >= n && strcmp(name + k - n, r->text) == 0 && !is_public(path);
        case TREE:
                return path_inside(r->text, path);
        case ONE:
                return strcmp(r->text, path) == 0;
        }
        return false;
}

static enum effect_reason reason_of(const char *path, bool lint_only)
{
        for (size_t g = 0; g < COUNT(groups); g++)
                for (size_t i = 0; i < groups[g].count; i++)
                        if ((groups[g].lint || !lint_only) && row_fits(&groups[g].rows[i], path))
                                return groups[g].reason;
        return REASON_NONE;
}

static bool any_fits(const struct row *rows, size_t n, const char *path)
{
        for (size_t i = 0; i < n; i++)
                if (row_fits(&rows[i], path))
                        return true;
        return false;
}

bool policy_is_start(const char *path, bool changes)
{
        return any_fits(starts, COUNT(starts), path) ||
               (changes && any_fits(settings, COUNT(settings), path));
}

/* A GPU's nodes have a door of their own. */
enum effect_reason policy_secret_reason(const char *path)
{
        return policy_gpu_covers("/dev/gpu", path) ? REASON_NONE : reason_of(path, false);
}

bool policy_holds_secrets(const char *path) { return reason_of(path, true) != REASON_NONE; }

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

static bool holds(const struct row *r, const char *path) { return row_fits(r, path) || is_above(r, path); }

/* System paths with two names, as /run and /var/run, are treated as one. */
static bool names_tree(const struct row *rows, size_t count, const char *path)
{
        for (size_t i = 0; i < count; i++)
                if (rows[i].how == TREE && row_fits(&rows[i], path))
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
