/* SPDX-License-Identifier: MIT */
/* effect/reason.c - every reason, with its stable name for scripts and its text for users. */
#include "effect/effect.h"

static const struct {
        const char *name, *text;
} reasons[] = {
        [REASON_NONE] = { "none", "" },

        [REASON_NO_DOOR] = { "no-door", "no door leads there" },
        [REASON_READ_ONLY] = { "read-only", "read-only" },
        [REASON_EXCEPTED] = { "excepted", "an `except` hides it" },
        [REASON_NOT_RUN] = { "not-run", "no `run` line names it" },
        [REASON_WRITABLE] = { "writable", "what a box can write does not run" },
        [REASON_HOST] = { "host", "no door leads there" },
        [REASON_PORT] = { "port", "no door leads to that port" },
        [REASON_METHOD] = { "method", "no door covers this method here" },
        [REASON_URL_PATH] = { "url-path", "no door covers this path" },
        [REASON_SCHEME] = { "scheme", "the door is for the other of http and https" },
        [REASON_PARAMETER] = { "parameter", "a parameter is out of bounds" },
        [REASON_EXPIRED] = { "expired", "the door has closed (`until`)" },

        [REASON_KEYS] = { "keys", "keys; no hint is given for them" },
        [REASON_TOKENS] = { "tokens", "tokens or passwords; no hint is given for them" },
        [REASON_PASSWORDS] = { "passwords", "passwords; no hint is given for them" },
        [REASON_HISTORY] = { "history", "private; no hint is given for it" },
        [REASON_START] = { "start-file", "this host runs it by itself; no hint is given for it" },
        [REASON_AGENT] = { "agent", "acts for its owner; no hint is given for it" },
        [REASON_HOST_FILES] = { "host-files", "the host's own; no hint is given for it" },
        [REASON_KERNEL] = { "kernel", "the kernel's; no door opens it" },
        [REASON_HOME] = { "home", "a whole home directory; name what is needed in it" },
        [REASON_SYSTEM] = { "system", "a directory of the system" },
        [REASON_METADATA] = { "metadata",
                              "the metadata service hands out credentials; no hint is given for it" },
        [REASON_PRIVATE] = { "private", "an address or name of a private network" },
        [REASON_TUNNEL] = { "tunnel", "a name that is long enough to carry data out" },
        [REASON_PROTOCOL] = { "protocol", "only TCP leaves a box" },
        [REASON_ODD_NAME] = { "odd-name", "its name holds bytes that no line can hold" },
        [REASON_DEVICE] = { "device", "a device of the host" },
        [REASON_DOT_PATH] = { "dot-path", "what programs keep of a person" },
        [REASON_LINK_OUT] = { "link-out", "a symlink of the project leads out of it" },
        [REASON_TOO_WIDE] = { "too-wide", "the door would be as wide as the home or the root directory" },
        [REASON_NO_LINE] = { "no-line", "no line permits it" },
        [REASON_NETWORK] = { "network", "no net door" },
        [REASON_UNKNOWN] = { "unknown", "not known" },

        [REASON_CALL] = { "call", "no door opens it" },
        [REASON_NAMESPACE] = { "namespace", "no door opens it" },
        [REASON_LOCAL] = { "local", "no `local` line" },
        [REASON_SOCKET] = { "socket", "no net door" },
        [REASON_LOOPBACK] = { "loopback",
                              "a box has a loopback of its own, and something listens there on the host's" },
        [REASON_OWN_PROGRAM] = { "own-program", "what this box can write does not run" },
        [REASON_TOO_LARGE] = { "too-large",
                               "EXDEV: more than 5,000 entries, 64 levels or 64 MB behind an edit door" },
        [REASON_MOUNTED] = { "mounted", "EXDEV: an `except` or another door lies in it" },
        [REASON_NOT_OWNED] = { "not-owned", "EXDEV: not all of it can be moved with your rights" },
        [REASON_GROUP] = { "group", "its group is not your primary one: behind an edit door without root "
                                    "the kernel maps no other" },
        [REASON_COUNTERS] = { "counters",
                              "the kernel's counters show the whole machine and are much code to reach: "
                              "measure outside, or trace with `local trace`" },
        [REASON_WATCH] = { "watch",
                           "a box watches what it can change and the changes behind its `read` doors, not "
                           "who opens a file, and no directory in which a name is hidden" },
        [REASON_NAME] = { "name", "no door names it" },
        [REASON_AGENT_REQUEST] = { "agent-request",
                                   "a door lets a box use a key, and nothing else of the agent" },
        [REASON_INIT_MESSAGE] = { "init-message", "no such message comes then: the box was ended" },
        [REASON_BROKER_DIED] = { "broker-died", "the broker ended before the box" },

        [REASON_MALFORMED_NAME] = { "malformed-name", "it has a byte that no host name has" },
        [REASON_UNRESOLVED] = { "unresolved", "the name does not resolve outside" },
        [REASON_RESOLVER_BUSY] = { "resolver-busy", "too many names wait for an answer from outside" },
        [REASON_RESOLVER_GONE] = { "resolver-gone",
                                   "cordon-resolver is gone, so no name is looked up any more" },
        [REASON_TOO_MANY_NAMES] = { "too-many-names", "too many names" },
        [REASON_GUARDED_ADDRESS] = { "guarded-address", "the name leads to a guarded address" },
        [REASON_NO_ANSWER] = { "no-answer", "no answer" },
        [REASON_NO_ANSWER_IN_TIME] = { "no-answer-in-time", "no answer in time" },
        [REASON_NO_ROUTE] = { "no-route", "this machine has no way there" },
        [REASON_NO_PORTS] = { "no-ports", "this machine has no port left for a connection there" },
        [REASON_NO_ROOM] = { "no-room", "this machine has no room for another connection" },
        [REASON_BACK_OFF] = { "back-off", "it failed 8 times in a row and is left alone for a moment" },
        [REASON_TOO_MANY_FLOWS] = { "too-many-connections", "too many connections at once" },
        [REASON_NO_MEMORY] = { "no-memory", "no memory" },
        [REASON_MOCK_BYTES] = { "mock-bytes", "the stage is mock: only requests have recorded answers" },
        [REASON_MOCK_NOTHING] = { "mock-nothing", "the stage is mock: nothing is reached" },
        [REASON_BOX_ENDED] = { "box-ended", "the box ended" },

        [REASON_LIMIT_EFFECTS] = { "limit-effects", "the limit `effects` is used up" },
        [REASON_LIMIT_RATE] = { "limit-rate", "the limit `rate` is used up for this hour" },
        [REASON_LIMIT_EGRESS] = { "limit-egress", "the limit `egress` is used up" },
        [REASON_LIMIT_INGRESS] = { "limit-ingress", "the limit `ingress` is used up" },
        [REASON_CAP_HOUR] = { "cap-hour", "the door's cap for an hour is used up" },
        [REASON_CAP] = { "cap", "the door's cap is used up" },
        [REASON_CAP_OUT] = { "cap-out", "the door's cap for what goes out is used up" },
        [REASON_CAP_IN] = { "cap-in", "the door's cap for what comes in is used up" },
        [REASON_LEDGER] = { "ledger", "the ledger cannot record it" },
        [REASON_GATE_DENIED] = { "gate-denied", "a person was asked and denied it" },
        [REASON_GATE_EXPIRED] = { "gate-expired", "nobody approved it in time" },
        [REASON_GATE_WITHDRAWN] = { "gate-withdrawn", "it was given up before anybody approved it" },
        [REASON_GATE_DRIFTED] = { "gate-drifted", "it is not what was approved" },
        [REASON_GATE_TOO_LONG] = { "gate-too-long", "the body is too long to be shown to a person: 64 KiB" },
        [REASON_GATE_UNCLEAR] = { "gate-unclear", "it cannot be shown to a person exactly" },
        [REASON_GATE_FULL] = { "gate-full", "too many effects wait for an approval" },
        [REASON_GATE_GONE] = { "gate-gone", "nobody can be asked" },
        [REASON_LABEL_SECRECY] = { "label-secrecy", "the run was handed or has read private data that the "
                                                    "door does not accept" },
        [REASON_LABEL_TRIFECTA] = { "label-trifecta", "the run was handed or has read private data that the "
                                                      "door does not accept, and "
                                                      "untrusted text" },
        [REASON_LABEL_ACTION] = { "label-action",
                                  "the run has read untrusted text, so a person must approve what it does" },
        [REASON_LABEL_DECLASSIFY] = { "label-declassify", "the run was handed or has read private data that "
                                                          "leaves only if a person approves" },

        [REASON_NOT_TLS] = { "not-tls", "port 443 without a TLS ClientHello" },
        [REASON_SNI_ENCRYPTED] = { "sni-encrypted", "the hello hides a name in an encrypted one (ECH)" },
        [REASON_SNI_EARLY_DATA] = { "sni-early-data",
                                    "the hello comes with data that wait for no answer (early data)" },
        [REASON_SNI_MISSING] = { "sni-missing", "the TLS hello names no host" },
        [REASON_SNI_OTHER] = { "sni-other", "the TLS hello names another host" },
        [REASON_SNI_MALFORMED] = { "sni-malformed", "the TLS hello is malformed" },
        [REASON_SNI_NOT_FIRST] = { "sni-not-first", "a TLS record other than a plain hello comes first" },
        [REASON_SNI_ENDLESS] = { "sni-endless", "what follows the TLS hello has no end" },

        [REASON_NOT_HTTP] = { "not-http", "this is neither HTTP nor a TLS hello" },
        [REASON_HTTP2_MALFORMED] = { "http2-malformed", "a stream or frame of HTTP/2 breaks its rules" },
        [REASON_HEADER_FOLDED] = { "header-folded", "a header line is folded" },
        [REASON_HEADER_COUNT] = { "header-count", "there are more than 256 header lines" },
        [REASON_HEADER_NAME] = { "header-name", "a header line has no proper name" },
        [REASON_HEADER_BYTE] = { "header-byte", "a header holds a control byte" },
        [REASON_LINE_END] = { "line-end", "a line does not end in CR LF" },
        [REASON_LENGTH_AND_CODING] = { "length-and-coding", "both a length and a transfer coding" },
        [REASON_LENGTH_TWICE] = { "length-twice", "a length or transfer coding is stated twice" },
        [REASON_CODING] = { "coding", "a transfer coding other than chunked" },
        [REASON_LENGTH] = { "length", "the length is not a plain number" },
        [REASON_CONNECTION_NAMES] = { "connection-names", "Connection names more than 64 headers" },
        [REASON_HEAD_TOO_LONG] = { "head-too-long", "the head is too long" },
        [REASON_REQUEST_LINE] = { "request-line", "the request line is not METHOD TARGET VERSION" },
        [REASON_HTTP_VERSION] = { "http-version", "only HTTP/1.1 is spoken here" },
        [REASON_BODY_UNCLEAR] = { "body-unclear", "a header that frames the body is hop-by-hop" },
        [REASON_HOST_COUNT] = { "host-count", "there must be one Host header" },
        [REASON_EXPECTATION] = { "expectation", "an expectation other than 100-continue" },
        [REASON_STATUS_LINE] = { "status-line", "the status line is not VERSION STATUS REASON" },
        [REASON_STATUS_BYTE] = { "status-byte", "the reason holds a control byte" },
        [REASON_METHOD_UNKNOWN] = { "method-unknown", "this method is not let through" },
        [REASON_WEBSOCKET] = { "websocket", "the upgrade to websocket is malformed" },
        [REASON_QUERY_BYTE] = { "query-byte", "a character that no URL query has" },
        [REASON_QUERY_NUL] = { "query-nul", "an escaped NUL in the query" },
        [REASON_TARGET] = { "target", "the target is neither a path nor a URL of this server" },
        [REASON_TARGET_OTHER] = { "target-other", "the target names another server than the connection" },
        [REASON_TARGET_NO_PATH] = { "target-no-path", "the target has no path" },
        [REASON_PATH_TOO_LONG] = { "path-too-long", "the path is too long" },
        [REASON_PATH_SEGMENTS] = { "path-segments", "too many segments behind an escaped slash" },
        [REASON_PATH_MALFORMED] = { "path-malformed", "the path is malformed" },
        [REASON_HOST_HEADER] = { "host-header", "the Host header names another server than the connection" },
        [REASON_CHUNK_SIZE] = { "chunk-size", "a chunk's size is not plain hexadecimal" },
        [REASON_CHUNK_EXTENSION] = { "chunk-extension",
                                     "what follows a chunk's size is too long or holds a control byte" },
        [REASON_CHUNK_TRAILER] = { "chunk-trailer",
                                   "what follows the last chunk is too long or holds a control byte" },
        [REASON_CHUNK_LINE_END] = { "chunk-line-end", "a chunk's size line does not end in CR LF" },
        [REASON_CHUNK_LENGTH] = { "chunk-length", "a chunk is longer than its size line" },
        [REASON_TRAILER_LINE_END] = { "trailer-line-end", "a trailer line does not end in CR LF" },
        [REASON_CHUNKED] = { "chunked", "a chunked body is broken" },
        [REASON_READ_TWICE] = { "read-twice", "the request cannot be read twice" },

        [REASON_DESTINATION] = { "destination",
                                 "the Destination header is not one plain path of this server" },
        [REASON_DESTINATION_DOOR] = { "destination-door", "the door does not cover the Destination header" },
        [REASON_METHOD_HEADER] = { "method-header",
                                   "a header asks for another method than the request's own" },
        [REASON_PATH_HEADER] = { "path-header", "a header asks for another path than the request's own" },
        [REASON_SOURCE_HEADER] = { "source-header",
                                   "a header names a second resource, which no door opens to "
                                   "this request's credential" },
        [REASON_SOURCE_UNCLEAR] = { "source-unclear", "a header or parameter names a second resource, and it "
                                                      "is not clear which" },
        [REASON_METHOD_COOKIE] = { "method-cookie",
                                   "a cookie asks for another method than the request's own" },
        [REASON_METHOD_PARAMETER] = { "method-parameter",
                                      "a parameter asks for another method than the request's own" },
        [REASON_ESCAPED_SLASH] = { "escaped-slash", "an escaped slash where the door's own path is: a server "
                                                    "could read it as another path" },
        [REASON_NO_PLACE] = { "no-place", "no place names this URL in the stage test" },
        [REASON_PLACE_NOWHERE] = { "place-nowhere", "this place leads nowhere in this stage" },
        [REASON_NOT_RECORDED] = { "not-recorded",
                                  "the stage is mock and no recorded answer fits this request" },

        [REASON_PLACEHOLDER_IN_NAME] = { "placeholder-in-name",
                                         "a placeholder of a credential stands in the name" },
        [REASON_PLACEHOLDER_IN_BODY] = { "placeholder-in-body", "a placeholder of a credential stands in a "
                                                                "body where it does not belong" },
        [REASON_PLACEHOLDER] = { "placeholder",
                                 "a placeholder of a credential stands where it does not belong" },
        [REASON_OWN_PLACEHOLDER] = { "own-placeholder", "the placeholder of this door's credential stands "
                                                        "where it does not belong" },
        [REASON_BODY_PACKED] = { "body-packed",
                                 "the body is compressed in a way that is not searched for secrets" },
        [REASON_CANARY] = { "canary", "a canary, which nobody has a use for, was sent" },
        [REASON_CREDENTIAL_NOT_LOADED] = { "credential-not-loaded",
                                           "the credential of this door is not loaded" },
        [REASON_CREDENTIAL_EXPIRED] = { "credential-expired", "the credential of this door has expired" },
        [REASON_CREDENTIAL_USED_UP] = { "credential-used-up",
                                        "the credential of this door is used up for this run" },
        [REASON_SECRET_REMOVED] = { "secret-removed", "the server sent a secret back: it was removed" },
        [REASON_SIGV4_PRESIGNED] = { "sigv4-presigned", "the URL is presigned with the placeholder: the door "
                                                        "signs requests, not URLs" },
        [REASON_SIGV4_ALGORITHM] = { "sigv4-algorithm",
                                     "the request is signed in another way than AWS4-HMAC-SHA256, which is "
                                     "all that the door can sign" },
        [REASON_SIGV4_CHUNKS] = { "sigv4-chunks", "each chunk of the body is signed with the placeholder: "
                                                  "let the client sign no payload, or the whole" },
        [REASON_SIGV4_SCOPE] = { "sigv4-scope",
                                 "neither a signature nor the host's name says for which region and "
                                 "service of AWS to sign" },
        [REASON_SIGV4_LENGTH] = { "sigv4-length",
                                  "the body is longer than 4 MiB and its hash, which is signed, is "
                                  "not in a header" },

        [REASON_TLS_SERVER] = { "tls-server", "TLS to the server failed" },
        [REASON_TLS_CLIENT] = { "tls-client", "the TLS of the box failed" },
        [REASON_TLS_NAME] = { "tls-name", "TLS cannot be opened up for this name" },
        [REASON_TLS_BROKE] = { "tls-broke", "TLS broke" },
        [REASON_SERVER_CLOSED] = { "server-closed", "the server cannot be reached" },
        [REASON_SERVER_SILENT] = { "server-silent", "the server closed the connection without an answer" },
        [REASON_SERVER_HTTP1] = { "server-http1", "the server does not speak HTTP/2, which gRPC needs" },
        [REASON_ANSWER_CUT] = { "answer-cut", "the server broke off its answer" },
        [REASON_ANSWER_FORM] = { "answer-form", "the answer is not what the door says" },
        [REASON_ANSWER_MALFORMED] = { "answer-malformed", "the server's answer is not passed on" },
        [REASON_ANSWER_UPGRADE] = { "answer-upgrade",
                                    "the server changed to a protocol that was not asked for" },
        [REASON_ANSWER_PROVISIONAL] = { "answer-provisional",
                                        "the server sends nothing but provisional answers" },
        [REASON_ANSWER_COMPRESSED] = { "answer-compressed",
                                       "the server compressed its answer though it was asked not to: a "
                                       "secret in it could not be seen" },
        [REASON_ANSWER_DAMAGED] = { "answer-damaged", "the compressed answer is damaged" },
        [REASON_ANSWER_BREAKS_OFF] = { "answer-breaks-off",
                                       "the compressed answer breaks off before its end" },
        [REASON_ANSWER_UNREAD] = { "answer-unread", "this build cannot read compressed answers" },
        [REASON_ANSWER_TAIL] = { "answer-tail", "something follows the end of the compressed answer" },
        [REASON_CLIENT_CUT] = { "client-cut", "the client broke off its request" },
        [REASON_CLIENT_LEFT] = { "client-left", "the client left before its end" },
        [REASON_CLIENT_LEFT_EARLY] = { "client-left-early", "the client left before the answer" },
};
_Static_assert(sizeof reasons / sizeof *reasons == REASON__COUNT, "a row for each reason");

const char *effect_reason_name(enum effect_reason r)
{
        return (unsigned) r < REASON__COUNT ? reasons[r].name : "unknown";
}

void effect_put_why(struct buf *out, enum effect_reason r, const char *detail)
{
        bool whole = r == REASON_PARAMETER && detail[0]; /* it names the parameter, which is enough */
        buf_printf(out, "%s%s%s", whole ? "" : effect_reason_text(r), detail[0] && !whole ? ": " : "",
                   detail);
}

enum effect_reason effect_reason_find(struct span name)
{
        for (unsigned r = REASON_NONE + 1; r < REASON__COUNT; r++)
                if (span_is(name, reasons[r].name))
                        return (enum effect_reason) r;
        return REASON_NONE;
}

bool effect_reason_is_placeholder(enum effect_reason r)
{
        return r == REASON_PLACEHOLDER_IN_NAME || r == REASON_PLACEHOLDER_IN_BODY || r == REASON_PLACEHOLDER;
}

bool effect_reason_is_credential(enum effect_reason r)
{
        return effect_reason_is_placeholder(r) || r == REASON_OWN_PLACEHOLDER || r == REASON_CANARY ||
               r == REASON_CREDENTIAL_NOT_LOADED || r == REASON_CREDENTIAL_EXPIRED ||
               r == REASON_CREDENTIAL_USED_UP;
}

const char *effect_reason_text(enum effect_reason r)
{
        return (unsigned) r < REASON__COUNT ? reasons[r].text : "";
}
