import { randomBytes } from 'node:crypto';
import { hrtime } from 'node:process';
import { type Client, createClient } from '../api/client.ts';
import type { Transport } from '../api/transport.ts';
import { createUndiciTransport } from '../api/undici.ts';
import { createGovernor } from '../rate-limit/admission.ts';
import { ledgerFolder } from '../rate-limit/known-limits.ts';
import { createTransientLedger } from '../rate-limit/ledger.ts';
import { createFileLedger } from '../rate-limit/ledger-file.ts';
import { scopeOf } from '../rate-limit/scope.ts';
import { parseBaseUrl } from '../settings/base-url.ts';
import { parseKey } from '../settings/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UsageError } from '../shared/errors.ts';
import { createSystemClock } from '../shared/system-clock.ts';
import { version } from '../shared/version.ts';

export interface PetstoreClientOptions {
  /** Ends in `/v1`; https, or http on a loopback address. */
  readonly baseUrl: string;
  readonly key: string;
  /**
   * Where limits and gates are remembered, shared with every process that names the same folder. Without it they are
   * remembered for this client alone.
   */
  readonly stateFolder?: string;
  /** Under which name the limits are remembered; default: the origin. */
  readonly name?: string;
  /** For one request, in milliseconds; default 30,000. */
  readonly timeout?: number;
  /** The longest wait of one request for the rate limit, in milliseconds; default 90,000. */
  readonly maxWait?: number;
  /** Ends waits and requests. */
  readonly signal?: AbortSignal;
  /** Leaves a small part of the limit (2 %, at least 2) to people. */
  readonly bulk?: boolean;
  /** Told once where the state folder can't be used: from then on requests go one at a time, unseen by other processes. */
  onFallback?(reason: Error): void;
  /** Told before each wait, with its length in milliseconds. */
  onWait?(ms: number): void;
  /** Default: undici. */
  readonly transport?: Transport;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

export type PetstoreClient = Client;

/** @throws UsageError for a base URL or a key that can't be used */
export function createPetstoreClient(options: PetstoreClientOptions): PetstoreClient {
  const baseUrl = usable('baseUrl', parseBaseUrl(options.baseUrl));
  const key = usable('key', parseKey(options.key));
  const clock = options.clock ?? createSystemClock(hrtime.bigint);
  const { origin } = new URL(baseUrl);
  const unique = randomBytes(6).toString('hex');
  const timeout = options.timeout ?? 30_000;
  const ledger =
    options.stateFolder === undefined
      ? createTransientLedger()
      : createFileLedger({
          folder: ledgerFolder(options.stateFolder),
          scope: scopeOf(origin, key),
          unique,
          onFallback: (reason) => options.onFallback?.(reason),
        });
  const governor = createGovernor({
    clock,
    ledger,
    unique,
    lease: timeout + 1000,
    bulk: options.bulk ?? false,
    env: options.name ?? origin,
    maxWait: options.maxWait ?? 90_000,
    maxWaitFor: 'each',
    random: Math.random,
    onWait: (ms) => options.onWait?.(ms),
  });
  return createClient({
    baseUrl,
    key,
    userAgent: `petstock/${version}`,
    transport: options.transport ?? createUndiciTransport(),
    governor,
    clock,
    timeout,
    interrupted: options.signal ?? new AbortController().signal,
    random: Math.random,
  });
}

function usable(name: string, parsed: ReturnType<typeof parseBaseUrl>): string {
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.fault}`);
}
