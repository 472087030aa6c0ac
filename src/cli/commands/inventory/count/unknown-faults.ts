import { counted, grouped } from '../../../../inventory/values.ts';
import { unknownLines, unknownRows } from '../../../../output/count-text.ts';
import { plainPaint } from '../../../../output/terminal.ts';
import { NotFoundError, PartialError, UsageError } from '../../../../shared/errors.ts';
import type { Invocation } from '../../../invocation/invocation.ts';

/** Returns the messages about codes that stand for no pet of the service. */
export interface UnknownFaults {
  /** Lists them before the plan. */
  show(): Promise<void>;
  /**
   * @throws NotFoundError where no pet was counted; UsageError where --all would write a zero for what may be on the shelf
   */
  requireCountable(rows: { readonly length: number }, all: boolean): void;
  /** Returns the error that the count ends with, once the rest is written. */
  notCounted(): PartialError;
}

/**
 * @param unknowns units of each, by its name
 * @param always they are shown with --quiet too, since a question follows
 */
export function createUnknownFaults(
  { messages, globals, results }: Invocation,
  unknowns: ReadonlyMap<string, number>,
  always: boolean,
): UnknownFaults {
  // Where they are not shown before, and for programs, the error names them.
  const isNamed = results.wantsJson || (globals.quiet === true && !always);
  const lines = isNamed ? unknownRows(unknowns, plainPaint, Number.POSITIVE_INFINITY) : [];
  return {
    show: async () => {
      if (unknowns.size > 0) await messages.show((paint, width) => unknownLines(unknowns, paint, width), { always });
    },
    requireCountable: (rows, all) => {
      if (unknowns.size === 0) return;
      if (rows.length === 0) {
        throw new NotFoundError('None of what was scanned is the id of a pet; nothing was written', { lines });
      }
      if (!all) return;
      const codes = unknowns.size === 1 ? 'A code is' : `${grouped(unknowns.size)} codes are`;
      throw new UsageError(
        `${codes} not known, and --all would set to 0 what may have been scanned; nothing was written. ` +
          'Name the codes with --codes, or drop each with = <code> 0',
        { lines },
      );
    },
    notCounted: () => {
      const units = [...unknowns.values()].reduce((sum, count) => sum + count, 0);
      return new PartialError(`Not counted: ${counted(units, 'unit')} of ${counted(unknowns.size, 'unknown code')}`, {
        lines,
      });
    },
  };
}
