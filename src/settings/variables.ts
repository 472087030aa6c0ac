import type { RemoteEnvironmentName } from './settings.ts';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable; one that is set but empty counts as not set. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The variables that can hold the key of an environment, the first that is set wins. A named store has one of its own. */
export function keyVariables(name: RemoteEnvironmentName, store: string | undefined): readonly string[] {
  const own = `PETSTOCK_${prefix(store)}API_KEY_${name.toUpperCase()}`;
  return store === undefined ? [own, 'PETSTOCK_API_KEY'] : [own];
}

/** The variable that can hold the base URL of an environment. */
export function urlVariable(name: RemoteEnvironmentName, store: string | undefined): string {
  return `PETSTOCK_${prefix(store)}URL_${name.toUpperCase()}`;
}

/** `NORTH_SIDE_` for the store `north-side`. */
function prefix(store: string | undefined): string {
  return store === undefined ? '' : `${store.toUpperCase().replaceAll('-', '_')}_`;
}

/** Those that hold a key, an administration token, or the URL of a database, whose password is in it. */
const secret = /^PETSTOCK_((.+_)?API_KEY|STATE_URL|SERVE_(DATABASE|KEY|ADMIN_TOKEN))/i;

/** The variables for a program that petstock starts: none that holds a secret of petstock. */
export function withoutSecrets(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.test(name)));
}
