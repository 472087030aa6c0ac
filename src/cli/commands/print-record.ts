import type { Row } from '../../output/view.ts';
import { capitalized } from '../../shared/parsed.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** Prints one record, with right-aligned numbers and complete texts. */
export async function printRecord({ results }: Invocation, record: Row): Promise<void> {
  const columns = Object.entries(record).map(([field, value]) => ({
    field,
    title: capitalized(field),
    ...(typeof value === 'number' ? { align: 'right' as const } : { whole: true as const }),
  }));
  await results.print({ shape: 'one', columns, rows: [[record]] });
}

/**
 * Prints the result of a command as a record if a format was given. People have already read it as a sentence on
 * stderr.
 */
export async function printOutcome(invocation: Invocation, record: Row): Promise<void> {
  if (invocation.results.isFormatNamed) await printRecord(invocation, record);
}
