import { changeFileText } from '../../../change-files/change-file-text.ts';
import type { BulkRow } from '../../../inventory/change.ts';
import { counted } from '../../../inventory/items.ts';
import { batchesOf } from '../../../output/batches.ts';
import { UsageError } from '../../../shared/errors.ts';
import { fileOperand, petstock, targetWords } from '../../../shared/hint.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { isOneOf, writeReplaceable } from '../replace-file.ts';
import { requireChangeFile, type WriteRows } from './written-change-file.ts';

/**
 * Returns a function that writes a plan as a change file: each row that would be written, with the stock that it
 * depends on. The file is emptied at once, so that `apply` rejects it if the dry run fails, instead of applying an
 * older plan.
 * @throws UsageError without `--dry-run`, for stdout or the input file; the errors of `requireChangeFile`
 */
export async function openPlanOut(
  invocation: Invocation,
  file: string | undefined,
  { dryRun, force, input }: { readonly dryRun: boolean; readonly force: boolean; readonly input: string },
): Promise<WriteRows | undefined> {
  if (file === undefined) return undefined;
  if (!dryRun) throw new UsageError('--plan-out writes the plan of a dry run. Add --dry-run');
  if (file === '-') throw new UsageError('--plan-out needs a file, because the report goes to stdout');
  if (isOneOf(invocation, [input], file)) {
    throw new UsageError(`This command reads ${file}. Nothing was sent. Give --plan-out another file`);
  }
  await requireChangeFile(invocation, '--plan-out', file, { force });
  await writeReplaceable(invocation, file, []);
  return async (rows) => {
    const planned = rows.filter(({ result }) => result === 'planned');
    const names = await invocation.petNames();
    const exported = ({ petId, before, after, reason, ref }: BulkRow) => {
      return { petId, name: names?.get(petId), expected: before, quantity: after, reason, ref };
    };
    const text = changeFileText(
      batchesOf(() => planned, exported),
      { names: names !== undefined },
    );
    await writeReplaceable(invocation, file, text);
    const next = petstock`inventory apply ${fileOperand(file)} ${targetWords(invocation.target)}`;
    await invocation.messages.note(
      `The plan of ${counted(planned.length, 'change')} is in ${file}. To apply it: ${next}`,
    );
  };
}
