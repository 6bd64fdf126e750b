/* SPDX-License-Identifier: MIT */
/* policy/from/from_json.c - settings of sandbox-runtime and Claude Code, and devcontainer.json. */
#include "policy/from/from.h"

#include <string.h>

static struct span string_of(const struct json *v)
{
        return v && v->type == JSON_STRING ? span_of(v->str, v->len) : span_of("", 0);
}

/* The strings of a list, one after the other. */
static const struct json *first_string(const struct json *object, const char *key)
{
        const struct json *list = object ? json_get(object, key) : NULL;
        return list && list->type == JSON_ARRAY ? list->child : NULL;
}

/* ---- sandbox-runtime, and the part of Claude Code's settings that has its form ---- */

static void read_network(struct from *f, const struct json *net)
{
        for (const struct json *v = first_string(net, "allowedDomains"); v; v = v->next)
                from_host(f, string_of(v));

        if (first_string(net, "allowedDomains"))
                from_wide(f, span_str("allowedDomains"),
                          "permits any request to the host, uploads with a stranger's account as well; `net "
                          "https://HOST/PATH/** GET` is narrower");

        for (const struct json *v = first_string(net, "deniedDomains"); v; v = v->next)
                from_lost(f, string_of(v), "denied unless a net line covers it: check the patterns");

        for (const struct json *v = first_string(net, "allowUnixSockets"); v; v = v->next)
                from_line(f, "sock", string_of(v));

        if (json_is_true(net, "allowAllUnixSockets"))
                from_wide(
                        f, span_str("allowAllUnixSockets"),
                        "every socket of the host, agents and container engines too; name each with `sock`");

        if (json_is_true(net, "allowLocalBinding"))
                from_line(f, "local", span_str("loopback"));
}

static void read_files(struct from *f, const struct json *files)
{
        for (const struct json *v = first_string(files, "allowRead"); v; v = v->next)
                from_path(f, "read", string_of(v), true);

        for (const struct json *v = first_string(files, "allowWrite"); v; v = v->next)
                from_path(f, "edit", string_of(v), true);

        for (const struct json *v = first_string(files, "denyRead"); v; v = v->next)
                from_deny(f, string_of(v));

        for (const struct json *v = first_string(files, "denyWrite"); v; v = v->next)
                from_deny(f, string_of(v));

        if (first_string(files, "denyWrite"))
                from_lost(f, span_str("denyWrite"), "an exception hides the path; it is not readable either");
}

void from_srt(struct from *f, const struct json *root)
{
        from_path(f, "read", span_str("."), false);
        read_network(f, json_get(root, "network"));
        read_files(f, json_get(root, "filesystem"));
        from_wide(f, span_str("reading"),
                  "everything but denyRead could be read; these lines show what they name. `cordon learn` "
                  "proposes what is missing");
        if (json_is_true(root, "enableWeakerNestedSandbox"))
                from_wide(f, span_str("enableWeakerNestedSandbox"), "it weakened the sandbox; no line does");
}

/* ---- Claude Code ---- */

/* One rule: "Read(./src)". */
static void read_rule(struct from *f, struct span rule, bool allow)
{
        struct span rest = rule, tool = from_word(&rest, "(");
        if (rest.n && rest.p[rest.n - 1] == ')')
                rest.n--;

        bool edit = span_is(tool, "Edit") || span_is(tool, "Write") || span_is(tool, "MultiEdit");
        if ((edit || span_is(tool, "Read")) && rest.n) {
                if (rest.n > 1 && rest.p[0] == '/' && rest.p[1] != '/') /* below the project */
                        rest = span_of(rest.p + 1, rest.n - 1);

                if (allow)
                        from_path(f, edit ? "edit" : "read", rest, true);
                else
                        from_deny(f, rest);
        } else if (span_is(tool, "WebFetch") && span_starts(rest, "domain:") && allow) {
                from_host(f, span_of(rest.p + 7, rest.n - 7));
        } else if (span_is(tool, "Bash") && allow) {
                from_lost(f, rule, "a door limits what a command reaches, not how it is written");
        } else if (!allow && span_is(tool, "Bash")) {
                from_wide(f, rule, "denies one spelling of a command; another does the same");
        } else {
                from_lost(f, rule, "a rule for a tool of the agent, not for its processes");
        }
}

static void read_rules(struct from *f, const struct json *permissions, const char *key, bool allow)
{
        for (const struct json *v = first_string(permissions, key); v; v = v->next)
                read_rule(f, string_of(v), allow);
}

void from_claude(struct from *f, const struct json *root)
{
        const struct json *permissions = json_get(root, "permissions"), *sandbox = json_get(root, "sandbox");
        const struct json *variables = json_get(root, "env");

        from_path(f, "edit", span_str("."), false);
        for (const struct json *v = first_string(permissions, "additionalDirectories"); v; v = v->next)
                from_path(f, "edit", string_of(v), true);

        read_rules(f, permissions, "allow", true);
        if (sandbox) {
                read_network(f, json_get(sandbox, "network"));
                read_files(f, json_get(sandbox, "filesystem"));
        }

        read_rules(f, permissions, "deny", false);
        for (const struct json *v = first_string(permissions, "ask"); v; v = v->next)
                from_lost(f, string_of(v), "the agent asks; a policy line with `ask` makes cordon ask");

        for (const struct json *v = first_string(sandbox, "excludedCommands"); v; v = v->next)
                from_wide(f, string_of(v), "ran outside the sandbox; here it runs in the box");

        if (!sandbox || !json_is_true(sandbox, "enabled"))
                from_wide(f, span_str("sandbox"), "was off: commands ran with everything you may do");
        else if (!json_get(sandbox, "allowUnsandboxedCommands") ||
                 json_is_true(sandbox, "allowUnsandboxedCommands"))
                from_wide(f, span_str("allowUnsandboxedCommands"),
                          "the agent may ask to run a command outside; no box has such a way out");

        for (const struct json *v = variables && variables->type == JSON_OBJECT ? variables->child : NULL; v;
             v = v->next)
                from_line(f, "env", span_str(v->key));
}

/* ---- devcontainer.json ---- */

/* "source=A,target=B,type=bind", or an object with these members. */
static void read_mount(struct from *f, const struct json *mount)
{
        struct span source = string_of(json_get(mount, "source")), kind = string_of(json_get(mount, "type"));
        bool readonly = json_is_true(mount, "readonly");
        for (struct span rest = string_of(mount); rest.n;) {
                struct span part = from_word(&rest, ","), value = part, key = from_word(&value, "=");
                if (span_is(key, "source") || span_is(key, "src"))
                        source = value;
                else if (span_is(key, "type"))
                        kind = value;
                readonly |= span_is(key, "readonly") || span_is(key, "ro");
        }

        if (source.n >= 11 && memmem(source.p, source.n, "docker.sock", 11))
                from_wide(f, source, "access to the container engine is root on this machine");
        else if (span_is(kind, "volume") || span_is(kind, "tmpfs"))
                from_lost(f, source, "a box has a private /tmp and home; name a directory to keep files");
        else if (source.n)
                from_path(f, readonly ? "read" : "edit", source, false);
}

static void read_variables(struct from *f, const struct json *map)
{
        for (const struct json *v = map && map->type == JSON_OBJECT ? map->child : NULL; v; v = v->next) {
                char text[512];
                struct span value = string_of(v);
                size_t n = strlen(v->key);
                if (n + value.n + 1 >= sizeof text || memmem(value.p, value.n, "${", 2)) {
                        from_lost(f, span_str(v->key), "its value refers to another variable, or is long");
                        continue;
                }

                memcpy(text, v->key, n);
                text[n] = '=';
                memcpy(text + n + 1, value.p, value.n);
                from_line(f, "env", span_of(text, n + 1 + value.n));
        }
}

void from_devcontainer(struct from *f, const struct json *root)
{
        static const struct {
                const char *key, *why;
        } others[] = {
                { "build", "build it with your engine; `root` takes an image" },
                { "dockerFile", "build it with your engine; `root` takes an image" },
                { "dockerComposeFile", "one box is one container" },
                { "features", "install them into the image" },
                { "runArgs", "options of the container engine" },
                { "remoteUser", "a box runs as you, or as uid 0 inside with --root" },
                { "containerUser", "a box runs as you, or as uid 0 inside with --root" },
                { "postCreateCommand", "run it in the box: cordon run -p POLICY -- COMMAND" },
                { "postStartCommand", "run it in the box: cordon run -p POLICY -- COMMAND" },
                { "initializeCommand", "runs on your machine, outside any container" },
        };

        from_path(f, "edit", span_str("."), false);
        for (const struct json *v = first_string(root, "mounts"); v; v = v->next)
                read_mount(f, v);

        const struct json *workspace = json_get(root, "workspaceMount");
        if (workspace)
                read_mount(f, workspace);

        read_variables(f, json_get(root, "containerEnv"));
        read_variables(f, json_get(root, "remoteEnv"));
        for (const struct json *v = first_string(root, "forwardPorts"); v; v = v->next)
                from_line(f, "listen", v->type == JSON_INT ? span_str(v->str) : string_of(v));

        if (string_of(json_get(root, "image")).n)
                from_lost(f, string_of(json_get(root, "image")), "`root IMAGE` makes it the root of the box");

        if (json_is_true(root, "privileged") || first_string(root, "capAdd"))
                from_wide(f, span_str("privileged or capAdd"), "a way to the host; no line opens it");

        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
                if (json_get(root, others[i].key))
                        from_lost(f, span_str(others[i].key), others[i].why);

        from_wide(f, span_str("network"), "was open to every host; name destinations with `net`");
}
