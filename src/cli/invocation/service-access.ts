import type { Paint } from '../../output/paint.ts';
import { rateLimitLine } from '../../output/rate-limit-text.ts';
import { stripControls } from '../../shared/sanitize.ts';
import { whereName } from '../../shared/where.ts';
import type { Context } from '../context.ts';
import type { Connection, ConnectionUse } from './connect.ts';
import type { Messages } from './messages.ts';
import type { Questions } from './questions.ts';

/** The way to the service of the chosen environment. */
export interface ServiceAccess {
  /**
   * The connection, made once. Nothing is sent yet.
   * @throws UsageError without a base URL, AuthError without a key
   */
  connect(use?: ConnectionUse): Promise<Connection>;
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
  /** Shows what is left of the rate limit, where the service said so. */
  showRateLimit(): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceAccessOptions {
  readonly context: Context;
  readonly messages: Messages;
  readonly questions: Questions;
  /** Single writes ask too. */
  readonly confirmsAlways: boolean;
  open(use: ConnectionUse): Promise<Connection>;
}

export function createServiceAccess(options: ServiceAccessOptions): OpenServiceAccess {
  const { context, messages, questions } = options;
  let connection: Promise<Connection> | undefined;
  let showsRateLimit = true;
  const opened = () => connection?.catch(() => undefined);

  const connect: ServiceAccess['connect'] = (use = {}) => {
    connection ??= options.open(use);
    return connection;
  };
  const announce: ServiceAccess['announce'] = async (use = { writes: true }) => {
    const connected = await connect(use);
    await messages.show((paint) => [banner(connected, paint)]);
    return connected;
  };

  return {
    connect,
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
      const seen = (await opened())?.governor.lastSeen;
      if (seen === undefined || !showsRateLimit) return;
      const { limit, remaining } = seen;
      const resetIn = Math.max(0, seen.asOf + seen.resetIn - context.clock.now());
      await messages.note(rateLimitLine({ limit, remaining, resetInSeconds: Math.ceil(resetIn / 1000) }));
    },
    close: async () => {
      await messages.clear();
      await (await opened())?.close();
    },
  };
}

function banner({ environment, store, baseUrl }: Connection, paint: Paint): string {
  const where = whereName({ store, env: environment });
  const name = environment === 'production' ? paint.bold(paint.red(where)) : paint.bold(where);
  return `▸ ${name} · ${stripControls(baseUrl)}`;
}
