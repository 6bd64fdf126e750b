// SPDX-License-Identifier: MIT
import { Readable, Writable } from "node:stream";

type Doors = string | Iterable<string>;

/** Doors are the words of cordon.policy(5), limits are `time`, `memory` and so on. What no door opens is closed. */
export interface BoxOptions {
  read?: Doors;
  write?: Doors;
  edit?: Doors;
  run?: Doors;
  net?: Doors;
  sock?: Doors;
  listen?: Doors;
  use?: Doors;
  local?: Doors;
  /** null: pass the variable on. */
  env?: Record<string, string | null>;
  /** A file of door lines, or the name of a stock policy. */
  policy?: string;
  /** A time: a text ("10s") or a number of seconds. */
  time?: string | number;
  cpu?: string | number;
  renew?: string | number;
  memory?: string | number;
  procs?: string | number;
  files?: string | number;
  disk?: string | number;
  output?: string | number;
  egress?: string | number;
  ingress?: string | number;
  effects?: string | number;
  rate?: string | number;
  /** The program, if it is not in PATH; also the variable CORDON. */
  program?: string;
  /** Runs are those of a `cordon serve --http` there: http://, https:// or unix:/PATH. `policy` is one that it has registered; doors and limits are
   * lines within the tenant's ceiling. */
  url?: string;
  /** Also the variable CORDON_TOKEN. */
  token?: string;
  /** With `url`: a text of door lines. */
  lines?: string;
  /** With `url`: by which lists of the server find the runs. */
  labels?: Record<string, string>;
}

export interface RunOptions {
  input?: string | Uint8Array;
  cwd?: string;
  name?: string;
  stage?: "live" | "test" | "mock";
  ledger?: "on" | "off";
  /** Aborting ends the box. */
  signal?: AbortSignal;
  /** Reject with RunError unless the command exits with status 0. */
  check?: boolean;
  /** "buffer": stdout and stderr are Buffers; default: text. */
  encoding?: "utf8" | "buffer";
}

/** One effect that no door permits. `permit` is the door line that would permit it. */
export interface Denial {
  what: string;
  code: string;
  reason: string;
  why: string;
  permit: string | null;
  path?: string;
  program?: string;
  count: number;
  minor: boolean;
  next_steps: string[];
}

export interface Result {
  end: "exited" | "signaled" | "limit" | "not-started" | "cancelled";
  /** The status a shell would see. */
  returncode: number;
  stdout: string | Buffer;
  stderr: string | Buffer;
  denials: Denial[];
  ok: boolean;
  limit: string | null;
  error?: string;
  hint?: string;
  /** The id of the changes below edit doors, for `cordon diff` and `cordon apply`. */
  work?: string;
  /** The run's id in the ledger. */
  run: string;
  /** The whole result as cordon gave it. */
  raw: Record<string, unknown>;
  summary(): string;
  diff(): Promise<string>;
  apply(paths?: string[]): Promise<void>;
  discard(): Promise<void>;
}

/** A run that goes on. Its streams are the command's; on a server it begins when its input ends: `stdin.end()`. */
export interface Run {
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  kill(signal?: NodeJS.Signals): void;
  result: Promise<Result>;
}

export class Box {
  constructor(options?: BoxOptions);
  run(args: string[], options?: RunOptions): Promise<Result>;
  start(args: string[], options?: RunOptions): Run;
  /** Starts a box that stays, for many commands. */
  session(options?: { name?: string }): Promise<Session>;
  doors(): Promise<string>;
  why(effect: string): Promise<string>;
  allows(effect: string): Promise<boolean>;
}

/** Files, overlays and background processes are kept from command to command. */
export class Session {
  id: string;
  name: string;
  run(args: string[], options?: RunOptions): Promise<Result>;
  start(args: string[], options?: RunOptions): Run;
  /** Ends it and what runs in it. The result of the whole has the changes. */
  end(): Promise<Result>;
}

/** cordon itself failed. */
export class CordonError extends Error {
  code: string;
  what: string;
  hint: string;
}

/** A run with check did not end with exit status 0. */
export class RunError extends Error {
  result: Result;
}
