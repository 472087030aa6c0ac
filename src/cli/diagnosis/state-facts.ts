import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { PetstockError } from '../../shared/errors.ts';
import type { Invocation } from '../invocation/invocation.ts';
import { sharedStateOf, withExistingState } from '../invocation/state.ts';

export interface StateFacts {
  /** `sqlite`, `postgresql 16.4`. null: there is no state yet, or it can't be opened. */
  readonly engine: string | null;
  /** A path, or an address without its password. */
  readonly location: string;
  /** Where a shared state is named. null: it is in the state folder. */
  readonly source: string | null;
  readonly schema: number | null;
  readonly bytes: number;
  readonly runs: number;
  /** null: there is none, or it can't be opened. */
  readonly sound: boolean | null;
  /** What is wrong with it, or why it can't be opened, a sentence each. */
  readonly problems: readonly string[];
}

/** What is known of the state, all of which is read. Whatever is wrong with it is a finding. */
export async function stateFacts(invocation: Invocation): Promise<StateFacts> {
  const shared = sharedStateOf(invocation);
  const none: StateFacts = {
    engine: null,
    location: shared === undefined ? invocation.context.folders.state : maskDatabaseUrl(shared.value),
    source: shared?.source ?? null,
    schema: null,
    bytes: 0,
    runs: 0,
    sound: null,
    problems: [],
  };
  try {
    return await withExistingState(
      invocation,
      'status',
      async (state) => {
        if (state === undefined) return none;
        const { engine, location, schema, bytes, runs, warnings = [] } = await state.describe();
        const problems = await state.check();
        const sound = problems.length === 0;
        return { ...none, engine, location, schema, bytes, runs, sound, problems: [...problems, ...warnings] };
      },
      'limits',
    );
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    return { ...none, problems: [error.message] };
  }
}
