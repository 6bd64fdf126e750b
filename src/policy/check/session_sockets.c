/* SPDX-License-Identifier: MIT */
/* policy/check/session_sockets.c - short names for the sockets of a desktop session: `sock wayland`. Where
 * they are follows from variables of the caller, which the context has. Pure. */
#include "policy/internal.h"

static char *in_runtime(const struct scope *s, const char *name, const char *fallback)
{
        const char *dir = s->ctx->variable ? s->ctx->variable(s->ctx->variable_ctx, "XDG_RUNTIME_DIR") : NULL;
        name = name && name[0] ? name : fallback;
        if (name[0] == '/')
                return arena_str(s->mem, name);
        return dir && dir[0] == '/' ? arena_printf(s->mem, "%s/%s", dir, name) : NULL;
}

static char *place_wayland(const struct scope *s, const char *value)
{
        return in_runtime(s, value, "wayland-0");
}
static char *place_pipewire(const struct scope *s, const char *value)
{
        return in_runtime(s, value, "pipewire-0");
}

/* "unix:/path" or "/path"; a server of the network has no socket here. */
static char *place_pulse(const struct scope *s, const char *value)
{
        if (value && strncmp(value, "unix:", 5) == 0)
                value += 5;
        return in_runtime(s, value && value[0] == '/' ? value : NULL, "pulse/native");
}

/* ":0", ":0.1" */
static char *place_x11(const struct scope *s, const char *value)
{
        size_t n = value && value[0] == ':' ? strspn(value + 1, "0123456789") : 0;
        bool local = n > 0 && (value[1 + n] == '\0' || value[1 + n] == '.');
        return local ? arena_printf(s->mem, "/tmp/.X11-unix/X%.*s", (int) n, value + 1) : NULL;
}

static const struct {
        const char *name, *variable;
        char *(*place)(const struct scope *s, const char *value);
} sockets[] = {
        { "wayland", "WAYLAND_DISPLAY", place_wayland },
        { "x11", "DISPLAY", place_x11 },
        { "pulse", "PULSE_SERVER", place_pulse },
        { "pipewire", "PIPEWIRE_REMOTE", place_pipewire },
};

static int refuse_agent(const struct scope *s, const struct door *raw)
{
        static const char *const agents[] = { "ssh-agent", "gpg-agent" };
        for (size_t i = 0; i < COUNT(agents); i++) {
                if (strcmp(raw->path, agents[i]) != 0)
                        continue;
                (void) fail_at(s->e, &raw->at,
                               "a whole agent adds, removes and lists all keys: name one key");
                return err_hint(s->e, "use `sign %.3s:KEY`; a file of this name is `./%s`", agents[i],
                                agents[i]);
        }
        return 0;
}

int session_socket(const struct scope *s, const struct door *raw, char **ret_path)
{
        *ret_path = NULL;
        if (raw->kind != DOOR_SOCK)
                return 0;

        for (size_t i = 0; i < COUNT(sockets); i++) {
                if (strcmp(raw->path, sockets[i].name) != 0)
                        continue;
                const char *value =
                        s->ctx->variable ? s->ctx->variable(s->ctx->variable_ctx, sockets[i].variable) : NULL;
                *ret_path = sockets[i].place(s, value);
                if (*ret_path)
                        return 1;
                (void) fail_at(s->e, &raw->at, "there is no session with a %s socket: %s does not say where",
                               raw->path,
                               sockets[i].place == place_x11 ? sockets[i].variable : "XDG_RUNTIME_DIR");
                return err_hint(s->e,
                                "start cordon in the session, or name the socket by its path; a file of this "
                                "name is `./%s`",
                                raw->path);
        }

        return refuse_agent(s, raw);
}
