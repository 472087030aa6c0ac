import process from 'node:process';
import type { ClientOptions } from '../api/client.ts';
import { createUndiciTransport } from '../api/undici.ts';
import { createGovernor } from '../rate-limit/admission.ts';
import type { Governor, Permit } from '../rate-limit/governor.ts';
import { scopeOf } from '../rate-limit/key-state.ts';
import { currentLimits } from '../rate-limit/known-limits.ts';
import type { LimitsStore } from '../rate-limit/limits-store.ts';
import { MemoryLimits } from '../rate-limit/memory-limits.ts';
import type { Clock } from '../shared/clock.ts';
import { UsageError } from '../shared/errors.ts';
import { keptBoot } from '../shared/kept-boot.ts';
import { machineTime } from '../shared/machine-time.ts';
import type { Processes } from '../shared/processes.ts';
import { runtimeFolder } from '../shared/runtime-folder.ts';
import { createSystemClock } from '../shared/system-clock.ts';
import { createSystemProcesses } from '../shared/system-processes.ts';
import { version } from '../shared/version.ts';
import { serviceOf } from '../state/service-of.ts';
import type { State } from '../state/state.ts';
import type { LimitState, PetstoreClientOptions, Plumbing } from './options.ts';
import { userName } from './user-name.ts';

/** What all calls of one client share. The governor and the state are opened with the first request. */
export interface LibraryConnection {
  readonly sending: Omit<ClientOptions, 'interrupted'>;
  readonly clock: Clock;
  readonly governor: Governor;
  /** For the history: the name that was given, else the origin. */
  readonly name: string;
  readonly service: string;
  readonly scope: string;
  /** The state with the history; undefined without one. @throws FailureError if it can't be used */
  findState(): Promise<State | undefined>;
  /** The state with the history. @throws UsageError without a state folder, FailureError where it can't be used */
  requireState(): Promise<State>;
  /** The last known limits of the key, without a request. */
  limits(): Promise<readonly LimitState[]>;
  close(): Promise<void>;
}

interface Opened {
  readonly governor: Governor;
  readonly limits: LimitsStore;
  readonly state: State | undefined;
}

/** @param target both have been checked */
export function openConnection(
  options: PetstoreClientOptions & Plumbing,
  { baseUrl, key }: { readonly baseUrl: string; readonly key: string },
): LibraryConnection {
  const clock = options.clock ?? systemClock(options);
  const timeout = options.timeout ?? 30_000;
  const service = serviceOf(baseUrl);
  const { origin } = new URL(service);
  const name = options.name ?? origin;
  const scope = scopeOf(origin, key);
  const kill = (pid: number, signal: 0) => process.kill(pid, signal);
  const processes = createSystemProcesses({
    pid: process.pid,
    get boot() {
      return clock.boot();
    },
    kill,
  });
  const late = openLate(async () => {
    const state = await openLibraryState(options, clock, processes);
    const store = state?.limits ?? new MemoryLimits();
    const governor = createGovernor({
      clock,
      store,
      scope,
      lease: timeout + 1000,
      bulk: options.bulk ?? false,
      alone: state?.isStandIn ?? false,
      env: name,
      maxWait: options.maxWait ?? 90_000,
      maxWaitFor: 'each',
      self: processes.self,
      isGone: (other) => processes.isGone(other),
      random: Math.random,
      onWait: (ms) => options.onWait?.(ms),
      onUnbelievable: (line) => options.onWarning?.(line),
    });
    return { governor: tellingLimits(governor, options.onLimit), limits: store, state };
  });
  const transport = options.transport ?? createUndiciTransport();
  const userAgent = `petstock/${version}`;
  const governor = lateGovernor(late);
  return {
    sending: {
      ...{ baseUrl, key, userAgent, transport, governor, clock, timeout, random: Math.random },
      retries: options.retries,
    },
    clock,
    governor,
    name,
    service,
    scope,
    findState: async () => (await late.open()).state,
    requireState: async () => {
      const { state } = await late.open();
      if (state !== undefined) return state;
      throw new UsageError(
        'apply and undo need a stateFolder or a stateUrl that can be used: every write is recorded there first',
      );
    },
    limits: async () => {
      const { limits } = await late.open();
      return currentLimits([{ scope, state: limits.peek(scope) }], clock).map(limitState);
    },
    close: async () => {
      const opened = await late.opening()?.catch(() => undefined);
      await opened?.governor.flush();
      await opened?.state?.close();
    },
  };
}

function systemClock({ stateFolder: folder }: PetstoreClientOptions): Clock {
  if (folder === undefined) return createSystemClock(machineTime(process));
  return createSystemClock(machineTime(process), { kept: (monotonic) => keptBoot({ folder, monotonic }) });
}

async function openLibraryState(
  options: PetstoreClientOptions,
  clock: Clock,
  processes: Processes,
): Promise<State | undefined> {
  const { stateFolder: folder, stateUrl: url, onFallback, onWarning } = options;
  const warn = (line: string) => onWarning?.(line);
  const places = { runtimeFolder: runtimeFolder(process.env) };
  const { withGateCopies } = await import('../state/gate-copies.ts');
  const shared = { clock, processes, random: Math.random, command: 'a program', user: userName() };
  try {
    if (folder !== undefined) {
      const { openState } = await import('../state/open-state.ts');
      const opening = { ...shared, folder, url, need: 'limits' as const, warn };
      return withGateCopies(await openState(opening), { ...opening, ...places });
    }
    if (url === undefined) return undefined;
    const { openPostgres } = await import('../state/postgres/open-postgres.ts');
    return withGateCopies(await openPostgres({ ...shared, url }), { clock, warn, ...places });
  } catch (error) {
    if (onFallback === undefined) throw error;
    onFallback(error as Error);
    return undefined;
  }
}

interface KnownWindow {
  readonly limit: number;
  readonly remaining: number;
  readonly resetAt: number;
  readonly asOf: number;
}

function limitState({ limit, remaining, resetAt, asOf }: KnownWindow): LimitState {
  return { limit, remaining, resetAt: new Date(resetAt), asOf: new Date(asOf) };
}

/** The same governor, which says after each answer what that says of the limit. */
function tellingLimits(governor: Governor, onLimit: PetstoreClientOptions['onLimit']): Governor {
  if (onLimit === undefined) return governor;
  const telling = (permit: Permit): Permit => ({
    ...permit,
    answered: async (answer) => {
      const before = governor.lastSeen;
      await permit.answered(answer);
      const seen = governor.lastSeen;
      if (seen === undefined || seen === before) return;
      const { limit, remaining, resetIn, asOf } = seen;
      onLimit(limitState({ limit: Number(limit), remaining: Number(remaining), resetAt: asOf + resetIn, asOf }));
    },
  });
  return {
    admit: async (signal) => telling(await governor.admit(signal)),
    admitSeveral: async (want, signal) => {
      const [first, ...others] = await governor.admitSeveral(want, signal);
      return [telling(first), ...others.map(telling)];
    },
    flush: () => governor.flush(),
    get lastSeen() {
      return governor.lastSeen;
    },
  };
}

interface Late<T> {
  /** Opens it once. Where that fails, the next one tries again. */
  open(): Promise<T>;
  /** What has been opened, or is being; undefined where nothing was. */
  opening(): Promise<T> | undefined;
  readonly opened: T | undefined;
}

function openLate<T>(make: () => Promise<T>): Late<T> {
  let opening: Promise<T> | undefined;
  let opened: T | undefined;
  return {
    open: async () => {
      opening ??= make();
      try {
        opened = await opening;
        return opened;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    opening: () => opening,
    get opened() {
      return opened;
    },
  };
}

function lateGovernor(late: Late<Opened>): Governor {
  const governor = async () => (late.opened ?? (await late.open())).governor;
  return {
    admit: async (signal) => (await governor()).admit(signal),
    admitSeveral: async (want, signal) => (await governor()).admitSeveral(want, signal),
    flush: async () => late.opened?.governor.flush(),
    get lastSeen() {
      return late.opened?.governor.lastSeen;
    },
  };
}
