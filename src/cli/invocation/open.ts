import { createPaint, type Paint, wantsColor } from '../../output/paint.ts';
import { rateLimitLine } from '../../output/rate-limit-line.ts';
import { readConfig } from '../../settings/config-file.ts';
import { resolveEnvironment } from '../../settings/resolve.ts';
import { privacyWarnings } from '../../shared/private-files.ts';
import { stripControls } from '../../shared/sanitize.ts';
import type { Context, Output } from '../context.ts';
import type { Progress } from '../progress/progress.ts';
import { confirmBulk, confirmSingle } from './confirm.ts';
import type { Connection } from './connect.ts';
import { debugTransport } from './debug-log.ts';
import { resolveColorFlag, resolveFormat, resolveMaxWait, resolveTimeout } from './globals.ts';
import type { ConnectionUse, GlobalOptions, Invocation } from './invocation.ts';
import { createMessages } from './messages.ts';
import { printView } from './print.ts';

/** An invocation with the end that the command itself does not see. */
export interface OpenInvocation extends Invocation {
  /** Shows what is left of the rate limit, where the service told it. */
  showRateLimit(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the configuration and the global options for one run of a command.
 * @throws UsageError for an option or a setting that makes no sense
 */
export async function openInvocation(context: Context, globals: GlobalOptions): Promise<OpenInvocation> {
  const { stdout, stderr } = context;
  const found = readConfig(context.folders.config);
  const { config } = found;
  const environment = resolveEnvironment(globals.env, context.env, config.settings);
  const format = resolveFormat(globals, config, stdout.isTerminal);
  const timeout = resolveTimeout(globals.timeout);
  const maxWait = resolveMaxWait(globals.maxWait);
  const flag = resolveColorFlag(globals.color);
  const paintFor = (output: Output): Promise<Paint> =>
    createPaint(wantsColor({ flag, env: context.env, isTerminal: output.isTerminal }));

  const wantsJson = format === 'json' || format === 'ndjson';
  const quiet = globals.quiet === true;
  let progress: Progress | undefined;
  const messages = createMessages(context, {
    quiet,
    hold: wantsJson && !stderr.isTerminal,
    wipe: async () => progress?.wipe(),
  });
  const { countdown, note, warn, say } = messages;
  const result = async (chunk: string | Uint8Array) => {
    await countdown.stop();
    await stdout.write(chunk);
  };
  for (const warning of privacyWarnings(found)) await warn(warning);

  let connection: Promise<Connection> | undefined;
  const open = async (bulk: boolean) => {
    // Late, since it brings the HTTP layer, which help and configuration do without.
    const { connect } = await import('./connect.ts');
    return connect({
      context,
      environment: environment.value,
      config,
      timeout,
      maxWait,
      // A bulk run goes on through any number of minute windows, unless it was told how long it may wait.
      maxWaitFor: bulk && globals.maxWait === undefined ? 'wait' : 'all',
      bulk,
      wrap: (transport) =>
        globals.debug ? debugTransport(transport, context.clock, (line) => void say(stripControls(line))) : transport,
      onWait: (ms) => (quiet ? undefined : progress ? progress.waiting(ms) : countdown.start(ms)),
      onRetry: (line) => void note(line),
      warn: (line) => void warn(line),
    });
  };
  const connectOnce = ({ bulk = false }: ConnectionUse = {}) => {
    connection ??= open(bulk);
    return connection;
  };
  const announce = async () => {
    const connected = await connectOnce();
    const { baseUrl, environment: name } = connected;
    const paint = await paintFor(stderr);
    const shown = name === 'production' ? paint.bold(paint.red(name)) : paint.bold(name);
    await messages.banner(`▸ ${shown} · ${stripControls(baseUrl)}`);
    return connected;
  };

  return {
    context,
    globals,
    environment,
    config,
    wantsJson,
    write: result,
    note,
    warn,
    release: messages.release,
    show: async (lines) => {
      const width = stderr.isTerminal ? (stderr.columns ?? 80) : Number.POSITIVE_INFINITY;
      for (const line of lines(await paintFor(stderr), width)) await messages.banner(line);
    },
    connect: connectOnce,
    print: async (view, options) => {
      const { header } = globals;
      const interrupted = options?.inSpiteOfInterruption ? undefined : context.interrupted;
      const paint = () => paintFor(stdout);
      const shown = await printView(view, { format, header, stdout, interrupted, paint, write: result });
      if (!shown && format === 'table') await note('Nothing to show.');
    },
    announce,
    beginWrite: async (question) => {
      const connected = await announce();
      if (config.settings.confirm === 'always') await confirmSingle(context, globals, question);
      return connected;
    },
    confirmBulk: (question) => confirmBulk(context, globals, question),
    startProgress: async (total, limitSeconds) => {
      if (quiet || messages.holding) return silentProgress;
      const { createProgress } = await import('../progress/progress.ts');
      const shown = createProgress(context, { total, note, paint: await paintFor(stderr), limitSeconds });
      progress = shown;
      return {
        ...shown,
        stop: async () => {
          progress = undefined;
          await shown.stop();
        },
      };
    },
    showRateLimit: async () => {
      const seen = (await connection?.catch(() => undefined))?.governor.lastSeen;
      if (seen === undefined) return;
      const { limit, remaining } = seen;
      const resetIn = Math.max(0, seen.asOf + seen.resetIn - context.clock.now());
      await note(rateLimitLine({ limit, remaining, resetInSeconds: Math.ceil(resetIn / 1000) }));
    },
    close: async () => {
      await countdown.stop();
      await (await connection?.catch(() => undefined))?.close();
    },
  };
}

const silentProgress: Progress = { update: () => {}, waiting: () => {}, wipe: async () => {}, stop: async () => {} };
