import type { KeyRecord, KeyRing } from '../../../service/index.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { openSandbox, sandboxPlan, storeError } from '../../sandbox.ts';
import { chosenStore, nameOfStore, type StoreChoice } from './store-access.ts';

/** Keys of a store, for one command. */
export interface OpenKeys {
  /** The file, or how the database is named. */
  readonly file: string;
  readonly ring: KeyRing;
  /** The sandbox's own key, which every start makes known. */
  readonly own: { readonly key: string; readonly record: KeyRecord };
}

/**
 * Opens the keys of a store for as long as `work` takes.
 * @param choice the sandbox's own file, which is made on first use, where it names none
 * @throws UsageError when another file does not exist, or is no database of the service
 */
export async function withKeys<Result>(
  invocation: Invocation,
  choice: StoreChoice,
  work: (keys: OpenKeys) => Promise<Result>,
): Promise<Result> {
  const { context } = invocation;
  const chosen = await chosenStore(invocation, choice);
  const { openKeyRing } = await import('../../../service/index.ts');
  const sandbox = await openSandbox(context.folders.state);
  try {
    const ring = await openKeyRing({ ...chosen, clock: context.clock });
    try {
      const record = await ring.adopt(sandbox.key, sandboxPlan, { keepsKnown: true });
      return await work({ file: nameOfStore(chosen), ring, own: { key: sandbox.key, record } });
    } finally {
      await ring.close();
    }
  } catch (error) {
    throw await storeError(error, chosen);
  }
}
