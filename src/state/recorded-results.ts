import type { RecordedResult } from './history.ts';

/** Every result that a row may have, in the order of the columns that count them. */
export const recordedResults = [
  'pending',
  'applied',
  'unchanged',
  'failed',
  'conflict',
  'differs',
  'unknown',
] as const satisfies readonly RecordedResult[];
