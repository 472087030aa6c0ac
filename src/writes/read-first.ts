import type { InventoryItem } from '../inventory/items.ts';
import type { Governor, Permit } from '../rate-limit/governor.ts';
import type { Clock } from '../shared/clock.ts';
import { ConflictError } from '../shared/errors.ts';
import type { Mark, Pets, Place } from '../state/pets.ts';

export interface ReadFirstOptions {
  readonly pets: Pets;
  readonly governor: Pick<Governor, 'admitSeveral'>;
  readonly clock: Clock;
  readonly interrupted: AbortSignal;
  readonly service: string;
  readonly petId: bigint;
  /** In milliseconds. A wait between reading and writing that is longer makes the stock too old. */
  readonly longestGap: number;
  /** Reads the stock of the pet with this permit. @throws NotFoundError where the service has no such pet */
  read(permit: Permit): Promise<InventoryItem>;
  /** A sentence about what is waited for. */
  onDelay(sentence: string): void;
}

/** A stock that was read and may be written at once: the write is admitted, and the pet is ours. */
export interface ReadStockItem {
  readonly item: InventoryItem;
  readonly mark: Mark;
  readonly reserved: { readonly permit: Permit; readonly place: Place };
}

/** How long another command may be at the pet, and how often to look; in milliseconds. */
const busyWait = { longest: 90_000, first: 10, most: 250 };

/**
 * Reads one pet in order to write it: both requests are admitted before the first leaves, so that no wait for the rate limit
 * lies between them, and commands that share the state take the pet one after the other, first come, first served.
 *
 * @param use is called with the pet held; whatever it does not hand on is given back
 * @throws ConflictError where another command does not come to its end
 */
export async function readFirst<T>(options: ReadFirstOptions, use: (stock: ReadStockItem) => Promise<T>): Promise<T> {
  const place = await options.pets.line(options.service, options.petId);
  try {
    return await use(await readInTurn(options, place));
  } finally {
    // What became of the pet matters more. Where the state can't be reached, the place is over with the lease of this process.
    await place.leave().catch(() => {});
  }
}

async function readInTurn(options: ReadFirstOptions, place: Place): Promise<ReadStockItem> {
  const { governor, interrupted, pets, clock } = options;
  let permits = await governor.admitSeveral({ least: 2, most: 2 }, interrupted);
  if ((await place.enter()) !== undefined) {
    // Nothing is reserved while another command is waited for.
    for (const permit of permits) await permit.unsent();
    await enterInTurn(options, place);
    permits = await governor.admitSeveral({ least: 2, most: 2 }, interrupted);
  }
  for (let isRepeated = false; ; isRepeated = true) {
    const [forRead, forWrite] = permits;
    if (forRead === undefined) throw new Error('nothing was admitted');
    const mark = await pets.mark();
    const item = await options.read(forRead).catch(async (error) => {
      await forWrite?.unsent();
      throw error;
    });
    if (forWrite !== undefined) return { item, mark, reserved: { permit: forWrite, place } };
    // Only a probe could go, as in a new window: now its answer says what is left.
    const began = clock.monotonic();
    const [permit] = await governor.admitSeveral({ least: 1, most: 1 }, interrupted);
    if (permit === undefined) throw new Error('nothing was admitted');
    const isFresh = clock.monotonic() - began <= options.longestGap;
    // A limit of one request a window has no room for both: a second look would have to wait as well.
    if (isFresh || isRepeated) return { item, mark, reserved: { permit, place } };
    await permit.unsent();
    permits = await governor.admitSeveral({ least: 2, most: 2 }, interrupted);
  }
}

async function enterInTurn({ clock, interrupted, petId, onDelay }: ReadFirstOptions, place: Place): Promise<void> {
  const began = clock.monotonic();
  let isSaid = false;
  for (let pause = busyWait.first; ; pause = Math.min(pause * 2, busyWait.most)) {
    const busy = await place.enter();
    if (busy === undefined) return;
    const at = clock.monotonic();
    const by = busy.run === undefined ? 'another command' : `run ${busy.run}`;
    if (at - began > busyWait.longest && (busy.until ?? 0) < at) {
      throw new ConflictError(
        `Nothing was written: ${by} has been writing pet ${petId} for ${busyWait.longest / 1000} s`,
      );
    }
    if (at - began > 1000 && !isSaid) {
      isSaid = true;
      onDelay(`Waiting for ${by}, which is writing pet ${petId}`);
    }
    await clock.sleep(
      busy.until === undefined ? pause : Math.max(pause, Math.min(busyWait.most, busy.until - at)),
      interrupted,
    );
  }
}
