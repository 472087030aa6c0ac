/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A value and where it came from, in words for a person: `PETSTOCK_ENV`, `config file`, `default`, `--env`. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
}

/** Returns the value of a variable; one that is set but empty counts as not set. */
export function variable(env: Environment, name: string): string | undefined {
  return env[name] || undefined;
}

/**
 * Returns the variables that can hold the key of an environment; the first that is set wins. A named store has one of its own.
 * @param environment `staging`
 */
export function keyVariables(environment: string, store: string | undefined): readonly string[] {
  const own = `PETSTOCK_${prefix(store)}API_KEY_${environment.toUpperCase()}`;
  return store === undefined ? [own, 'PETSTOCK_API_KEY'] : [own];
}

export function urlVariable(environment: string, store: string | undefined): string {
  return `PETSTOCK_${prefix(store)}URL_${environment.toUpperCase()}`;
}

/** `NORTH_SIDE_` for the store `north-side`. */
function prefix(store: string | undefined): string {
  return store === undefined ? '' : `${store.toUpperCase().replaceAll('-', '_')}_`;
}

/** Variables that hold a key, or the URL of a database, which contains its password; and all options of `sandbox serve`, since some are tokens. */
const secret = /^PETSTOCK_((.+_)?API_KEY|STATE_URL|SERVE_)/i;

/** Returns the variables for a program that petstock starts: none that holds a secret of petstock. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.test(name)));
}
