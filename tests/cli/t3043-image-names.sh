#!/bin/sh
# Images by name: skopeo copies them into a layout, podman saves those that it has, and nothing else is run.
. "$(dirname "$0")/lib.sh"
busybox=$(command -v busybox) && file -L "$busybox" | grep -q static || {
        skip "images by name" "no static busybox (package busybox-static)"
        done_testing
}
helper=$(dirname "$0")/helpers/image.py
python3 "$helper" tool "$T/tool" layout "$T/layout" || fail "the images are made"

# A skopeo of our own: it notes how it is called, and copies a layout.
mkdir "$T/bin"
cat >"$T/bin/skopeo" <<END
#!/bin/sh
echo "\$*" >>"$T/calls"
[ "\$3" != docker://broken:1 ] || { echo "no such image" >&2; exit 1; }
to=\${4#oci:}
cp -r "$T/layout" "\${to%:*}"
END
chmod 755 "$T/bin/skopeo"
named() { PATH=$T/bin:/usr/bin:/bin "$CORDON" run -q "$@" 2>&1 </dev/null; }
is "a name is copied by skopeo" "$(named --image tool:1 -- tool)" "tool 1.0"
is "with a transport, into our own place" "$(sed 's,oci:.*/images,oci:IMAGES,' "$T/calls")" "copy --quiet docker://tool:1 oci:IMAGES/new/layout:image"
is "once" "$(named --image tool:1 -- tool; wc -l <"$T/calls")" "$(printf 'tool 1.0\n1')"
is "a name with a registry and a digest" "$(named --image example.org/a/tool@sha256:0123 -- tool)" "tool 1.0"
is "add looks it up again" "$(PATH=$T/bin:/usr/bin:/bin "$CORDON" image add tool:1 >/dev/null 2>&1; grep -c 'docker://tool:1 ' "$T/calls")" 2
is "one image, two names" "$("$CORDON" image ls --json | jq -c '[.[].from|sort]')" '[["example.org/a/tool@sha256:0123","tool:1"]]'
is "what skopeo refuses does not start" "$(PATH=$T/bin:/usr/bin:/bin status "$CORDON" run --image broken:1 -- tool)" 125
has "with its reason" "$(cat "$T/err")" "no such image"
has "and what was looked for" "$(cat "$T/err")" "there is no such file or directory here, and skopeo did not deliver"
for bad in -o '--help' 'a b' 'a;b' '$(x)' ':x' '@x'; do
        is "$bad names no image" "$(PATH=$T/bin:/usr/bin:/bin status "$CORDON" run --image="$bad" -- tool)" 125
done
is "none of them was asked for" "$(wc -l <"$T/calls")" 4
rm "$T/bin/skopeo"

# The real podman, with a storage of its own.
if ! command -v podman >/dev/null; then
        skip "a name that podman has" "podman is not installed"
        done_testing
fi
elsewhere image-names
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
printf '[storage]\ndriver="vfs"\ngraphroot="%s/root"\nrunroot="%s/run"\n' "$D" "$D" >"$D/storage.conf"
CONTAINERS_STORAGE_CONF=$D/storage.conf
export CONTAINERS_STORAGE_CONF
if ! timeout 60 podman load -q -i "$T/tool" >"$T/load" 2>&1; then
        skip "a name that podman has" "podman cannot load an image here: $(head -n 1 "$T/load")"
        done_testing
fi
# Its own programs, and no skopeo, which would ask a registry.
mkdir "$T/podman"
for p in podman newuidmap newgidmap; do at=$(command -v $p) && ln -s "$at" "$T/podman/$p"; done
is "a name that podman has" "$(PATH=$T/podman "$CORDON" run -q --image localhost/tool:1 -- tool 2>&1)" "tool 1.0"
podman save -q --format oci-archive -o "$T/oci.tar" tool:1
is "an OCI archive of podman" "$("$CORDON" run -q --image "$T/oci.tar" -- tool 2>&1)" "tool 1.0"
podman save -q --format oci-dir -o "$T/oci" tool:1
is "an OCI layout of podman" "$("$CORDON" run -q --image "$T/oci" 2>&1)" "tool 1.0"
podman rmi -f tool:1 >/dev/null 2>&1
done_testing
