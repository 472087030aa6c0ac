import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { release } from 'node:os';
import process from 'node:process';
import { counted } from '../../inventory/items.ts';
import { wantsColor } from '../../output/terminal.ts';
import { parseHttpDate } from '../../rate-limit/observation.ts';
import { effectiveUser } from '../../shared/account.ts';
import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { PetstockError } from '../../shared/errors.ts';
import { fileErrorReason, systemCode } from '../../shared/file-error.ts';
import { version } from '../../shared/version.ts';
import type { State } from '../../state/state.ts';
import { installedCompletion } from '../completion/installed.ts';
import type { Context } from '../context.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { ResponseDate } from '../invocation/network.ts';
import { sharedStateOf, withExistingState } from '../invocation/state-access.ts';

/**
 * Returns everything that a bug report needs, as JSON and as rows of `status`. `variables` has only names, because the
 * values may be secret. In JSON, null stands for an unknown or absent value.
 * @param head the `Date` of the latest response; undefined if none had one
 */
export async function diagnose(invocation: Invocation, head: ResponseDate | undefined) {
  const { env, folders } = invocation.context;
  const json = {
    program: programFacts(),
    folders: { config: folderFacts(folders.config), state: folderFacts(folders.state) },
    state: await stateFacts(invocation),
    clock: (head && clockFacts(head)) ?? null,
    tls: tlsFacts(invocation),
    terminal: terminalFacts(invocation.context),
    completion: installedCompletion(env),
    variables: Object.keys(env)
      .filter((name) => name.startsWith('PETSTOCK_') || otherVariables.test(name))
      .sort(),
  };
  const { program, state, clock, tls, terminal, completion, variables } = json;
  const rows: readonly (readonly [name: string, value: string, source?: string | null])[] = [
    ['version', program.version, program.path],
    ['runtime', program.isExecutable ? `${program.runtime}, in the executable` : program.runtime, program.system],
    ['config folder', folderText(json.folders.config), folders.config],
    ['state folder', folderText(json.folders.state), folders.state],
    ['state', stateText(state), state.source ?? state.location],
    ...state.problems.map((problem) => ['state problem', problem] as const),
    ['clock', clock === null ? 'not known' : clockText(clock)],
    ['tls', tlsText(tls), `OpenSSL ${tls.openssl}`],
    ['terminal', terminalText(terminal), terminal.kind],
    ['locale', terminal.locale ?? 'not set'],
    ...(completion.length === 0
      ? [['completion', 'not installed in a usual folder'] as const]
      : completion.map(({ shell, path }) => ['completion', shell, path] as const)),
    ['variables', variables.length === 0 ? 'no relevant variables' : variables.join(', ')],
  ];
  return { json, rows };
}

const otherVariables =
  /^(https?|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)$|^(NO_COLOR|FORCE_COLOR|PAGER)$/i;

function attempt<Found>(read: () => Found): Found | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/**
 * Returns the runtime, such as `node 22.18.0`, or `bun 1.3.4` in an executable; the file that runs; and the system,
 * such as `linux x64 6.1.0`.
 */
function programFacts() {
  const { versions, argv, execPath, platform, arch } = process;
  const script = argv[1] ?? execPath;
  // bun shows the contents of an executable under a virtual path.
  const isExecutable = versions.bun !== undefined && /^(?:\/\$bunfs|[a-z]:[\\/]~bun)/i.test(script);
  return {
    version,
    runtime: versions.bun === undefined ? `node ${versions.node}` : `bun ${versions.bun}`,
    path: isExecutable ? execPath : script,
    isExecutable,
    system: `${platform} ${arch} ${release()}`,
  };
}

/**
 * Returns facts about a folder. `rights` are the rights of this user, or `missing` if the folder will be created when
 * needed. `free` is the number of free bytes on its disk. On Windows, `mode` and `isOwn` are null.
 */
function folderFacts(path: string) {
  const nothing = { path, mode: null, isOwn: null, free: null, problem: null };
  try {
    const stats = statSync(path);
    const user = effectiveUser();
    return {
      ...nothing,
      mode: user === undefined ? null : (stats.mode & 0o7777).toString(8).padStart(4, '0'),
      rights: rightsTo(path),
      isOwn: user === undefined ? null : stats.uid === user,
      free: freeOn(path),
      problem: stats.isDirectory() ? null : 'it is not a folder',
    };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return { ...nothing, rights: 'missing' };
    return { ...nothing, rights: 'none', problem: fileErrorReason(error) };
  }
}

function rightsTo(path: string): 'read and write' | 'read only' | 'none' {
  const may = (mode: number) => attempt(() => accessSync(path, mode) ?? true);
  if (!may(constants.R_OK | constants.X_OK)) return 'none';
  return may(constants.W_OK) ? 'read and write' : 'read only';
}

function freeOn(path: string): number | null {
  const disk = attempt(() => statfsSync(path));
  return disk === undefined ? null : disk.bavail * disk.bsize;
}

/** Returns, for example, `read and write, 0700, 12.3 GB free`. */
function folderText({ mode, rights, isOwn, free, problem }: ReturnType<typeof folderFacts>): string {
  if (problem !== null) return `can't be used: ${problem}`;
  if (rights === 'missing') return 'not created yet';
  const parts = [rights === 'none' ? 'you have no permission to read it' : rights];
  if (mode !== null) parts.push(mode);
  if (isOwn === false) parts.push('owned by another user');
  if (free !== null) parts.push(`${(free / 1e9).toFixed(1)} GB free`);
  return parts.join(', ');
}

/**
 * Describes and checks the whole state. An error of petstock is listed as a problem. `source` says where the URL of a
 * shared state comes from; null for this machine's own.
 */
async function stateFacts(invocation: Invocation) {
  const shared = sharedStateOf(invocation);
  const location = shared === undefined ? invocation.context.folders.state : maskDatabaseUrl(shared.value);
  const none = { engine: null, location, source: shared?.source ?? null, schema: null, bytes: 0, runs: 0, sound: null };
  const read = async (state: State | undefined) => {
    if (state === undefined) return { ...none, problems: [] };
    const { engine, location, schema, bytes, runs, warnings = [] } = await state.describe();
    const problems = await state.check();
    const sound = problems.length === 0;
    return { ...none, engine, location, schema, bytes, runs, sound, problems: [...problems, ...warnings] };
  };
  try {
    return await withExistingState(invocation, read, { need: 'limits' });
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    return { ...none, problems: [error.message] };
  }
}

function stateText({ engine, schema, runs, sound }: Awaited<ReturnType<typeof stateFacts>>): string {
  if (sound === null) return engine ?? 'no readable state';
  return `${engine}, schema ${schema}, ${counted(runs, 'run')}, ${sound ? 'sound' : 'damaged'}`;
}

/**
 * Returns how many seconds this machine's clock is ahead of the service's, and the possible error: a `Date` has whole
 * seconds, and was written some time between request and response. Undefined if the `Date` is not valid.
 */
function clockFacts({ date, sentAt, receivedAt }: ResponseDate) {
  const service = parseHttpDate(date, receivedAt);
  if (service === undefined) return undefined;
  const [least, most] = [sentAt - (service + 1000), receivedAt - service];
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  return { aheadSeconds: seconds((least + most) / 2), uncertaintySeconds: seconds((most - least) / 2) };
}

/** Returns, for example, `183.2 s ahead of the service's, within 0.6 s`. */
function clockText({ aheadSeconds, uncertaintySeconds }: NonNullable<ReturnType<typeof clockFacts>>): string {
  const within = `within ${uncertaintySeconds} s`;
  if (Math.abs(aheadSeconds) <= uncertaintySeconds) return `the same as the service's, ${within}`;
  const way = aheadSeconds > 0 ? 'ahead of' : 'behind';
  return `${Math.abs(aheadSeconds)} s ${way} the service's, ${within}`;
}

function tlsFacts({ context: { env }, config }: Invocation) {
  return {
    openssl: process.versions.openssl ?? 'not known',
    caFile: config.settings['ca-file'] ?? null,
    extraCaFile: env.NODE_EXTRA_CA_CERTS || null,
    checksCertificates: env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',
  };
}

function tlsText({ caFile, extraCaFile, checksCertificates }: ReturnType<typeof tlsFacts>): string {
  if (!checksCertificates) return 'certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0)';
  const more = [caFile, extraCaFile].filter((file) => file !== null);
  return more.length === 0 ? "the runtime's authorities" : `the runtime's authorities, and ${more.join(', ')}`;
}

/**
 * Returns the names of the streams that are terminals, the width, whether output has colour if `--color` is not given,
 * the value of `TERM`, and the locale from the first variable that is set.
 */
function terminalFacts({ stdin, stdout, stderr, env }: Context) {
  const streams = Object.entries({ stdin, stdout, stderr });
  return {
    streams: streams.flatMap(([name, { isTerminal }]) => (isTerminal ? [name] : [])),
    columns: stdout.columns ?? stderr.columns ?? null,
    color: wantsColor({ env, isTerminal: stdout.isTerminal }),
    kind: env.TERM || null,
    locale: env.LC_ALL || env.LC_CTYPE || env.LANG || null,
  };
}

function terminalText({ streams, columns, color }: ReturnType<typeof terminalFacts>): string {
  if (streams.length === 0) return 'none';
  const width = columns === null ? [] : [`${columns} columns`];
  return [streams.join(' and '), ...width, color ? 'colour' : 'no colour'].join(', ');
}
