import { type Permit, releaseAll, releaseAndRethrow } from '../rate-limit/permits.ts';
import { ConflictError } from '../shared/errors.ts';
import { plainName } from '../shared/sanitize.ts';
import type { PetLock } from '../state/pet-locks.ts';
import { maxBusyWait, type StockSnapshot } from '../writes/row-write.ts';
import { execute, maxGap, type RunHooks, type RunOptions, type RunPlan, type RunResult } from './execute.ts';
import type { RunContext } from './run-context.ts';
import { rethrowAsNothingWritten, StockReader } from './stock-reader.ts';

/**
 * A stock that was read and may be written at once, because the write has its permit. The pet is locked, unless there
 * was a wait after it was read.
 */
interface LockedStock {
  readonly stock: StockSnapshot;
  readonly reserved: { readonly permit: Permit; readonly lock: PetLock };
}

/** Interval between two attempts to lock the pet, in milliseconds: at first, and at most. */
const busyWait = { first: 10, most: 250 };

/**
 * Reads the stock of one pet and writes a change based on it. If the limits allow, both requests are admitted before
 * the first is sent, so that no wait for the rate limit separates them. Commands that share the state lock the pet one
 * after the other, first come, first served.
 * @param planOf called with the stock, usually while the pet is locked; returns undefined to write nothing for now
 * @returns undefined if `planOf` returned undefined
 * @throws ConflictError if another command has locked the pet for more than 90 s
 */
export async function readModifyWrite(
  context: RunContext,
  petId: bigint,
  planOf: (stock: StockSnapshot) => Pick<RunPlan, 'subject' | 'rows'> | undefined,
  options: RunOptions,
  hooks: RunHooks,
): Promise<RunResult | undefined> {
  const lock = context.state.pets.lock(context.serviceName, petId);
  try {
    const { stock, reserved } = await readLocked(context, petId, lock, hooks).catch(rethrowAsNothingWritten);
    let plan: ReturnType<typeof planOf>;
    try {
      plan = planOf(stock);
    } finally {
      if (plan === undefined) await reserved.permit.release();
    }
    return plan && (await execute(context, { ...plan, stock, single: { reserved } }, options, hooks));
  } finally {
    await releaseForNow(lock);
  }
}

async function readLocked(context: RunContext, petId: bigint, lock: PetLock, hooks: RunHooks): Promise<LockedStock> {
  const { governor, interrupted, clock } = context;
  const reader = new StockReader(context, (item) => hooks.onItem?.(item));
  // Without the lock, the read version still detects writes of other runs.
  const beforeWait = () => releaseForNow(lock);
  for (let isRepeated = false; ; isRepeated = true) {
    const [forRead, ...forWrite] = await lockAdmitted(context, petId, lock);
    const beforeRetry = async () => {
      await releaseAll(forWrite);
      await beforeWait();
    };
    const read = { permit: forRead, beforeRetry };
    const stock = await reader.read(new Set([petId]), read, lock.seen).catch(releaseAndRethrow(forWrite));
    const [held] = forWrite;
    if (held !== undefined) return { stock, reserved: { permit: held, lock } };
    // Only one request was admitted (a probe, as in a new window), or the read was retried. The response has shown how
    // many requests are left.
    const began = clock.monotonic();
    const [permit] = await governor.admitSeveral({ min: 1, max: 1, beforeWait }, interrupted);
    const isFresh = clock.monotonic() - began <= maxGap;
    // If the limit allows only one request per window, reading again would require the same wait.
    if (isFresh || isRepeated) return { stock, reserved: { permit, lock } };
    await permit.release();
  }
}

/**
 * Admits both requests, or only the first if a second permit is not available, and locks the pet. The lock is not held
 * while waiting for the rate limit.
 */
async function lockAdmitted(context: RunContext, petId: bigint, lock: PetLock): Promise<readonly Permit[]> {
  const { governor, interrupted } = context;
  let isLocked = false;
  const beforeWait = async () => {
    isLocked = false;
    await releaseForNow(lock);
  };
  for (;;) {
    const permits = await governor.admitSeveral({ min: 2, max: 2, beforeWait }, interrupted);
    if (isLocked || (await lock.tryAcquire().catch(releaseAndRethrow(permits))) === undefined) return permits;
    // Permits are not kept while waiting for another command.
    for (const permit of permits) await permit.release();
    await waitForLock(context, petId, lock);
    isLocked = true;
  }
}

/** Releases the lock. If the state can't be reached, the lock ends with this process's lease. */
const releaseForNow = (lock: PetLock) => lock.release().catch(() => {});

async function waitForLock({ clock, interrupted, onDelay }: RunContext, petId: bigint, lock: PetLock): Promise<void> {
  const began = clock.monotonic();
  let isReported = false;
  for (let pause = busyWait.first; ; pause = Math.min(pause * 2, busyWait.most)) {
    const busy = await lock.tryAcquire();
    if (busy === undefined) return;
    const at = clock.monotonic();
    const by = busy.run === undefined ? 'another command' : `run ${plainName(busy.run)}`;
    if (at - began > maxBusyWait && (busy.until ?? 0) < at) {
      throw new ConflictError(`Pet ${petId} has been locked by ${by} for ${maxBusyWait / 1000} s. Nothing was written`);
    }
    if (at - began > 1000 && !isReported) {
      isReported = true;
      const seconds = Math.ceil(((busy.until ?? at) - at) / 1000);
      await onDelay(
        seconds > 0
          ? `A request of ${by} may still reach the service; continuing in ${seconds} s`
          : `Waiting for ${by} to finish with pet ${petId}`,
      );
    }
    const wait = busy.until === undefined ? pause : Math.max(pause, Math.min(busyWait.most, busy.until - at));
    await clock.sleep(wait, interrupted);
  }
}
