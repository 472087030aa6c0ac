import { type EnvironmentName, environmentNames } from '../../../settings/settings.ts';
import { UsageError } from '../../../shared/errors.ts';

/** Where one of two lists comes from. */
export type Side =
  | { readonly kind: 'environment'; readonly name: string; readonly environment: EnvironmentName }
  /** `file`: `-` for stdin. */
  | { readonly kind: 'file'; readonly name: string; readonly file: string };

/**
 * What a name on the command line stands for: an environment, `store/environment`, `-` for stdin, else a file. A file of the
 * name of an environment is `./staging`.
 * @throws UsageError for `store/environment`: both sides are of the store that --store names, so far
 */
export function sideOf(name: string): Side {
  const environment = environmentNames.find((known) => known === name);
  if (environment !== undefined) return { kind: 'environment', name, environment };
  const [, store, inStore] = /^([^./\\][^/\\]*)\/([^/\\]+)$/.exec(name) ?? [];
  if (store !== undefined && environmentNames.some((known) => known === inStore)) {
    throw new UsageError(
      `${name} is an environment of a store, and diff compares environments of one store only: ${inStore} with --store ${store}. A file of that name is ./${name}`,
    );
  }
  if (name === '') throw new UsageError('The name of a side is empty: name an environment, a file, or - for stdin');
  return { kind: 'file', name: name === '-' ? 'stdin' : name, file: name };
}
