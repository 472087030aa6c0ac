import type { Permit } from '../../src/rate-limit/governor.ts';
import { AuthError, FailureError, RateLimitedError, RejectedError, UnavailableError } from '../../src/shared/errors.ts';
import type { Grant, Intent, Outcome } from '../../src/state/history.ts';
import type { RowWrite, WriteOptions } from '../../src/writes/row-write.ts';
import { createTestClock } from '../support/clock.ts';

/** What the service does with one request; after the last of a pet it carries out all. */
export const behaviours = [
  'ok',
  'lost',
  'committed, lost',
  'late',
  'committed late, 504',
  'unreachable',
  '400',
  '429',
  '401',
  '503',
  'committed, 500',
  '202',
  'committed, 206',
  'another pet',
  'differs',
] as const;
export type Behaviour = (typeof behaviours)[number];

export const timeout = 30_000;

export interface ShopScript {
  /** By row. */
  readonly requests?: ReadonlyMap<number, readonly Behaviour[]>;
  /** Rows whose pet somebody else sells right after its first request, before anything is read. */
  readonly sold?: ReadonlySet<number>;
}

/** A service and a log of the run in memory, that note every breach of what is promised. */
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

  const commit = (petId: bigint, quantity: number, isLate = false): void => {
    const { row = 0, before } = rows.find((candidate) => candidate.petId === petId) ?? {};
    const now = stock.get(petId);
    // What is on its way already can't be called back.
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
  const answer = (behaviour: Behaviour, petId: bigint, quantity: number) => {
    const reset = new UnavailableError('reset', { mayStillArrive: true });
    const arrivesLater = () => late.push({ at: clock.monotonic() + timeout * 0.9, petId, quantity });
    if (behaviour.startsWith('committed,') || behaviour === 'ok' || behaviour === 'another pet')
      commit(petId, quantity);
    switch (behaviour) {
      case 'lost':
      case 'committed, lost':
        throw reset;
      case 'late':
        arrivesLater();
        throw reset;
      case 'committed late, 504':
        arrivesLater();
        throw new UnavailableError('gateway', { status: 504, mayStillArrive: true });
      case 'unreachable':
        throw new UnavailableError('refused', { unsent: true });
      case '400':
        throw new RejectedError('no', { status: 400 });
      case '429':
        throw new RateLimitedError('wait', { status: 429, unsent: true });
      case '401':
        throw new AuthError('who?', { status: 401 });
      case '503':
        throw new UnavailableError('down', { status: 503 });
      case 'committed, 500':
        throw new UnavailableError('oops', { status: 500 });
      case '202':
      case 'committed, 206':
        throw new FailureError('not 200', { status: Number(behaviour.slice(-3)) });
      case 'differs':
        commit(petId, quantity + 1);
        return { petId, quantity: quantity + 1, status: 'available' };
      default:
        return { petId: behaviour === 'another pet' ? petId + 1000n : petId, quantity, status: 'available' };
    }
  };

  const updateInventory: WriteOptions['client']['updateInventory'] = async (petId, quantity, options) => {
    options?.permit?.leave();
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
      // A row that was certainly not sent is sent again without another look: that window can't be closed.
      const isUnknown = !['unreachable', '429', '401'].includes(behaviour);
      if (isUnknown && count === 0 && script.sold?.has(row)) stock.set(petId, (stock.get(petId) ?? 0) - 1);
    }
  };
  const options: WriteOptions = {
    client: { updateInventory },
    governor: {
      admitSeveral: async ({ most }) => [permit, ...Array.from({ length: Math.min(most, 5) - 1 }, () => permit)],
    },
    presence: { isCurrent: true },
    log: {
      intend: async (intents: readonly Intent[]): Promise<readonly Grant[]> => {
        for (const { row } of intents) intended.add(row);
        return intents.map(() => ({ kind: 'granted' }));
      },
      settle: (settled) => void outcomes.push(...settled),
      writesSince: async (unsettled) => unsettled.map(() => []),
    },
    stock: { mark: { sequence: 0, at: 0 }, readAt: clock.monotonic() },
    readStock: async (petIds) => {
      clock.advance(1);
      arrive();
      reads += 1;
      return {
        quantities: new Map([...stock].filter(([petId]) => petIds.has(petId))),
        mark: { sequence: reads, at: 0 },
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
  return { options, clock, stock, commits, sent, outcomes, faults, letArrive };
}

const permit: Permit = {
  leave: () => {},
  answered: () => ({ retryAfter: undefined, written: Promise.resolve() }),
  lost: async () => {},
  unsent: async () => {},
};

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
