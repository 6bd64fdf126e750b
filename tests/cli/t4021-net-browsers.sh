# Browsers: the authority of a box that opens TLS up stands where they look for it, in a database of NSS; and what Chromium
# puts into its hello passes a door that moves bytes.
. "$(dirname "$0")/lib-net.sh"
trust_lab || { skip "browsers" "this host has no file of roots"; done_testing; }
cat >"$T/look.py" <<'END'
import hashlib, os, sqlite3, ssl
path = os.path.expanduser("~/.pki/nssdb/cert9.db")
db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
last = open("/etc/cordon/ca-bundle.pem").read().split("-----BEGIN CERTIFICATE-----")[-1]
der = ssl.PEM_cert_to_DER_cert("-----BEGIN CERTIFICATE-----" + last)
print(db.execute("pragma integrity_check").fetchone()[0])
print(db.execute("select a11 from nssPublic where a0 = x'00000001'").fetchall() == [(der,)])
print(db.execute("select hex(ace536358), ace5363b4 from nssPublic where a0 = x'ce534353'").fetchall() == [("CE534352", hashlib.sha1(der).digest())])
print(oct(os.stat(path).st_mode & 0o777), os.access(path, os.W_OK))
END
chmod 644 "$T/look.py"
many=$(seq -f '--net https://host%g.example-with-a-long-name.test/**' 1 150)
for who in root as_user; do
        for observe in denials off; do
                box $who --observe $observe --read "$T/look.py" --net 'https://web.test/**' -- python3 "$T/look.py"
                is "$who, observe $observe: the database holds the box's authority, trusted for servers" "$(cat "$T/out")" "ok
True
True
0o600 True"
        done
        # shellcheck disable=SC2086
        box $who --read "$T/look.py" $many -- python3 "$T/look.py"
        is "$who: also one for many names" "$(head -n 3 "$T/out" | paste -s -d ' ')" "ok True True"
        box $who --net web.test:443 -- ls -A /home/box
        is "$who: a door that opens no TLS up brings none" "$status:$(cat "$T/out")" 0:
        if command -v chromium >/dev/null; then
                want=$(curl -sS --cacert "$T/lab/ca.pem" https://web.test/page)
                ok "the page is not empty" test -n "$want"
                box $who --net 'https://web.test/**' -- chromium --headless --no-sandbox --disable-gpu --dump-dom https://web.test/page
                has "$who: Chromium trusts it" "$(cat "$T/out")" "$want"
                box $who --net 'web.test:443' -- chromium --headless --no-sandbox --disable-gpu --ignore-certificate-errors --dump-dom https://web.test/page
                has "$who: its GREASE passes a door that moves bytes" "$(cat "$T/out")" "$want"
        else
                skip "$who: Chromium" "chromium is not installed"
        fi
done
done_testing
