import process from 'node:process';
import { UsageError } from '../shared/errors.ts';
import { machineTime } from '../shared/machine-time.ts';
import { createSystemClock } from '../shared/system-clock.ts';
import { countOf, requireObject } from './arguments.ts';

export interface SandboxOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number | undefined;
  /** Pets in the stock: 24. The same `seed` gives the same stock. */
  readonly pets?: number | undefined;
  readonly seed?: number | undefined;
  /** Requests a minute and a day; default: 1,000 and 100,000, with bans for going on after a 429. */
  readonly limits?: { readonly minute: number; readonly day: number } | undefined;
  /** Length of a minute, for tests. */
  readonly windowSeconds?: number | undefined;
  /** Faults to answer with: `PATCH /inventory/*:every=3:status=503`. */
  readonly faults?: readonly string[] | undefined;
}

/** The embedded service, in memory, on a loopback port. */
export interface Sandbox {
  /** For `baseUrl` of a client. */
  readonly url: string;
  readonly key: string;
  /** The last requests seen, oldest first. */
  requests(): readonly SandboxRequest[];
  /** Puts these faults in the place of all others. @throws UsageError */
  setFaults(faults: readonly string[]): void;
  /** Moves the clock of the service ahead. */
  advanceClock(seconds: number): void;
  close(): Promise<void>;
}

export interface SandboxRequest {
  /** Milliseconds since the Unix epoch, by the clock of the service. */
  readonly time: number;
  readonly method: string;
  /** Without its query: `/v1/inventory`. */
  readonly path: string;
  readonly body: string | null;
  /** null while it is not answered. */
  readonly status: number | null;
}

/**
 * Starts the embedded service, for tests of programs that use this library.
 * @throws UsageError for options that can't be used
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  requireObject(options, 'options');
  const { FaultSpecError, startService } = await import('../service/index.ts');
  const worded = (error: unknown): unknown =>
    error instanceof FaultSpecError ? new UsageError(error.message, { cause: error }) : error;
  const service = await startService({
    file: ':memory:',
    testControls: true,
    clock: createSystemClock(machineTime(process)),
    ...checked(options),
  }).catch((error) => {
    throw worded(error);
  });
  return {
    url: service.url,
    key: service.key,
    requests: () => service.journal(),
    setFaults: (faults) => {
      try {
        void service.setFaults(faults);
      } catch (error) {
        throw worded(error);
      }
    },
    advanceClock: (seconds) => void service.advanceClock(countOf(seconds, 'seconds') ?? 0),
    close: () => service.close(),
  };
}

function checked({ port, pets, seed, limits, windowSeconds, faults }: SandboxOptions) {
  if (port !== undefined && port > 65_535) throw new UsageError('port must be at most 65535');
  const counts = {
    port: countOf(port, 'port'),
    pets: countOf(pets, 'pets'),
    seed: countOf(seed, 'seed'),
    windowSeconds: countOf(windowSeconds, 'windowSeconds', 1),
  };
  const present = Object.entries(counts).filter(([, value]) => value !== undefined);
  const given: Partial<Record<keyof typeof counts, number>> = Object.fromEntries(present);
  return {
    ...given,
    ...(faults === undefined ? {} : { faults }),
    ...(limits === undefined ? {} : { limits: limitsOf(limits) }),
  };
}

function limitsOf({ minute, day }: { readonly minute: number; readonly day: number }) {
  return { minute: countOf(minute, 'limits.minute') ?? 0, day: countOf(day, 'limits.day') ?? 0 };
}
