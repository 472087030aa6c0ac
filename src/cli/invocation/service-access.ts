import { grouped } from '../../inventory/grouped.ts';
import type { Paint } from '../../output/paint.ts';
import { rateLimitLine } from '../../output/rate-limit-text.ts';
import { messageLines } from '../../output/text-width.ts';
import type { StoredConfig } from '../../settings/config-file.ts';
import type { EnvironmentName } from '../../settings/settings.ts';
import { stripControls } from '../../shared/sanitize.ts';
import { whereName } from '../../shared/where.ts';
import type { Context } from '../context.ts';
import type { Connection, ConnectionUse } from './connect.ts';
import type { Messages } from './messages.ts';
import type { Place } from './place.ts';
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
  /** The same to another environment, for a command that looks at several. */
  connectTo(named: NamedPlace): Promise<Connection>;
  /** The same with what is about to be stored: it counts in the place of what is in the configuration file. */
  connectWith(config: StoredConfig): Promise<Connection>;
  /** The connection for a write, with a line on stderr that says where it goes. */
  announce(use?: ConnectionUse): Promise<Connection>;
  /**
   * The same for a single write, and asks where the setting `confirm` is `always`.
   * @param question ends in a question mark; undefined: the command asks itself, once it has read the stock
   * @throws UsageError where the answer is no, or where there is no terminal and `--yes` is missing
   */
  beginWrite(question: string | undefined): Promise<Connection>;
  /** The result of the command shows what is left of the rate limit: it is not repeated on stderr. */
  omitRateLimit(): void;
}

export interface OpenServiceAccess extends ServiceAccess {
  /** The place that was asked for last: a failure is about it. */
  readonly latest: Place;
  /** Shows what is left of the rate limit, where the service said so. */
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
  let latest = options.chosen;
  let showsRateLimit = true;
  const opened = async (): Promise<readonly Connection[]> => {
    const settled = await Promise.allSettled(connections.values());
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  };

  const connectTo = (place: Place, use: ConnectionUse): Promise<Connection> => {
    latest = place;
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
    get latest() {
      return latest;
    },
    connect,
    connectToRead: async () => {
      const connected = await connect();
      if (options.isRead) await messages.show((paint) => [banner({ ...connected, baseUrl: '' }, paint)]);
      return connected;
    },
    connectTo: (named) => connectTo(options.placeOf(named), {}),
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
    omitRateLimit: () => {
      showsRateLimit = false;
    },
    showRateLimit: async () => {
      if (!showsRateLimit) return;
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
