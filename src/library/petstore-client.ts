import process, { hrtime } from 'node:process';
import { type Client, createClient } from '../api/client.ts';
import type { Transport } from '../api/transport.ts';
import { createUndiciTransport } from '../api/undici.ts';
import { createGovernor } from '../rate-limit/admission.ts';
import type { Governor } from '../rate-limit/governor.ts';
import type { LimitsStore } from '../rate-limit/limits-store.ts';
import { MemoryLimits } from '../rate-limit/memory-limits.ts';
import { scopeOf } from '../rate-limit/scope.ts';
import { parseBaseUrl } from '../settings/base-url.ts';
import { parseKey } from '../settings/keys.ts';
import type { Clock } from '../shared/clock.ts';
import { UsageError } from '../shared/errors.ts';
import type { Processes } from '../shared/processes.ts';
import { createSystemClock } from '../shared/system-clock.ts';
import { createSystemProcesses } from '../shared/system-processes.ts';
import { version } from '../shared/version.ts';
import { serviceOf } from '../state/service-of.ts';

export interface PetstoreClientOptions {
  /** Ends in `/v1`; https, or http on a loopback address. */
  readonly baseUrl: string;
  readonly key: string;
  /**
   * Where limits and gates are remembered, shared with every process that names the same folder, those of the command line
   * included. It is opened with the first request. Without it they are remembered for this client alone.
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
  /**
   * Called where the state folder can't be used: limits are then remembered for this client alone. Without it every request
   * fails with that reason instead, a FailureError or an UnavailableError.
   */
  onFallback?(reason: Error): void;
  /** Called with a sentence where the state was damaged, or the service asks for a wait that makes no sense. */
  onWarning?(line: string): void;
  /** Called before each wait, with its length in milliseconds. */
  onWait?(ms: number): void;
  /** Default: undici. */
  readonly transport?: Transport;
  /** Default: the clock of this machine. */
  readonly clock?: Clock;
}

/** Without the columns, whose buffers are filled again and again. */
export type PetstoreClient = Omit<Client, 'scanInventory'>;

/** @throws UsageError for a base URL or a key that can't be used */
export function createPetstoreClient(options: PetstoreClientOptions): PetstoreClient {
  const baseUrl = usable('baseUrl', parseBaseUrl(options.baseUrl));
  const key = usable('key', parseKey(options.key));
  const clock = options.clock ?? createSystemClock(hrtime.bigint);
  const timeout = options.timeout ?? 30_000;
  const { scanInventory, ...operations } = createClient({
    baseUrl,
    key,
    userAgent: `petstock/${version}`,
    transport: options.transport ?? createUndiciTransport(),
    governor: createLateGovernor(() => openGovernor(options, { baseUrl, key, clock, timeout })),
    clock,
    timeout,
    interrupted: options.signal ?? new AbortController().signal,
    random: Math.random,
  });
  return operations;
}

interface Target {
  readonly baseUrl: string;
  readonly key: string;
  readonly clock: Clock;
  readonly timeout: number;
}

async function openGovernor(options: PetstoreClientOptions, target: Target): Promise<Governor> {
  const { baseUrl, key, clock, timeout } = target;
  const { origin } = new URL(serviceOf(baseUrl));
  const kill = (pid: number, signal: 0) => process.kill(pid, signal);
  const processes = createSystemProcesses({ pid: process.pid, boot: clock.boot(), kill });
  return createGovernor({
    clock,
    store: await openLimits(options, clock, processes),
    scope: scopeOf(origin, key),
    lease: timeout + 1000,
    bulk: options.bulk ?? false,
    env: options.name ?? origin,
    maxWait: options.maxWait ?? 90_000,
    maxWaitFor: 'each',
    self: processes.self,
    isGone: (other) => processes.isGone(other),
    random: Math.random,
    onWait: (ms) => options.onWait?.(ms),
    onUnbelievable: (line) => options.onWarning?.(line),
  });
}

async function openLimits(options: PetstoreClientOptions, clock: Clock, processes: Processes): Promise<LimitsStore> {
  const { stateFolder: folder, onFallback, onWarning } = options;
  if (folder === undefined) return new MemoryLimits();
  try {
    const { openState } = await import('../state/open-state.ts');
    const warn = (line: string) => onWarning?.(line);
    const random = Math.random;
    const state = await openState({ folder, need: 'limits', clock, processes, random, command: 'a program', warn });
    return state.limits;
  } catch (error) {
    if (onFallback === undefined) throw error;
    onFallback(error as Error);
    return new MemoryLimits();
  }
}

/** A governor that is made for the first request. Where that fails, the next request tries again. */
function createLateGovernor(open: () => Promise<Governor>): Governor {
  let governor: Promise<Governor> | undefined;
  let opened: Governor | undefined;
  const opening = async (): Promise<Governor> => {
    governor ??= open();
    try {
      opened = await governor;
      return opened;
    } catch (error) {
      governor = undefined;
      throw error;
    }
  };
  return {
    admit: async (signal) => (opened ?? (await opening())).admit(signal),
    admitSeveral: async (want, signal) => (opened ?? (await opening())).admitSeveral(want, signal),
    flush: async () => opened?.flush(),
    get lastSeen() {
      return opened?.lastSeen;
    },
  };
}

function usable(name: string, parsed: ReturnType<typeof parseBaseUrl>): string {
  if (parsed.ok) return parsed.value;
  throw new UsageError(`${name}: ${parsed.fault}`);
}
