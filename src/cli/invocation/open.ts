import { createPaint, type Paint, wantsColor } from '../../output/paint.ts';
import { emptyConfig, type ReadConfig, readConfig } from '../../settings/config-file.ts';
import { sentence } from '../../settings/settings.ts';
import { PetstockError } from '../../shared/errors.ts';
import { whereName } from '../../shared/where.ts';
import type { Context, Output } from '../context.ts';
import type { ConnectionUse } from './connect.ts';
import type { GlobalOptions } from './globals.ts';
import { resolveColorFlag, resolveFormat, resolveMaxWait, resolveRetries, resolveTimeout } from './globals.ts';
import type { Invocation } from './invocation.ts';
import { createMessages } from './messages.ts';
import { createQuestions } from './questions.ts';
import { createResults } from './results.ts';
import { createServiceAccess, namedPlace, type OpenServiceAccess, type Place, resolvePlace } from './service-access.ts';
import { refuseSudoInHome } from './user.ts';

/** An invocation with the end that the command itself does not see. */
export interface OpenInvocation extends Invocation {
  readonly service: OpenServiceAccess;
}

/** Commands that can do their work without knowing what is configured. */
const unconfigured = /^(config path|completion|licenses|state|sandbox|history (list|show|export))( |$)/;

/** Returns the configuration; a damaged one stops no command that can do without. @throws as `readConfig` */
function readConfigFor(command: string, folder: string): ReadConfig {
  try {
    return readConfig(folder);
  } catch (error) {
    if (!(error instanceof PetstockError) || !unconfigured.test(command)) throw error;
    const lost = /^(state|history)/.test(command) ? ', and a shared state that it may name is not looked at' : '';
    return { config: emptyConfig, warnings: [`${sentence(error.message)} It has no effect on this command${lost}`] };
  }
}

/**
 * Reads the configuration and the global options for one run of a command.
 *
 * @param command `inventory apply`, for other processes that share the state
 * @throws UsageError for an option or a setting that makes no sense
 */
export async function openInvocation(
  context: Context,
  globals: GlobalOptions,
  command: string,
): Promise<OpenInvocation> {
  const { stdout, stderr } = context;
  refuseSudoInHome(context.folders, context.env);
  const found = readConfigFor(command, context.folders.config);
  const chosen = resolvePlace(context, globals, found.config);
  const { store, config, environment } = chosen;
  const format = resolveFormat(globals, config, stdout.isTerminal, command);
  const timeout = resolveTimeout(globals.timeout);
  const maxWait = resolveMaxWait(globals.maxWait);
  const retries = resolveRetries(globals.retries);
  const flag = resolveColorFlag(globals.color);
  const paintFor = (output: Output): Promise<Paint> =>
    createPaint(wantsColor({ flag, env: context.env, isTerminal: output.isTerminal }));

  const messages = createMessages(context, { quiet: globals.quiet === true, paint: () => paintFor(stderr) });
  const results = createResults({
    format,
    header: globals.header,
    stringIds: globals.stringIds === true,
    raw: globals.raw === true,
    fields: globals.fields,
    messages,
    paint: () => paintFor(stdout),
    pages: globals.pager !== false && globals.quiet !== true,
    place: whereName({ store: store?.value, env: environment.value }),
    context,
  });
  if (results.wantsJson) context.endInJson?.();
  const questions = createQuestions(context, globals);
  for (const warning of found.warnings) await messages.warn(warning);

  const open = async ({ bulk = false, writes = false }: ConnectionUse, place: Place) => {
    // Late, since it brings the HTTP layer, which help and configuration do without.
    const { connect } = await import('./connect.ts');
    return connect({
      context,
      environment: place.environment.value,
      store: place.store,
      config: place.config,
      configFile: found.config,
      command,
      timeout,
      retries,
      maxWait,
      // A bulk run goes on through any number of minute windows, unless it was given how long it may wait.
      maxWaitFor: bulk && globals.maxWait === undefined ? 'wait' : 'all',
      bulk,
      writes,
      debug: globals['debug=json'] ? 'json' : globals.debug ? 'text' : undefined,
      messages,
    });
  };
  const confirmsAlways = config.settings.confirm === 'always';
  const service = createServiceAccess({
    context,
    messages,
    questions,
    chosen,
    placeOf: (named) => namedPlace(found.config, chosen, named),
    isRead: stdout.isTerminal && format === 'table',
    confirmsAlways,
    open,
  });
  const where = { store: store?.value, env: environment.value };
  const configFile = found.config;
  return { context, globals, environment, store, where, config, configFile, messages, results, questions, service };
}
