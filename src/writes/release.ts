import type { WriteOptions } from './row-write.ts';

/** Tells other commands of pets whose write is over: many at once, but without keeping anyone waiting. */
export function createFinished({ claims, clock }: Pick<WriteOptions, 'claims' | 'clock'>) {
  let petIds: bigint[] = [];
  let toldAt = clock.monotonic();
  const tell = (): void => {
    if (petIds.length > 0) claims.done(...petIds);
    petIds = [];
    toldAt = clock.monotonic();
  };
  return {
    add: (petId: bigint): void => {
      petIds.push(petId);
      if (petIds.length >= 64 || clock.monotonic() - toldAt > 50) tell();
    },
    tell,
  };
}
