#!/bin/sh
# Keys of AWS: a client in a box signs with a placeholder, the broker signs anew, and a server that checks takes it. No part of the key
# is in the box, in what a server sends back, or in what is kept of a run.
# shellcheck disable=SC2016
export LAB_AWS=yes
. "$(dirname "$0")/lib-net.sh"
[ -x "$CORDON_LIBEXEC/cordon-vault" ] || { skip "keys of AWS" "cordon-vault is not built here: it needs OpenSSL"; done_testing; }
trust_lab || { skip "keys of AWS" "this host has no file of roots"; done_testing; }
id=AKIAQ9ZZREALKEY00001 secret=Q9zzSecretOfTheTestSuite/0123456789+ABCD token=Q9zzTokenOfTheSuite0123456789abcdefghijklmnopqrstuvwxyz0123456789
py=/usr/bin/python3 # whose modules are Debian's
u=https://nginx.test
cat >"$T/client.py" <<'END'
import botocore.config, botocore.exceptions, botocore.session, hashlib, sys, urllib.request
session = botocore.session.get_session()
once = botocore.config.Config(retries={'max_attempts': 1}, s3={'addressing_style': 'path'})
client = lambda name: session.create_client(name, region_name='eu-central-1', endpoint_url='https://nginx.test', config=once)
s3, data = client('s3'), bytes(range(256)) * 1000
s3.put_object(Bucket='bucket', Key='a b/\u00fc+(1)*~', Body=data, Metadata={'who': 'me  and you'}, ContentType='text/plain')
print(s3.get_object(Bucket='bucket', Key='a b/\u00fc+(1)*~')['Body'].read() == data)
print(client('dynamodb').list_tables(Limit=7)['ResponseMetadata']['HTTPStatusCode'])
print(client('sts').get_caller_identity()['Account'])
print(client('lambda').invoke(FunctionName='f', Payload=b'"' + b'x' * 200000 + b'"')['StatusCode'])
try:
    urllib.request.urlopen(s3.generate_presigned_url('get_object', Params={'Bucket': 'bucket', 'Key': 'k'}))
except urllib.error.HTTPError as e:
    print(e.code, e.read().decode().strip())
END
for who in root as_user; do
        home=$T/home-$who
        mkdir -m 700 "$home" "$home/state" && [ "$who" = root ] || chown 65533:65533 "$home" "$home/state" 2>/dev/null
        export XDG_CONFIG_HOME="$home" CORDON_STATE="$home/state"
        printf '%s:%s' $id $secret >"$T/lab/aws.key"
        printf '%s:%s' $id $secret | $who "$CORDON" vault add aws --sigv4 >"$T/out" 2>&1
        is "$who: a key is added" "$? $(cat "$T/out")" "0 "
        has "$who: the list shows the variables and what it does" "$($who "$CORDON" vault ls)" "AWS_ACCESS_KEY_ID:AWS_SECRET_ACCESS_KEY:AWS_SESSION_TOKEN"
        box $who --net "$u/** with aws" -- sh -c 'env | grep ^AWS_ | grep -v CA_BUNDLE | sort | sed "s/[A-Z0-9]\{16\}$/X/; s/=.\{40\}$/=Y/"; env'
        is "$who: a box has two variables of the right shape" "$(head -n 2 "$T/out")" "AWS_ACCESS_KEY_ID=AKIAX
AWS_SECRET_ACCESS_KEY=Y"
        hasnt "$who: and no part of the key" "$(cat "$T/out")" Q9zz

        # --- curl, which can sign ---
        curl --version | head -n 1 >"$T/curl"
        : >"$T/lab/aws.log"
        sign='curl -sS -m 60 --aws-sigv4 aws:amz:eu-central-1:s3 --user $AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY'
        if curl --help all 2>/dev/null | grep -q aws-sigv4; then
                box $who --net "$u/** with aws" -- sh -c "echo an object >/tmp/k; $sign -T /tmp/k $u/b/k && $sign '$u/b/k?b=1&a=2' | cmp - /tmp/k && $sign $u/echo"
                is "$who: curl puts and gets an object" "$status $(grep -c ' s3 good$' "$T/lab/aws.log")" "0 3"
                hasnt "$who: a server that sends the key back is not heard" "$(cat "$T/out")" Q9z
                hasnt "$who: in any case" "$(tr A-Z a-z <"$T/out")" q9zz
                has "$who: and that is told" "$(json '[.net.destinations[].why] | join(" ")')" secret
                # without TLS, whose set-up would have read the time zone that a date needs
                box $who --net "http://nginx.test/** with aws" -- sh -c "$sign http://nginx.test/b/k"
                is "$who: also where nothing is encrypted" "$status $(json .net.broker) $(grep -c ' s3 good$' "$T/lab/aws.log")" "0 done 4"
                : >"$T/lab/auth.log"
                box $who --net "$u/** with aws" --net "https://web.test/** GET" -- sh -c "$sign -L $u/redirect"
                is "$who: a redirect to another host is not signed" "$(grep -ci 'AWS4\|Q9zz' "$T/lab/auth.log") $(grep -c '/redirect s3 good' "$T/lab/aws.log")" "0 1"
                box $who --net "$u/**" --net "https://web.test/** GET with aws" -- sh -c "$sign $u/b/k"
                is "$who: a door without the credential does not sign, and the placeholder does not pass" "$(json '[.denials[] | select(.code == "credential")] | length') $(tail -n 1 "$T/lab/aws.log")" "1 GET /redirect s3 good"
        else
                skip "$who: curl signs" "this curl cannot: $(cat "$T/curl")"
        fi

        # --- botocore, as the AWS CLI and boto3 use it ---
        if $py -c 'import botocore' 2>/dev/null; then
                : >"$T/lab/aws.log"
                box $who --read "$T/client.py" --net "$u/** with aws" -- $py "$T/client.py"
                is "$who: botocore works: objects, JSON, forms and long bodies; a presigned URL is refused" "$(cat "$T/out")" "True
200
123456789012
200
403 cordon: presigned URL; the door signs requests only"
                is "$who: each signature was good" "$(sed 's/.* //' "$T/lab/aws.log" | sort | uniq -c | tr -s ' ')" " 5 good"
                # A temporary key, as the AWS CLI prints it.
                printf '%s:%s:%s' $id $secret $token >"$T/lab/aws.key"
                printf '{\n    "Version": 1,\n    "AccessKeyId": "%s",\n    "SecretAccessKey": "%s",\n    "SessionToken": "%s"\n}\n' $id $secret $token |
                        $who "$CORDON" vault add sts --sigv4 >"$T/out" 2>&1
                is "$who: what the AWS CLI exports is a key" "$? $(cat "$T/out")" "0 "
                : >"$T/lab/aws.log"
                box $who --read "$T/client.py" --net "$u/** with sts" -- sh -c "$py '$T/client.py'; env"
                is "$who: a temporary key signs too" "$(sed 's/.* //' "$T/lab/aws.log" | sort | uniq -c | tr -s ' ')" " 5 good"
                has "$who: its token has a variable" "$(cat "$T/out")" AWS_SESSION_TOKEN=
                hasnt "$who: which is not the token" "$(cat "$T/out")" Q9zz
        else
                skip "$who: botocore" "python3-botocore is not installed"
        fi
        { $who "$CORDON" ledger --json; $who "$CORDON" ledger reach; } >"$T/log" 2>&1
        hasnt "$who: nothing of it is recorded" "$(cat "$T/log" "$T/status" "$T/err"; grep -r -l Q9zz "$home/state")" Q9zz
done
# What a key may look like.
export XDG_CONFIG_HOME="$T/home-root" CORDON_STATE="$T/home-root/state"
n=0
printf '[default]\naws_access_key_id = %s\naws_secret_access_key=%s\n' $id $secret >"$T/ini"
printf 'export AWS_ACCESS_KEY_ID=%s\nexport AWS_SECRET_ACCESS_KEY="%s"\n' $id $secret >"$T/env"
for f in ini env; do
        n=$((n + 1))
        "$CORDON" vault add k$n --sigv4 --from-file "$T/$f" >"$T/out" 2>&1
        is "a key is read from the form of $f" "$? $(cat "$T/out")" "0 "
done
{ cat "$T/ini"; sed 's/default/other/' "$T/ini"; } >"$T/two"
printf %s $secret >"$T/bare"
for f in two bare; do
        "$CORDON" vault add bad --sigv4 --from-file "$T/$f" >"$T/out" 2>&1
        is "$f is not a key" "$? $(grep -c 'not one key of AWS' "$T/out")" "125 1"
        hasnt "and is not shown" "$(cat "$T/out")" Q9zz
done
"$CORDON" vault add bad --sigv4 --basic robot --from-file "$T/ini" >"$T/out" 2>&1
is "it is one thing or the other" "$? $(grep -c 'only one of' "$T/out")" "125 1"
printf '%s:%s' $id $secret | "$CORDON" vault rotate k1 >"$T/out" 2>&1
is "it is rotated as it is added" "$? $(cat "$T/out")" "0 "
done_testing
