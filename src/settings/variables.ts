/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value and its source for display, such as `PETSTOCK_ENV`, `config file`, `default` or `--env`. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/** The value of `--store`, or of its variable, that means the store without a name. */
export const unnamedStore = 'default';

/** The value of `PETSTOCK_STATE_URL` that means this machine's own state. */
export const ownState = 'none';

/** Returns the value of a variable; an empty one counts as not set. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

/**
 * Returns the names of the variables that may contain the key of an environment; the first that is set applies. A named
 * store has a single variable of its own.
 * @param environment such as `staging`
 */
export function keyVariables(environment: string, store: string | undefined): readonly string[] {
  const own = `PETSTOCK_${prefix(store)}API_KEY_${environment.toUpperCase()}`;
  return store === undefined ? [own, 'PETSTOCK_API_KEY'] : [own];
}

export function urlVariable(environment: string, store: string | undefined): string {
  return `PETSTOCK_${prefix(store)}URL_${environment.toUpperCase()}`;
}

/** Returns the named stores for which variables set an address or a key, valid or not. */
export function storesOfVariables(env: Environment): string[] {
  const ofStore = /^PETSTOCK_([A-Z][A-Z0-9_]*)_(?:URL|API_KEY)_(?:STAGING|PRODUCTION)$/;
  return Object.keys(env).flatMap((name) => {
    const [, store] = ofStore.exec(name) ?? [];
    return store === undefined || variable(env, name) === undefined ? [] : [store.toLowerCase().replaceAll('_', '-')];
  });
}

/** Returns the prefix of a store's variables: `NORTH_SIDE_` for `north-side`. */
function prefix(store: string | undefined): string {
  return store === undefined ? '' : `${store.toUpperCase().replaceAll('-', '_')}_`;
}

/**
 * Matches variables that contain a key, or the URL of a database (with its password).
 */
const secret = /^PETSTOCK_((.+_)?API_KEY|STATE_URL|SANDBOX_KEY)/i;

/** Returns the variables for a program that petstock starts, without petstock's secrets. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.test(name)));
}
