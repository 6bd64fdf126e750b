/* SPDX-License-Identifier: MIT */
/* base/end_signals.h - the signals that end a server: SIGTERM, SIGINT and SIGHUP. */
#pragma once

/* Blocks them for this process. Returns a non-blocking descriptor that reports them, or -1. */
int end_signals_open(void);
