import { type EnvironmentName, environmentNames } from '../../../settings/settings.ts';
import { UsageError } from '../../../shared/errors.ts';

/** Where one of two lists comes from. */
export type Side =
  | {
      readonly kind: 'environment';
      readonly name: string;
      readonly environment: EnvironmentName;
      /** Undefined: of the store that is chosen for the command. */
      readonly store: string | undefined;
    }
  /** `file`: `-` for stdin. */
  | { readonly kind: 'file'; readonly name: string; readonly file: string };

/**
 * Returns what a name on the command line stands for: an environment, `store/environment`, `-` for stdin, else a file. A file of the
 * name of an environment is `./staging`.
 * @throws UsageError for what can't be any of them
 */
export function sideOf(name: string): Side {
  const [, store, text = name] = /^([^./\\][^/\\]*)\/([^/\\]+)$/.exec(name) ?? [];
  const environment = environmentNames.find((known) => known === text);
  if (environment === 'sandbox' && store !== undefined) {
    throw new UsageError(`The sandbox belongs to no store: it is sandbox. A file of that name is ./${name}`);
  }
  if (environment !== undefined) return { kind: 'environment', name, environment, store };
  if (name === '') throw new UsageError('The name of a side is empty: name an environment, a file, or - for stdin');
  return { kind: 'file', name: name === '-' ? 'stdin' : name, file: name };
}
