import type { RemoteEnvironmentName } from './settings.ts';

/** Environment variables, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable; one that is set but empty counts as not set. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** The variables that can hold the key of an environment, the first that is set wins. */
export function keyVariables(name: RemoteEnvironmentName): readonly string[] {
  return [`PETSTOCK_API_KEY_${name.toUpperCase()}`, 'PETSTOCK_API_KEY'];
}

/** The variable that can hold the base URL of an environment. */
export function urlVariable(name: RemoteEnvironmentName): string {
  return `PETSTOCK_URL_${name.toUpperCase()}`;
}
