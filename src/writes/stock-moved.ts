import type { RowWrite } from './row-write.ts';

/** Why a row can't be written: a clause without a trailing period. */
export function stockMovedMessage({ petId, before, after }: RowWrite, found: number | undefined): string {
  if (found === undefined) return `there is no pet ${petId} any more`;
  if (before === undefined) return `the stock is ${found}, not ${after} as wanted`;
  return `the stock is ${found}, neither ${before} as before nor ${after} as wanted`;
}
