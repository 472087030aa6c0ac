import type { Row } from '../../output/view.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** Prints one record: its numbers to the right, its texts uncut. */
export async function printRecord({ results }: Invocation, record: Row): Promise<void> {
  const columns = Object.entries(record).map(([field, value]) => ({
    field,
    title: `${field.charAt(0).toUpperCase()}${field.slice(1)}`,
    ...(typeof value === 'number' ? { align: 'right' as const } : { whole: true as const }),
  }));
  await results.print({ shape: 'one', columns, rows: [[record]] });
}

/** Prints what a command has done, if a format was named. A person has read it in a sentence on stderr. */
export async function printOutcome(invocation: Invocation, record: Row): Promise<void> {
  if (invocation.results.isFormatNamed) await printRecord(invocation, record);
}
