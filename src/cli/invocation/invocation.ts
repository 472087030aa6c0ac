import type { BarCodes } from '../../inventory/bar-codes.ts';
import type { LowLevels } from '../../inventory/items.ts';
import { createPaint, type Paint, wantsColor } from '../../output/terminal.ts';
import type { Format } from '../../output/view.ts';
import { type ConfigFile, emptyConfig, type ReadConfig, readConfig } from '../../settings/config-file.ts';
import type { Folders } from '../../settings/folders.ts';
import { settingOf } from '../../settings/settings.ts';
import { idleVariables } from '../../settings/shared-options.ts';
import { variable } from '../../settings/variables.ts';
import { PetstockError, UsageError } from '../../shared/errors.ts';
import { type FlagValues, type Target, targetName } from '../../shared/hint.ts';
import { sentence } from '../../shared/parsed.ts';
import { narrowGroup } from '../../shared/private-files.ts';
import type { Context, Output } from '../context.ts';
import { type GlobalOptions, type ResolvedTarget, resolveFormat, resolveTarget, targetOf } from './globals.ts';
import { Messages } from './messages.ts';
import { Questions } from './questions.ts';
import { Results } from './results.ts';
import { ServiceConnections } from './service-connections.ts';

/** Everything that a command works with. The configuration is the one that was read at the start. */
export interface Invocation extends ResolvedTarget {
  readonly context: Context;
  readonly globals: GlobalOptions;
  /** The options of the command itself as they were typed, for hints. */
  readonly options: FlagValues;
  /** The name of the command, such as `inventory apply`, for messages and the history. */
  readonly command: string;
  /** The store and the environment, for messages and hints. */
  readonly target: Target;
  /** The whole configuration file, for commands that show or change it. */
  readonly configFile: ConfigFile;
  readonly messages: Messages;
  readonly results: Results;
  readonly questions: Questions;
  readonly connections: ServiceConnections;
  /** Whether pets may have names: the setting `codes` is set, or this is the sandbox, which has its own codes. */
  readonly hasCodes: boolean;
  /** Returns the bar codes, names and levels of the shop, see `openShopCodes`. They are read once. */
  codes(): Promise<BarCodes | undefined>;
  /**
   * Returns the levels, and the names if there are any, to show beside the stock. Results for programs have the names
   * and levels of the setting `codes`, and not the sandbox's own.
   * @param reader who reads them; default: the one of the result's format
   */
  remarks(reader?: 'person'): Promise<{ readonly low: LowLevels; readonly names: Names | undefined }>;
}

type Names = BarCodes['names'];

export interface RunningCommand {
  /** The words of the command, such as `inventory set`. */
  readonly name: string;
  /** Whether a damaged configuration stops it, unless it is for the sandbox. Otherwise that is a warning. */
  readonly needsConfig: boolean;
  /** The formats of its result; undefined: all except `html`. */
  readonly formats?: readonly Format[] | undefined;
}

/**
 * Returns the configuration. If it is damaged, but the command does not need it, returns an empty one with a warning.
 * The sandbox, which has its own key and address, needs none.
 * @throws the errors of `readConfig`
 */
async function readConfigFor(
  { name, needsConfig }: RunningCommand,
  { env, folders }: Context,
  globals: GlobalOptions,
): Promise<ReadConfig> {
  try {
    return await readConfig(folders.config);
  } catch (error) {
    const isForSandbox = (globals.env ?? variable(env, 'PETSTOCK_ENV')) === 'sandbox';
    if (!(error instanceof PetstockError) || (needsConfig && !(isForSandbox && !name.startsWith('config'))))
      throw error;
    const instead = 'This command continues without the settings in it, and without a shared state that it may name';
    return { config: emptyConfig, warnings: [`${sentence(error.message)} ${instead}`] };
  }
}

/** Makes folders private to which only a group of this process could write. @returns the warnings */
function narrowFolders(folders: Folders): readonly string[] {
  return (['config', 'state'] as const).flatMap((kind) => {
    try {
      return narrowGroup(folders[kind]) ?? [];
    } catch (error) {
      // Without a place for a folder, a command that needs it reports that.
      if (error instanceof UsageError) return [];
      throw error;
    }
  });
}

/**
 * Creates the invocation of a command, and prints the warnings about its configuration.
 * @throws UsageError for an invalid global option or setting
 */
export async function openInvocation(
  context: Context,
  { globals, options }: Pick<Invocation, 'globals' | 'options'>,
  running: RunningCommand,
): Promise<Invocation> {
  const { name: command } = running;
  const { stdout, stderr, env, folders } = context;
  const narrowed = narrowFolders(folders);
  const { config: configFile, warnings } = await readConfigFor(running, context, globals);
  const resolved = resolveTarget(context, globals, configFile);
  const target = targetOf(resolved);
  const chosenFormat = resolveFormat(globals, resolved.config.settings.output, stdout.isTerminal, running);
  const flag = globals.color;
  const paintFor = ({ isTerminal }: Output): Promise<Paint> => createPaint(wantsColor({ flag, env, isTerminal }));

  const isLog = globals.debug === 'json';
  const { quiet, verbose, debug } = globals;
  const isDebug = debug !== undefined;
  const messages = new Messages(context, { quiet, verbose, isDebug, isLog, paint: () => paintFor(stderr) });
  const paint = () => paintFor(stdout);
  const results = new Results({ context, globals, ...chosenFormat, messages, target: targetName(target), paint });
  const questions = new Questions(context, globals, messages);
  for (const warning of [...narrowed, ...warnings, ...idleVariables(env)]) await messages.warn(warning);

  const base = { context, globals, options, command, configFile, messages, questions };
  const hasHumanReader = stdout.isTerminal && results.format === 'table';
  const connections = new ServiceConnections({ ...base, chosen: resolved, hasHumanReader });
  let opened: Promise<BarCodes | undefined> | undefined;
  const { settings } = resolved.config;
  const hasCodes = settings.codes !== undefined || target.env === 'sandbox';
  const codes = async () => {
    if (!hasCodes) return undefined;
    // Loaded late, because few shops have names.
    opened ??= import('../shop-codes.ts').then(({ openShopCodes }) => openShopCodes({ ...base, ...resolved }));
    return opened;
  };
  const isForPerson = results.format === 'table' || results.format === 'html';
  const remarks = async (reader = isForPerson ? 'person' : 'program') => {
    const known = reader === 'person' || settings.codes !== undefined ? await codes() : undefined;
    return { low: { standard: settingOf(settings, 'low-stock') ?? 0, own: known?.lows }, names: known?.names };
  };
  const shop = { hasCodes, codes, remarks };
  return { ...base, ...resolved, target, results, connections, ...shop };
}
