import { shellWord } from './shell-word.ts';

/** Where a command goes: an environment, of one of several stores or of the one without a name. */
export interface Where {
  /** Undefined: the store without a name. */
  readonly store?: string | undefined;
  readonly env: string;
}

/** Returns the name that people are shown: `north/staging`, or `staging` for the store without a name. */
export function whereName({ store, env }: Where): string {
  return store === undefined ? env : `${store}/${env}`;
}

/** The options that lead there, for a hint: `--store north --env staging`. */
export function whereOptions({ store, env }: Where): string {
  const options = `--env ${shellWord(env)}`;
  return store === undefined ? options : `--store ${shellWord(store)} ${options}`;
}
