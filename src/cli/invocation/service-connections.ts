import { grouped } from '../../inventory/items.ts';
import type { Paint } from '../../output/terminal.ts';
import { messageLines } from '../../output/text-width.ts';
import type { StoredConfig } from '../../settings/config-file.ts';
import { PetstockError } from '../../shared/errors.ts';
import { targetName } from '../../shared/hint.ts';
import { stripControls } from '../../shared/sanitize.ts';
import type { ConnectionUse, ConnectOptions, ServiceConnection, WriteConnection } from './connect.ts';
import { type NamedTarget, type ResolvedTarget, resolveNamedTarget, targetOf } from './globals.ts';
import type { Questions } from './questions.ts';

export interface ServiceConnectionsOptions extends ConnectOptions {
  readonly chosen: ResolvedTarget;
  readonly questions: Questions;
  /** Whether a person reads the result: a table on a terminal. */
  readonly hasHumanReader: boolean;
}

/** The connections to the services of the chosen target, and of targets named by operands. */
export class ServiceConnections {
  /** Connections by the name of their target. */
  readonly #connections = new Map<string, Promise<ServiceConnection>>();
  readonly #closings: (() => Promise<void>)[] = [];
  /** Whether the result shows what is left of the rate limit, so that stderr need not repeat it. */
  hasShownRateLimit = false;

  constructor(private readonly options: ServiceConnectionsOptions) {}

  /**
   * Returns the connection to the chosen target. The first call opens it, with its `use`, and shows the target; later
   * calls return the same connection. Sends nothing yet.
   * @throws UsageError without a base URL, AuthError without a key
   */
  connect(use: ConnectionUse & { readonly writes: true }): Promise<WriteConnection>;
  connect(use?: ConnectionUse & { readonly config?: StoredConfig }): Promise<ServiceConnection>;
  connect({ config, ...use }: ConnectionUse & { readonly config?: StoredConfig } = {}): Promise<ServiceConnection> {
    const { chosen } = this.options;
    return this.#connectTo(config === undefined ? chosen : { ...chosen, config }, use);
  }

  /** Runs `work` with the connection to a target that an operand names. Hints of its errors name that target. */
  async at<Result>(
    named: NamedTarget,
    work: (connection: ServiceConnection) => Promise<Result>,
    use: ConnectionUse = {},
  ): Promise<Result> {
    const { configFile, chosen } = this.options;
    const resolved = resolveNamedTarget(named, chosen, configFile);
    try {
      return await work(await this.#connectTo(resolved, use));
    } catch (error) {
      throw error instanceof PetstockError ? error.with({ target: targetOf(resolved) }) : error;
    }
  }

  #connectTo(resolved: ResolvedTarget, use: ConnectionUse): Promise<ServiceConnection> {
    const name = targetName(targetOf(resolved));
    const connection = this.#connections.get(name) ?? this.#open(resolved, use);
    this.#connections.set(name, connection);
    return connection;
  }

  async #open(resolved: ResolvedTarget, use: ConnectionUse): Promise<ServiceConnection> {
    // Loaded late, because help and configuration don't need the HTTP layer.
    const { connect } = await import('./connect.ts');
    const connection = await connect(this.options, resolved, use);
    await this.#showTarget(connection, use);
    return connection;
  }

  /** Shows where a write goes, or, if a person reads the result, which target it is of. */
  async #showTarget(connection: ServiceConnection, { writes, isShown }: ConnectionUse): Promise<void> {
    const { chosen, hasHumanReader, messages, questions } = this.options;
    if (!writes && !(isShown && hasHumanReader)) return;
    const where = targetName(connection);
    const banner = (paint: Paint) => {
      const name = paint.bold(connection.env === 'production' ? paint.red(where) : where);
      return [`${paint.cyan('▸')} ${name}${writes ? ` · ${stripControls(connection.baseUrl)}` : ''}`];
    };
    // A question about one write does not name the target itself.
    const always = writes === true && chosen.config.settings.confirm === 'always' && questions.willAsk();
    await messages.show(banner, { always });
  }

  async #opened(): Promise<readonly ServiceConnection[]> {
    const settled = await Promise.allSettled(this.#connections.values());
    return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  }

  /** Reports whether any connection has sent a request other than a GET. */
  async hasSentWrite(): Promise<boolean> {
    return (await this.#opened()).some((connection) => connection.hasSentWrite());
  }

  async showRateLimit(): Promise<void> {
    const { context, messages } = this.options;
    const { isTerminal } = context.stderr;
    if (this.hasShownRateLimit) return;
    const all = await this.#opened();
    for (const connection of all) {
      const seen = connection.limits.lastSeen;
      if (seen === undefined) continue;
      const { rateLimitLine } = await import('../../output/rate-limit-text.ts');
      const resetIn = Math.max(0, seen.resetAt - context.clock.now());
      const line = rateLimitLine(seen, Math.ceil(resetIn / 1000), isTerminal ? grouped : String);
      const text = all.length === 1 ? line : `${targetName(connection)}: ${line}`;
      // The line is dimmed while more than a quarter is left.
      const isPlenty = seen.remaining * 4 > seen.limit;
      await messages.show((paint, width) =>
        messageLines(text, width).map((part) => (isPlenty && isTerminal ? paint.dim(part) : part)),
      );
    }
  }

  /** Has `close` called when all connections are closed. */
  closeAtEnd(close: () => Promise<void>): void {
    this.#closings.push(close);
  }

  /**
   * Closes all connections.
   * @throws the first error, once all connections are closed
   */
  async close(): Promise<void> {
    await this.options.messages.clear();
    const opened = (await this.#opened()).map((connection) => () => connection.close());
    const closings = await Promise.allSettled([...opened, ...this.#closings].map((close) => close()));
    for (const closing of closings) if (closing.status === 'rejected') throw closing.reason;
  }
}
