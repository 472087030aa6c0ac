import process from 'node:process';
import { type Client, createClient } from '../api/client.ts';
import { createUndiciTransport } from '../api/undici.ts';
import { Governor } from '../rate-limit/governor.ts';
import type { KeyLimits } from '../rate-limit/key-limits.ts';
import { scopeOf } from '../rate-limit/key-state.ts';
import { knownLimits } from '../rate-limit/known-limits.ts';
import { MemoryLimits } from '../rate-limit/memory-limits.ts';
import type { SeenRateLimit } from '../rate-limit/permits.ts';
import type { RunContext } from '../runs/run-context.ts';
import { runtimeFolders } from '../settings/folders.ts';
import { serviceNameOf } from '../settings/key-and-url.ts';
import { userOf } from '../shared/account.ts';
import { type Clock, createSystemClock, machineTime } from '../shared/clock.ts';
import { InterruptedError } from '../shared/errors.ts';
import { keptBoot } from '../shared/kept-boot.ts';
import { createSystemProcesses, type Processes } from '../shared/processes.ts';
import { version } from '../shared/version.ts';
import type { OpenStateOptions } from '../state/open-state.ts';
import type { State } from '../state/state.ts';
import type { ClientDependencies, LimitState, PetstoreClientOptions } from './client-options.ts';

/** The name contains the version, because another version may store another shape. */
const limitsName = Symbol.for(`petstock ${version}: limits`);

/**
 * Returns the limits shared by the clients of this thread that have no state, including those of other copies of this
 * module (test runners and bundlers create such copies). A client with an injected clock doesn't use them, because they
 * contain times of the machine's clock.
 */
function limitsOfThread(): MemoryLimits {
  const thread = globalThis as { [name: symbol]: MemoryLimits | undefined };
  const limits = thread[limitsName] ?? new MemoryLimits();
  thread[limitsName] = limits;
  return limits;
}

/** Minimum time that a client goes without its state before it tries to open it again, in milliseconds. */
const stateRetryInterval = 60_000;

/** The connection of a client. The first call opens it; if that fails, the next call tries again. */
export class LazyConnection {
  readonly #options: Omit<Opening, 'need'>;
  #opening: Promise<LibraryConnection> | undefined;
  #triedAt = 0;
  /** The fallback connection that was replaced; calls that began before may still use it. */
  #before: LibraryConnection | undefined;

  constructor(options: PetstoreClientOptions & ClientDependencies) {
    const memory = options.clock === undefined ? limitsOfThread() : new MemoryLimits();
    this.#options = { ...options, memory, clock: options.clock ?? systemClock(options) };
  }

  /**
   * Returns the connection; while that is a fallback, tries to open the state again, at most once a minute.
   * @throws FailureError or UnavailableError if the state can't be opened and `onFallback` is not set
   */
  async open(): Promise<LibraryConnection> {
    this.#opening ??= this.#connect({ ...this.#options, need: 'limits' }).catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    const connection = await this.#opening;
    if (!connection.isFallback || this.#options.clock.monotonic() < this.#triedAt + stateRetryInterval)
      return connection;
    try {
      const configured = await this.#connect({ ...this.#options, need: 'history', onFallback: undefined });
      this.#before = connection;
      this.#opening = Promise.resolve(configured);
      return configured;
    } catch {
      // The configured state is still unavailable.
      return connection;
    }
  }

  async close(): Promise<void> {
    const connection = await this.#opening?.catch(() => undefined);
    await Promise.all([connection?.close(), this.#before?.close()]);
  }

  #connect(options: Opening): Promise<LibraryConnection> {
    this.#triedAt = options.clock.monotonic();
    return openConnection(options);
  }
}

interface Opening extends PetstoreClientOptions, Pick<ClientDependencies, 'transport'>, Pick<OpenStateOptions, 'need'> {
  readonly clock: Clock;
  readonly memory: MemoryLimits;
}

/** The open connection of a client, shared by all its calls. */
export interface LibraryConnection {
  /** Undefined if the client has no state; nothing is recorded then. */
  readonly state: State | undefined;
  /** Whether a state was configured, but can't be used. */
  readonly isFallback: boolean;
  /** Returns a client for one call, whose requests `signal` aborts. */
  clientFor(signal: AbortSignal): Client;
  runContextFor(signal: AbortSignal, state: State): RunContext;
  limits(): readonly LimitState[];
  close(): Promise<void>;
}

/** Opens the state, and creates the governor and the transport. */
async function openConnection(options: Opening): Promise<LibraryConnection> {
  const { baseUrl, key, clock, timeout = 30_000, onLimit, onWait, onWarning } = options;
  const serviceName = serviceNameOf(baseUrl);
  const { origin } = new URL(serviceName);
  const { name = origin } = options;
  const scope = scopeOf(origin, key);
  const processes = createSystemProcesses({ pid: process.pid, boot: () => clock.boot(), kill: process.kill });
  const { state, limits } = await openLibraryState(options, processes);
  const { random } = Math;
  const governor = new Governor({
    ...{ clock, scope, random, limits, env: name, permitLifetime: timeout + 1000, maxWaitFor: 'each' },
    bulk: options.bulk ?? false,
    exclusive: state?.isFallback ?? false,
    maxWait: options.maxWait ?? 90_000,
    self: processes.self,
    isGone: (other) => processes.isGone(other),
    onWait: (ms) => tell(onWait, ms),
    onUnbelievable: (line) => tell(onWarning, line),
    onLimit: (seen) => tell(onLimit, limitState({ ...seen, resetAt: seen.reset })),
  });
  const transport = options.transport ?? createUndiciTransport();
  const sending = { baseUrl, key, userAgent: `petstock/${version}`, transport, governor, clock, timeout, random };
  const clientFor = (interrupted: AbortSignal) => createClient({ ...sending, retries: options.retries, interrupted });
  return {
    state,
    isFallback: state?.isFallback ?? (options.stateFolder ?? options.stateUrl) !== undefined,
    clientFor,
    runContextFor: (signal, used) => ({
      ...{ governor, clock, baseUrl, serviceName, scope, timeout, random, state: used },
      retries: options.retries,
      client: clientFor(signal),
      target: { env: name },
      user: userOf({}),
      interrupted: interruption(signal),
      onDelay: () => {},
    }),
    limits: () => knownLimits(limits.peek(scope), clock).flatMap((each) => (each.isOver ? [] : limitState(each))),
    // Closes the transport, because kept-alive connections would occupy the service.
    close: async () => {
      transport.close?.();
      await governor.flush().finally(() => state?.close());
    },
  };
}

/**
 * Calls a listener. Its error becomes a process warning instead of an error of the call, because the request may have
 * been carried out, or may still be carried out later.
 */
function tell<T>(listener: ((value: T) => void) | undefined, value: T): void {
  try {
    listener?.(value);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error));
  }
}

function systemClock({ stateFolder: folder }: PetstoreClientOptions): Clock {
  const kept = folder === undefined ? {} : { kept: (monotonic: () => number) => keptBoot({ folder, monotonic }) };
  return createSystemClock(machineTime(process), kept);
}

/**
 * Opens the configured state. Without one, or if opening fails and `onFallback` is set, limits are shared within this
 * thread only. Gates are then saved in the runtime folders, for other threads and processes and for the next start.
 */
async function openLibraryState(
  { stateFolder: folder, stateUrl: url, need, onFallback, onWarning, clock, memory }: Opening,
  processes: Processes,
): Promise<{ readonly state: State | undefined; readonly limits: KeyLimits }> {
  const hasState = folder !== undefined || url !== undefined;
  // A gate timed by an injected clock would be wrong for other processes.
  if (!hasState && memory !== limitsOfThread()) return { state: undefined, limits: memory };
  const { LimitsWithGateFiles } = await import('../rate-limit/limits-with-gate-files.ts');
  const warn = (line: string) => tell(onWarning, line);
  const copies = { folder, url, clock, runtimeFolders: runtimeFolders(process.env), warn };
  const withoutState = { state: undefined, limits: new LimitsWithGateFiles(memory, { ...copies, isBrief: true }) };
  if (!hasState) return withoutState;
  const about = { need, notDone: 'Nothing was sent', command: 'a program', user: userOf({}) };
  const options = { ...copies, ...about, processes, random: Math.random };
  try {
    const state =
      folder === undefined
        ? await (await import('../state/postgres/open-postgres.ts')).openPostgres({ ...options, url: url ?? '' })
        : await (await import('../state/open-state.ts')).openState({ ...options, folder });
    return { state, limits: state.limits };
  } catch (error) {
    if (onFallback === undefined) throw error;
    onFallback(error as Error);
    return withoutState;
  }
}

function limitState({ limit, remaining, resetAt, asOf }: Omit<SeenRateLimit, 'reset'>): LimitState {
  return { limit, remaining, resetAt: new Date(resetAt), asOf: new Date(asOf) };
}

/**
 * Returns a signal that aborts when `signal` does, with an InterruptedError as its reason. The listener is never
 * removed, because `signal` belongs to one call.
 */
function interruption(signal: AbortSignal): AbortSignal {
  const ending = new AbortController();
  const end = () => ending.abort(new InterruptedError('The call was aborted', { cause: signal.reason }));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return ending.signal;
}
