import { grouped } from '../../inventory/grouped.ts';
import type { Paint } from '../../output/paint.ts';
import { rateLimitLine } from '../../output/rate-limit-text.ts';
import { messageLines } from '../../output/text-width.ts';
import { type ConfigFile, configOf, type StoredConfig } from '../../settings/config-file.ts';
import { resolveEnvironment, resolveStore } from '../../settings/resolve.ts';
import type { EnvironmentName } from '../../settings/settings.ts';
import type { Sourced } from '../../settings/variables.ts';
import { PetstockError, UsageError } from '../../shared/errors.ts';
import { stripControls } from '../../shared/sanitize.ts';
import { whereName } from '../../shared/where.ts';
import type { Context } from '../context.ts';
import type { Connection, ConnectionUse } from './connect.ts';
import type { GlobalOptions } from './globals.ts';
import type { Messages } from './messages.ts';
import type { Questions } from './questions.ts';

/** A place that an operand names. */
export interface NamedPlace {
  readonly name: EnvironmentName;
  /** As it was typed: `north`; undefined: the store that is chosen. */
  readonly store: string | undefined;
}

/** The way to the service of the chosen environment. */
export interface ServiceAccess {
  /**
   * The connection, made once. Nothing is sent yet.
   * @throws UsageError without a base URL, AuthError without a key
   */
  connect(use?: ConnectionUse): Promise<Connection>;
  /** The same, with a line on stderr that names the place if a person reads the result. */
  connectToRead(): Promise<Connection>;
  /** Does `work` with the connection to another environment. An error says which place it is about. */
  at<Result>(named: NamedPlace, work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** The same with what is about to be stored: it counts in the place of what is in the configuration file. */
  connectWith(config: StoredConfig): Promise<Connection>;
  /** The connection for a write, with a line on stderr that says where it goes. */
  announce(use?: ConnectionUse): Promise<Connection>;
  /**
   * The same for a single write, and asks if the setting `confirm` is `always`.
   * @param question ends in a question mark; undefined: the command asks itself, once it has read the stock
   * @throws UsageError if the answer is no, or if there is no terminal and `--yes` is missing
   */
  beginWrite(question: string | undefined): Promise<Connection>;
}

export interface OpenServiceAccess extends ServiceAccess {
  /** Shows what is left of the rate limit, if the service said so. */
  showRateLimit(): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceAccessOptions {
  readonly context: Context;
  readonly messages: Messages;
  readonly questions: Questions;
  /** The one that was chosen for the command. */
  readonly chosen: Place;
  placeOf(named: NamedPlace): Place;
  /** A person reads the result: a table at a terminal. */
  readonly isRead: boolean;
  /** Single writes ask too. */
  readonly confirmsAlways: boolean;
  open(use: ConnectionUse, place: Place): Promise<Connection>;
}

export function createServiceAccess(options: ServiceAccessOptions): OpenServiceAccess {
  const { context, messages, questions } = options;
  const connections = new Map<string, Promise<Connection>>();
  const opened = async (): Promise<readonly Connection[]> => {
    const settled = await Promise.allSettled(connections.values());
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  };

  const connectTo = (place: Place, use: ConnectionUse): Promise<Connection> => {
    const name = whereName({ store: place.store?.value, env: place.environment.value });
    const connection = connections.get(name) ?? options.open(use, place);
    connections.set(name, connection);
    return connection;
  };
  const connect: ServiceAccess['connect'] = (use = {}) => connectTo(options.chosen, use);
  const announce: ServiceAccess['announce'] = async (use = { writes: true }) => {
    const connected = await connect(use);
    await messages.show((paint) => [banner(connected, paint)]);
    return connected;
  };

  return {
    connect,
    connectToRead: async () => {
      const connected = await connect();
      if (options.isRead) await messages.show((paint) => [banner({ ...connected, baseUrl: '' }, paint)]);
      return connected;
    },
    at: async (named, work) => {
      const place = options.placeOf(named);
      try {
        return await work(await connectTo(place, {}));
      } catch (error) {
        if (!(error instanceof PetstockError)) throw error;
        throw error.with({ where: { store: place.store?.value, env: place.environment.value } });
      }
    },
    connectWith: (config) => connectTo({ ...options.chosen, config }, {}),
    announce,
    beginWrite: async (question) => {
      const asks = options.confirmsAlways && questions.willAsk();
      const connected = await connect({ writes: true });
      await messages.show((paint) => [banner(connected, paint)], { always: asks });
      if (options.confirmsAlways)
        await (question === undefined ? questions.requireAnswer({}) : questions.confirm(question));
      return connected;
    },
    showRateLimit: async () => {
      const all = await opened();
      for (const { environment, store, governor } of all) {
        const seen = governor.lastSeen;
        if (seen === undefined) continue;
        const { limit, remaining } = seen;
        const resetIn = Math.max(0, seen.asOf + seen.resetIn - context.clock.now());
        const facts = { limit, remaining, resetInSeconds: Math.ceil(resetIn / 1000) };
        const { isTerminal } = context.stderr;
        const line = rateLimitLine(facts, isTerminal ? grouped : String);
        const text = all.length === 1 ? line : `${whereName({ store, env: environment })}: ${line}`;
        // It is worth a look once little is left.
        const isPlenty = remaining * 4n > limit;
        await messages.show((paint, width) =>
          messageLines(text, width).map((part) => (isPlenty && isTerminal ? paint.dim(part) : part)),
        );
      }
    },
    close: async () => {
      await messages.clear();
      const closings = await Promise.allSettled((await opened()).map((connection) => connection.close()));
      for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
    },
  };
}

function banner({ environment, store, baseUrl }: Connection, paint: Paint): string {
  const where = whereName({ store, env: environment });
  const name = environment === 'production' ? paint.bold(paint.red(where)) : paint.bold(where);
  return `${paint.cyan('▸')} ${name}${baseUrl === '' ? '' : ` · ${stripControls(baseUrl)}`}`;
}

/** An environment of a store, and what counts there. */
export interface Place {
  /** Undefined: the store without a name. */
  readonly store: Sourced<string> | undefined;
  readonly environment: Sourced<EnvironmentName>;
  readonly config: StoredConfig;
}

/** Returns the place of a command. @throws UsageError for a store or an environment that can't be */
export function resolvePlace({ env }: Context, globals: GlobalOptions, file: ConfigFile): Place {
  const store = resolveStore(globals.store, env, file);
  const config = configOf(file, store?.value);
  const environment = resolveEnvironment(globals.env, env, config.settings);
  if (environment.value !== 'sandbox' || store === undefined) return { store, environment, config };
  if (globals.store !== undefined) {
    throw new UsageError(`The sandbox belongs to no store; leave out --store ${globals.store}, or name another --env`, {
      hint: 'petstock help environment',
    });
  }
  return { store: undefined, environment, config: configOf(file, undefined) };
}

/**
 * A place that an operand names: `staging` of the store that is chosen, or `north/staging`.
 * @param store as it was typed; undefined: the one that is chosen
 * @throws UsageError for what can't be the name of a store
 */
export function namedPlace(
  file: ConfigFile,
  chosen: Place,
  { name, store }: { readonly name: EnvironmentName; readonly store: string | undefined },
): Place {
  const environment = { value: name, source: 'the command line' };
  if (name === 'sandbox') return { store: undefined, environment, config: configOf(file, undefined) };
  const named = store === undefined ? chosen.store : resolveStore(store, {}, file, 'the command line');
  return { store: named, environment, config: configOf(file, named?.value) };
}
