import { whereName } from '../../../shared/where.ts';
import type { RunFilter } from '../../../state/history.ts';
import type { Invocation } from '../../invocation/invocation.ts';

/** Runs of the store and the environment that `--store` and `--env` name; of all where neither is given. */
export function chosenPlace({ globals, where }: Invocation): Pick<RunFilter, 'env' | 'store'> {
  return {
    env: globals.env === undefined ? undefined : where.env,
    store: globals.store === undefined ? undefined : (where.store ?? null),
  };
}

/** ` of north/staging`, or nothing where all are meant. */
export function chosenPlaceText({ globals, where }: Invocation): string {
  if (globals.env === undefined && globals.store === undefined) return '';
  if (globals.env !== undefined) return ` of ${whereName(where)}`;
  return where.store === undefined ? ' of the store without a name' : ` of the store ${where.store}`;
}
