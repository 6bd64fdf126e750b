/* SPDX-License-Identifier: MIT */
/* face/cli/shared_options.c - the options that mean the same in every verb that takes them; verb_rows.inc
 * says which. */
#include "face/cli/cli.h"

enum { LAST_MAX = 1000000 };

static int set_passphrase_fd(void *ctx, const char *value)
{
        ((struct cli_shared *) ctx)->passphrase_fd = value;
        return cli_descriptor(value, 'r') < 0
                       ? (cli_usage("--passphrase-fd %s is not a descriptor that is open for reading", value),
                          -1)
                       : 0;
}

const struct cli_option cli_shared_options[] = {
        { "work", 0, "DIR", "directory that {work} stands for (default: the current one)",
          CLI_TEXT(struct cli_shared, work), OPT_WORK },
        { "stage", 0, "live|test|mock", "where places lead (default: live)",
          CLI_TEXT(struct cli_shared, stage), OPT_STAGE },
        { "places", 0, "FILE", "file that maps @NAME to a URL for each stage",
          CLI_TEXT(struct cli_shared, places), OPT_PLACES },
        { "ledger", 0, "on|off", "record effects in the ledger (default: on)",
          CLI_TEXT(struct cli_shared, ledger), OPT_LEDGER },
        { "observe", 0, "off|calls|denials|all", "which effects to report (default: denials)",
          CLI_TEXT(struct cli_shared, observe), OPT_OBSERVE },
        { "passphrase-fd", 0, "FD", "read the vault passphrase from this descriptor",
          CLI_CALL(set_passphrase_fd), OPT_PASSPHRASE },
        { "http", 0, "ADDRESS", "serve HTTP: 127.0.0.1:PORT or unix:PATH, with a bearer token",
          CLI_TEXT(struct cli_shared, http), OPT_HTTP },
        { "token-file", 0, "FILE", "HTTP: the token; made if missing (default: ~/.config/cordon/mcp-token)",
          CLI_TEXT(struct cli_shared, token_file), OPT_HTTP },
        { "config", 0, "DIR", "HTTP: tenants, policies and tokens (default: ~/.config/cordon/serve)",
          CLI_TEXT(struct cli_shared, config), OPT_CONFIG },
        { "box", 0, "NAME", "only boxes with this name", CLI_ONCE(struct cli_shared, box), OPT_PAST },
        { "since", 0, "TIME", "only records since this time: 90s, 2h, 7d or a date",
          CLI_TIME(struct cli_shared, since_us), OPT_SINCE },
        { "last", 'n', "N", "only the newest N", CLI_COUNT(struct cli_shared, last, 1, LAST_MAX), OPT_PAST },
        { "from", 0, "DIR", "read this ledger (repeatable)", CLI_LIST(struct cli_shared, from), OPT_FROM },
        { "status", 0, "N", "exit status that counts as success (default: 0)",
          CLI_COUNT(struct cli_shared, status, 0, 255), OPT_STATUS },
        { "reason", 0, "TEXT", "record this reason", CLI_TEXT(struct cli_shared, reason), OPT_REASON },
        { "show", 0, NULL, "print what waits, and accept nothing", CLI_FLAG(struct cli_shared, show),
          OPT_SHOW },
        { "root", 0, NULL, "appear as uid 0 inside, without privileges outside",
          CLI_FLAG(struct cli_shared, root), OPT_ROOT },
        { "all", 'a', NULL, "all of them", CLI_FLAG(struct cli_shared, all), OPT_ALL },
        { "verbose", 'v', NULL, "list everything: all that was blocked, every entry, every step",
          CLI_FLAG(struct cli_shared, verbose), OPT_VERBOSE },
        { "quiet", 'q', NULL, "print no notes, and no report at the end", CLI_FLAG(struct cli_shared, quiet),
          OPT_QUIET },
        { "json", 0, NULL, "print JSON", CLI_FLAG(struct cli_shared, json), OPT_JSON },
        { 0 },
};
const size_t cli_shared_count = sizeof cli_shared_options / sizeof *cli_shared_options;
