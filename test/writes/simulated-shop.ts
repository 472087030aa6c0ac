import { type Permit, PermitExpiredError } from '../../src/rate-limit/permits.ts';
import { AuthError, FailureError, RateLimitedError, RejectedError, UnavailableError } from '../../src/shared/errors.ts';
import type { Grant, Intent, Outcome } from '../../src/state/intents-and-outcomes.ts';
import type { RowWrite, WriteOptions } from '../../src/writes/row-write.ts';
import { createTestClock } from '../support/clock.ts';

const reset = () => new UnavailableError('reset', { mayBeInFlight: true });
const other = (status: number) => new FailureError('not 200', { status });

/** How a request fails. Requests with `committed,` are carried out first, those with `late` 27 s later. */
const failures = {
  lost: reset,
  'committed, lost': reset,
  late: reset,
  'late, 504': () => new UnavailableError('gateway', { status: 504, mayBeInFlight: true }),
  unreachable: () => new UnavailableError('refused', { notCarriedOut: true }),
  '400': () => new RejectedError('no', { status: 400 }),
  '429': () => new RateLimitedError('wait', { status: 429, notCarriedOut: true }),
  '401': () => new AuthError('who?', { status: 401 }),
  '503': () => new UnavailableError('down', { status: 503 }),
  'committed, 500': () => new UnavailableError('oops', { status: 500 }),
  '202': () => other(202),
  expired: () => new PermitExpiredError(),
  'committed, 206': () => other(206),
} as const;

/** How the service treats one request. */
export type Behaviour = keyof typeof failures | 'ok' | 'another pet' | 'differs';
export const behaviours = ['ok', 'another pet', 'differs', ...Object.keys(failures)] as readonly Behaviour[];

export const timeout = 30_000;

export interface ShopScript {
  /** How the requests of each row are treated, in order. Further requests succeed. */
  readonly requests?: ReadonlyMap<number, readonly Behaviour[]>;
  /** Rows whose pet someone else sells during the first request, unless that was certainly not carried out. */
  readonly sold?: ReadonlySet<number>;
  /** How many requests may be admitted at once. */
  readonly room?: number;
}

/** Simulates a service and a run's log in memory. `faults` lists every broken promise. */
export function simulatedShop(rows: readonly RowWrite[], script: ShopScript = {}) {
  const clock = createTestClock();
  const stock = new Map(rows.map(({ petId, before = 7 }) => [petId, before]));
  const late: { readonly at: number; readonly petId: bigint; readonly quantity: number }[] = [];
  const commits = new Map<number, number>();
  const sent: number[] = [];
  const intended = new Set<number>();
  const outcomes: Outcome[] = [];
  const faults: string[] = [];
  const tries = new Map<number, number>();
  let reads = 0;
  /** Permits of requests that are not finished. */
  const held = new Set<Permit>();
  const admit = (): Permit => {
    const end = () => {
      if (!held.delete(permit)) faults.push('a permit was returned twice');
    };
    const noted = { retryAfter: undefined, persisted: Promise.resolve() };
    const permit: Permit = {
      beginSend: () => {},
      recordResponse: () => noted,
      forfeit: async () => end(),
      release: async () => end(),
    };
    held.add(permit);
    return permit;
  };

  const commit = (petId: bigint, quantity: number, isLate = false): void => {
    const { row = 0, before } = rows.find((candidate) => candidate.petId === petId) ?? {};
    const now = stock.get(petId);
    // A late request may overwrite other changes, because a request in flight can't be recalled.
    if (!isLate && before !== undefined && now !== before)
      faults.push(`row ${row} was written over ${now}, not ${before}`);
    commits.set(row, (commits.get(row) ?? 0) + 1);
    stock.set(petId, quantity);
  };
  const arrive = (): void => {
    for (const one of late.filter(({ at }) => at <= clock.monotonic())) {
      late.splice(late.indexOf(one), 1);
      commit(one.petId, one.quantity, true);
    }
  };
  const answer = (behaviour: Behaviour, petId: bigint, asked: number) => {
    if (behaviour.startsWith('late')) late.push({ at: clock.monotonic() + timeout * 0.9, petId, quantity: asked });
    const quantity = behaviour === 'differs' ? asked + 1 : asked;
    if (!(behaviour in failures) || behaviour.startsWith('committed,')) commit(petId, quantity);
    const failure = (failures as Partial<Record<Behaviour, () => Error>>)[behaviour];
    if (failure !== undefined) throw failure();
    return { petId: behaviour === 'another pet' ? petId + 1000n : petId, quantity, status: 'available' };
  };

  const updateInventory: WriteOptions['client']['updateInventory'] = async (petId, quantity, options) => {
    try {
      options?.permit?.beginSend();
    } finally {
      await options?.permit?.release();
    }
    const { row = 0 } = rows.find((candidate) => candidate.petId === petId) ?? {};
    if (!intended.delete(row)) faults.push(`row ${row} was sent without its intent`);
    if (outcomes.some((outcome) => outcome.row === row && isFinal(outcome))) faults.push(`row ${row} was sent again`);
    sent.push(row);
    const count = tries.get(row) ?? 0;
    tries.set(row, count + 1);
    await new Promise((resolve) => setImmediate(resolve));
    arrive();
    const behaviour = script.requests?.get(row)?.[count] ?? 'ok';
    try {
      return answer(behaviour, petId, quantity);
    } finally {
      // A request that was certainly not carried out is repeated without a reread, so a sale would go unnoticed.
      const isUnknown = !['unreachable', '429', '401', 'expired'].includes(behaviour);
      if (isUnknown && count === 0 && script.sold?.has(row)) stock.set(petId, (stock.get(petId) ?? 0) - 1);
    }
  };
  const options: WriteOptions = {
    client: { updateInventory },
    governor: {
      admitSeveral: async ({ max }) => Array.from({ length: Math.min(max, script.room ?? 5) }, admit) as [Permit],
    },
    presence: { holdsLease: true },
    log: {
      noteSending: () => {},
      intend: async (intents: readonly Intent[]): Promise<readonly Grant[]> => {
        for (const { row } of intents) intended.add(row);
        return intents.map(() => ({ kind: 'granted' }));
      },
      settle: (settled) => void outcomes.push(...settled),
    },
    writesSince: async (unsettled) => unsettled.map(() => []),
    stock: { readVersion: { sequence: 0, at: 0 }, readAt: clock.monotonic() },
    readStock: async (petIds, read) => {
      await read?.permit?.release();
      clock.advance(1);
      arrive();
      reads += 1;
      return {
        quantities: new Map([...stock].filter(([petId]) => petIds.has(petId))),
        readVersion: { sequence: reads, at: 0 },
        readAt: clock.monotonic(),
      };
    },
    clock,
    random: () => 0.5,
    timeout,
    staleAfter: 5000,
    concurrency: 3,
    failFast: false,
    interrupted: new AbortController().signal,
    onSettled: () => {},
    onDelay: () => {},
  };
  const letArrive = () => {
    clock.advance(10 * timeout);
    arrive();
  };
  return { options, clock, stock, commits, sent, outcomes, faults, held, letArrive };
}

export function isFinal({ result }: Outcome): boolean {
  return result !== 'unknown' && result !== 'void';
}

export function rowsOf(count: number): RowWrite[] {
  return Array.from({ length: count }, (_, index) => ({
    row: index + 1,
    petId: BigInt(index + 1),
    before: index,
    after: index + 100,
  }));
}
