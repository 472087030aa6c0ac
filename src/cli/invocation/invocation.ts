import type { ConfigFile, StoredConfig } from '../../settings/config-file.ts';
import type { EnvironmentName } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import type { Where } from '../../shared/where.ts';
import type { Context } from '../context.ts';
import type { GlobalOptions } from './globals.ts';
import type { Messages } from './messages.ts';
import type { Questions } from './questions.ts';
import type { Results } from './results.ts';
import type { ServiceAccess } from './service-access.ts';

/** Everything that one run of one command is given. */
export interface Invocation {
  readonly context: Context;
  readonly globals: GlobalOptions;
  readonly environment: Sourced<EnvironmentName>;
  /** One of several stores; undefined: the one without a name. */
  readonly store: Sourced<string> | undefined;
  /** The store and the environment, for messages and hints. */
  readonly where: Where;
  /** The configuration file as it was when the command began, as far as it counts for the store. */
  readonly config: StoredConfig;
  /** All of it. Only what shows or changes the file itself looks there. */
  readonly configFile: ConfigFile;
  /** Messages to the person, on stderr. */
  readonly messages: Messages;
  /** The result of the command, on stdout. */
  readonly results: Results;
  readonly questions: Questions;
  readonly service: ServiceAccess;
}

/** The end of an action. */
export interface ActionEnd {
  /** The result has what is left of the rate limit, so stderr does not repeat it. */
  readonly showedRateLimit: boolean;
}

export type Action<Options extends object> = (
  invocation: Invocation,
  options: Options,
  ...operands: string[]
) => Promise<void> | Promise<ActionEnd>;

/** Turns an action into what Commander's `.action()` takes: `.action(run(async (invocation, options, petId) => …))`. */
export type Run = <Options extends object>(action: Action<Options>) => (...args: unknown[]) => Promise<void>;
