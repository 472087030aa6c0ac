import { assignedCodes } from '../../../../counts/account.ts';
import type { OpenCountSession } from '../../../../counts/open-count-session.ts';
import { counted } from '../../../../inventory/items.ts';
import { InterruptedError, PetstockError } from '../../../../shared/errors.ts';
import type { Invocation } from '../../../invocation/invocation.ts';
import { addCodes, readCodesFile, writableCodesFile } from '../../../shop-codes.ts';
import type { CountOptions } from './count-options.ts';

/**
 * Offers to add the codes assigned during a session to the codes file. A failure is only a warning, so that the count
 * continues.
 */
export async function offerAssigned(
  invocation: Invocation,
  session: OpenCountSession,
  options: Pick<CountOptions, 'codes' | 'dryRun'>,
  hasPet: (petId: bigint) => boolean,
): Promise<void> {
  const { messages, questions, context } = invocation;
  const assigned = Array.from(assignedCodes(session.scans), ([code, petId]) => ({ code, petId }));
  if (options.dryRun || assigned.length === 0) return;
  try {
    const file = options.codes ?? (await writableCodesFile(invocation));
    if (file === undefined) return;
    const { pets } = await readCodesFile(file, context);
    const missing = assigned.filter(({ code, petId }) => !pets.has(code) && hasPet(petId));
    const codes = counted(missing.length, 'new code');
    if (missing.length === 0 || !(await questions.agrees(`Add ${codes} to ${file}?`))) return;
    await addCodes(file, missing, context);
    await messages.note(`Added ${codes} to ${file}.`);
  } catch (error) {
    if (!(error instanceof PetstockError) || error instanceof InterruptedError) throw error;
    await messages.warn(error.message);
  }
}
