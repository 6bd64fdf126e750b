/* SPDX-License-Identifier: MIT */
/* files/image/unpack/manifest.c - which configuration and layers an image consists of: `manifest.json` of
 * docker save and podman save, or `index.json` of an OCI layout. Digests that are stated are checked where
 * the bytes are read. */
#include "base/json.h"
#include "base/str.h"
#include "files/image/unpack/image_unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layer_row {
        struct outer_region at;
        enum stream_form form;
        char sha256[65]; /* of its bytes as they are; "": not stated */
};

struct image_parts {
        struct outer_region config_at;
        struct json_doc *config;
        char config_sha256[65];
        struct layer_row *layers;
        size_t layer_count;
        const struct json *tags; /* names of docker save; NULL: none */
};

static const char hex_digits[] = "0123456789abcdef";

static bool is_hex(const char *s) { return strspn(s, hex_digits) == 64 && s[64] == '\0'; }

/* A JSON file, with its digest if the caller knows which it must have ("": it does not). */
static struct json_doc *read_json(const struct outer *o, const char *name, const char *want,
                                  char ret_sha256[65], struct err *e)
{
        size_t n = 0;
        char *text = outer_read(o, name, &n, ret_sha256, e);
        struct json_doc *d = NULL;
        if (text && want[0] && strcmp(want, ret_sha256) != 0)
                (void) err_set(e, ERR_DOOR, 0, "%.200s does not have the digest that it should have", name);
        else if (text)
                d = json_parse(name, span_of(text, n), e);

        free(text);
        return d;
}

static const struct json *list_of(const struct json *object, const char *key)
{
        const struct json *v = object && object->type == JSON_OBJECT ? json_get(object, key) : NULL;
        return v && v->type == JSON_ARRAY ? v : NULL;
}

static size_t count_items(const struct json *list)
{
        size_t n = 0;
        for (const struct json *v = list ? list->child : NULL; v; v = v->next)
                n++;
        return n;
}

static int add_layer(const struct outer *o, struct image_parts *m, const char *name, const char *sha256,
                     struct err *e)
{
        uint8_t first[4];
        struct layer_row *l = &m->layers[m->layer_count];
        if (!outer_find(o, name, &l->at))
                return err_set(e, ERR_DOOR, 0, "the image has no layer %.200s", name);

        l->form = stream_form_of(first, outer_peek(o, &l->at, first, sizeof first));
        (void) snprintf(l->sha256, sizeof l->sha256, "%s", sha256);
        m->layer_count++;
        return 0;
}

static int room_for(struct image_parts *m, const struct json *list, struct err *e)
{
        size_t n = count_items(list);
        if (!list || n > UNPACK_LAYERS)
                return err_set(e, ERR_LIMIT, 0,
                               n ? "the image has %zu layers; %d is the most" : "the image has no layers", n,
                               UNPACK_LAYERS);

        m->layers = calloc(n + 1, sizeof *m->layers);
        return m->layers ? 0 : err_set(e, ERR_MEMORY, 0, "no memory for the layers");
}

/* ---- docker save ---- */

/* "blobs/sha256/HEX" and "HEX.json" name their digest; "": another name does not. */
static void digest_of_name(const char *name, char ret[65])
{
        const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
        size_t n = strspn(last, hex_digits);
        bool named = n == 64 && (last[64] == '\0' || strcmp(last + 64, ".json") == 0);
        (void) snprintf(ret, 65, "%.*s", named ? 64 : 0, last);
}

static int take_docker(const struct outer *o, const struct json *list, struct image_parts *m, struct err *e)
{
        const struct json *one = list->type == JSON_ARRAY ? list->child : NULL;
        const char *config = json_str(one, "Config");
        const struct json *layers = list_of(one, "Layers");
        char want[65];
        if (one && one->next) {
                (void) err_set(e, ERR_DOOR, 0, "the archive holds %zu images", count_items(list));
                return err_hint(e, "save one image alone");
        }

        if (!config || !layers)
                return err_set(e, ERR_DOOR, 0, "manifest.json names no configuration or no layers");

        m->tags = list_of(one, "RepoTags");
        digest_of_name(config, want);
        if (!outer_find(o, config, &m->config_at) ||
            !(m->config = read_json(o, config, want, m->config_sha256, e)))
                return e->code ? -1 : err_set(e, ERR_DOOR, 0, "the image has no %.200s", config);

        if (room_for(m, layers, e) < 0)
                return -1;

        for (const struct json *v = layers->child; v; v = v->next) {
                char sha256[65] = "";
                if (v->type != JSON_STRING)
                        return err_set(e, ERR_DOOR, 0, "manifest.json names a layer that is no text");
                if (strncmp(v->str, "blobs/sha256/", 13) == 0)
                        digest_of_name(v->str, sha256);
                if (add_layer(o, m, v->str, sha256, e) < 0)
                        return -1;
        }

        return 0;
}

/* ---- OCI ---- */

/* The blob of a descriptor. */
static int blob_of(const struct json *descriptor, char ret_name[128], char ret_sha256[65], struct err *e)
{
        const char *digest = json_str(descriptor, "digest");
        if (!digest || strncmp(digest, "sha256:", 7) != 0 || !is_hex(digest + 7))
                return err_set(e, ERR_DOOR, 0, "the image has a digest that is no SHA-256");
        (void) snprintf(ret_sha256, 65, "%s", digest + 7);
        (void) snprintf(ret_name, 128, "blobs/sha256/%s", digest + 7);
        return 0;
}

#if defined __aarch64__
static const char machine[] = "arm64";
#else
static const char machine[] = "amd64";
#endif

/* One for this machine; one that names no machine will do if it is alone. */
static const struct json *choose_manifest(const struct json *manifests)
{
        for (const struct json *v = manifests ? manifests->child : NULL; v; v = v->next) {
                const struct json *p = v->type == JSON_OBJECT ? json_get(v, "platform") : NULL;
                const char *for_machine = json_str(p, "architecture"), *os = json_str(p, "os");
                if (for_machine && strcmp(for_machine, machine) == 0 && (!os || strcmp(os, "linux") == 0))
                        return v;
        }

        return count_items(manifests) == 1 ? manifests->child : NULL;
}

static int take_manifest(const struct outer *o, const struct json *root, struct image_parts *m, struct err *e)
{
        char name[128], sha256[65];
        const struct json *config = json_get(root, "config"), *layers = list_of(root, "layers");
        if (!config || blob_of(config, name, sha256, e) < 0)
                return config ? -1 : err_set(e, ERR_DOOR, 0, "the manifest names no configuration");

        if (!outer_find(o, name, &m->config_at))
                return err_set(e, ERR_DOOR, 0, "the image has no %.200s", name);

        if (!(m->config = read_json(o, name, sha256, m->config_sha256, e)) || room_for(m, layers, e) < 0)
                return -1;

        for (const struct json *v = layers ? layers->child : NULL; v; v = v->next)
                if (blob_of(v, name, sha256, e) < 0 || add_layer(o, m, name, sha256, e) < 0)
                        return -1;

        return 0;
}

/* An index may lead to another, as an image for several machines has it. */
static int take_oci(const struct outer *o, const struct json *index, unsigned depth, struct image_parts *m,
                    struct err *e)
{
        char name[128], sha256[65], got[65];
        const struct json *manifests = list_of(index, "manifests"), *one = choose_manifest(manifests);
        if (!one) {
                (void) err_set(e, ERR_DOOR, 0, "the layout holds %zu images, and none alone for this machine",
                               count_items(manifests));
                return err_hint(e, "copy one image into a layout of its own");
        }

        if (depth > 3 || blob_of(one, name, sha256, e) < 0)
                return depth > 3 ? err_set(e, ERR_DOOR, 0, "an index leads to an index again and again") : -1;

        struct json_doc *d = read_json(o, name, sha256, got, e);
        if (!d)
                return -1;

        const struct json *root = json_root(d);
        int r = root->type != JSON_OBJECT    ? err_set(e, ERR_DOOR, 0, "the manifest is no object")
                : list_of(root, "manifests") ? take_oci(o, root, depth + 1, m, e)
                                             : take_manifest(o, root, m, e);
        json_free(d);
        return r;
}

/* ---- as JSON for the caller ---- */

static void put_region(const struct outer_region *r, const char *sha256, struct buf *out)
{
        buf_putc(out, '{');
        buf_member(out, "file", r->file);
        buf_printf(out, ",\"offset\":%llu,\"size\":%llu,\"sha256\":\"%s\"", (unsigned long long) r->offset,
                   (unsigned long long) r->size, sha256);
}

/* The configuration pins the layers' content, whatever their compression. */
static int put_layers(const struct image_parts *m, struct buf *out, struct err *e)
{
        static const char *const forms[] = { "plain", "gzip", "zstd" };
        const struct json *rootfs = json_get(json_root(m->config), "rootfs");
        const struct json *diffs = list_of(rootfs, "diff_ids"), *d = diffs ? diffs->child : NULL;
        if (count_items(diffs) != m->layer_count)
                return err_set(e, ERR_DOOR, 0, "the configuration names %zu layers, the manifest %zu",
                               count_items(diffs), m->layer_count);

        buf_puts(out, ",\"layers\":[");
        for (size_t i = 0; i < m->layer_count; i++, d = d->next) {
                const struct layer_row *l = &m->layers[i];
                if (d->type != JSON_STRING || strncmp(d->str, "sha256:", 7) != 0 || !is_hex(d->str + 7))
                        return err_set(e, ERR_DOOR, 0, "the configuration has a digest that is no SHA-256");
                buf_puts(out, i ? "," : "");
                put_region(&l->at, l->sha256, out);
                buf_printf(out, ",\"form\":\"%s\",\"plain\":\"%s\"}", forms[l->form], d->str + 7);
        }

        buf_puts(out, "]");
        return 0;
}

static void put_tags(const struct json *tags, struct buf *out)
{
        buf_puts(out, ",\"tags\":[");
        for (const struct json *v = tags ? tags->child : NULL; v; v = v->next)
                if (v->type == JSON_STRING) {
                        buf_key(out, NULL);
                        buf_json(out, span_of(v->str, v->len));
                }

        buf_puts(out, "]");
}

static int describe_parts(const struct image_parts *m, struct buf *out, struct err *e)
{
        const struct json *root = json_root(m->config);
        const char *for_machine = json_str(root, "architecture");
        if (root->type != JSON_OBJECT)
                return err_set(e, ERR_DOOR, 0, "the configuration is no object");

        if (for_machine && for_machine[0] && strcmp(for_machine, machine) != 0)
                return err_set(e, ERR_DOOR, 0, "the image is for %.40s, and this machine is %s", for_machine,
                               machine);

        buf_puts(out, "{\"config\":");
        put_region(&m->config_at, m->config_sha256, out);
        buf_puts(out, "}");
        if (put_layers(m, out, e) < 0)
                return -1;

        put_tags(m->tags, out);
        buf_puts(out, "}\n");
        return 0;
}

int manifest_describe(const struct outer *o, struct buf *out, struct err *e)
{
        struct image_parts m = { 0 };
        struct outer_region at;
        char got[65];
        bool docker = outer_find(o, "manifest.json", &at);
        if (!docker && !outer_find(o, "index.json", &at)) {
                (void) err_set(e, ERR_DOOR, 0, "it is no image: it has neither manifest.json nor index.json");
                return err_hint(
                        e, "`docker save` and `podman save` make images; a tar of a root directory: mkdir "
                           "root && tar -xf FILE -C root, then --image ./root");
        }

        e->code = ERR_NONE;
        struct json_doc *d = read_json(o, docker ? "manifest.json" : "index.json", "", got, e);
        int r = !d ? -1 : docker ? take_docker(o, json_root(d), &m, e) : take_oci(o, json_root(d), 0, &m, e);
        if (r == 0)
                r = describe_parts(&m, out, e);

        json_free(d);
        if (m.config)
                json_free(m.config);

        free(m.layers);
        return r;
}
