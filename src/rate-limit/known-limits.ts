import { join } from 'node:path';
import { scopesIn } from './generations.ts';
import { type WindowKind, windowKinds } from './key-state.ts';
import { readState } from './ledger-file.ts';

/** What a service last told of one window of one key. Times are milliseconds since the Unix epoch. */
export interface KnownLimit {
  /** Names the service and the key, by `scopeOf`. */
  readonly scope: string;
  readonly env: string;
  readonly kind: WindowKind;
  readonly limit: number;
  /** What was left, less what was sent since. */
  readonly remaining: number;
  /** By the service's clock. */
  readonly resetAt: number;
  /** By the local clock. */
  readonly asOf: number;
}

/** Where the ledgers are, in the state folder. */
export function ledgerFolder(stateFolder: string): string {
  return join(stateFolder, 'limits');
}

/** The last known limits of every key that was used on this machine, without a request. */
export function readKnownLimits(stateFolder: string): KnownLimit[] {
  const folder = ledgerFolder(stateFolder);
  return scopesIn(folder)
    .flatMap((scope) => readScope(folder, scope))
    .sort((a, b) => a.env.localeCompare(b.env) || b.asOf - a.asOf);
}

/** A time before which nothing is sent with a key. */
export interface KnownGate {
  readonly env: string;
  /** By the local clock: milliseconds since the Unix epoch. */
  readonly until: number;
}

/** The gates that 429s have closed. Some may be over. */
export function readKnownGates(stateFolder: string): KnownGate[] {
  const folder = ledgerFolder(stateFolder);
  return scopesIn(folder).map((scope) => {
    const { env, gate } = readState({ folder, scope });
    return { env, until: gate.wall };
  });
}

function readScope(folder: string, scope: string): KnownLimit[] {
  const { env, windows } = readState({ folder, scope });
  return windowKinds.flatMap((kind) => {
    const window = windows[kind];
    if (window === undefined) return [];
    const { limit, left, reset, asOf } = window;
    return [{ scope, env, kind, limit, remaining: Math.max(0, left), resetAt: reset, asOf }];
  });
}
