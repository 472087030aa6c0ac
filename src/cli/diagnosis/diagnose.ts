import { release } from 'node:os';
import process from 'node:process';
import { grouped } from '../../inventory/values.ts';
import { wantsColor } from '../../output/terminal.ts';
import type { Row } from '../../output/view.ts';
import { parseHttpDate } from '../../rate-limit/headers.ts';
import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { PetstockError } from '../../shared/errors.ts';
import { version } from '../../shared/version.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { SeenHead } from '../invocation/network.ts';
import { sharedStateOf, withExistingState } from '../invocation/state-access.ts';
import { type CompletionFacts, completionFacts, type FolderFacts, folderFacts } from './file-facts.ts';

/** The facts that a report of a fault needs. They hold no secret: of variables that may contain one only the name is there. */
export interface Diagnosis {
  readonly program: ReturnType<typeof programFacts>;
  readonly folders: { readonly config: FolderFacts; readonly state: FolderFacts };
  readonly state: StateFacts;
  /** null: nothing was sent, or the response had no `Date`. */
  readonly clock: ClockFacts | null;
  readonly tls: ReturnType<typeof tlsFacts>;
  readonly terminal: ReturnType<typeof terminalFacts>;
  readonly completion: readonly CompletionFacts[];
  /** The names of the variables that are set and count. */
  readonly variables: readonly string[];
}

/** @param head of the latest response; undefined: there was none */
export async function diagnose(invocation: Invocation, head: SeenHead | undefined): Promise<Diagnosis> {
  const { env, folders } = invocation.context;
  return {
    program: programFacts(),
    folders: { config: folderFacts(folders.config), state: folderFacts(folders.state) },
    state: await stateFacts(invocation),
    clock: (head && clockFacts(head)) ?? null,
    tls: tlsFacts(invocation),
    terminal: terminalFacts(invocation.context),
    completion: completionFacts(env),
    variables: Object.keys(env)
      .filter((name) => name.startsWith('PETSTOCK_') || others.test(name))
      .sort(),
  };
}

const others =
  /^(https?|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)$|^(NO_COLOR|FORCE_COLOR|PAGER)$/i;

/** `node 22.18.0` or `bun 1.3.4` (in an executable, which needs no Node), the file that runs, and `linux x64 6.1.0`. */
function programFacts() {
  const { versions, argv, execPath, platform, arch } = process;
  const script = argv[1] ?? execPath;
  // bun shows the contents of an executable under a path of its own.
  const isExecutable = versions.bun !== undefined && /^(?:\/\$bunfs|[a-z]:[\\/]~bun)/i.test(script);
  return {
    version,
    runtime: versions.bun === undefined ? `node ${versions.node}` : `bun ${versions.bun}`,
    path: isExecutable ? execPath : script,
    isExecutable,
    system: `${platform} ${arch} ${release()}`,
  };
}

function tlsFacts({ context: { env }, config }: Invocation) {
  return {
    openssl: process.versions.openssl ?? 'not known',
    caFile: config.settings['ca-file'] ?? null,
    extraCaFile: env.NODE_EXTRA_CA_CERTS || null,
    checksCertificates: env.NODE_TLS_REJECT_UNAUTHORIZED !== '0',
  };
}

/** The streams that are a terminal, its width, colour without `--color`, `TERM`, and the locale by its first variable that is set. */
function terminalFacts({ stdin, stdout, stderr, env }: Invocation['context']) {
  const streams = Object.entries({ stdin, stdout, stderr });
  return {
    streams: streams.flatMap(([name, { isTerminal }]) => (isTerminal ? [name] : [])),
    columns: stdout.columns ?? stderr.columns ?? null,
    color: wantsColor({ env, isTerminal: stdout.isTerminal }),
    kind: env.TERM || null,
    locale: env.LC_ALL || env.LC_CTYPE || env.LANG || null,
  };
}

interface ClockFacts {
  /** Seconds that the clock of this machine is ahead of the service's; negative: behind. */
  readonly aheadSeconds: number;
  /** It may be off by as much: a `Date` has whole seconds, and was written some time between request and response. */
  readonly uncertaintySeconds: number;
}

/** @returns undefined if the `Date` of the response makes no sense */
function clockFacts({ date, sentAt, receivedAt }: SeenHead): ClockFacts | undefined {
  const service = parseHttpDate(date, receivedAt);
  if (service === undefined) return undefined;
  const [least, most] = [sentAt - (service + 1000), receivedAt - service];
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  return { aheadSeconds: seconds((least + most) / 2), uncertaintySeconds: seconds((most - least) / 2) };
}

interface StateFacts {
  /** `sqlite`, `postgresql 16.4`. null: there is no state yet, or it can't be opened. */
  readonly engine: string | null;
  /** A path, or a URL without its password. */
  readonly location: string;
  /** The source of the URL of a shared state. null: it is in the state folder. */
  readonly source: string | null;
  readonly schema: number | null;
  readonly bytes: number;
  readonly runs: number;
  /** null: there is none, or it can't be opened. */
  readonly sound: boolean | null;
  /** The faults of the state, or why it can't be opened, a sentence each. */
  readonly problems: readonly string[];
}

/** Reads all of the state. Any fault of it is a finding. */
async function stateFacts(invocation: Invocation): Promise<StateFacts> {
  const shared = sharedStateOf(invocation);
  const none: StateFacts = {
    engine: null,
    location: shared === undefined ? invocation.context.folders.state : maskDatabaseUrl(shared.value),
    source: shared?.source ?? null,
    schema: null,
    bytes: 0,
    runs: 0,
    sound: null,
    problems: [],
  };
  const look: Parameters<typeof withExistingState<StateFacts>>[1] = async (state) => {
    if (state === undefined) return none;
    const { engine, location, schema, bytes, runs, warnings = [] } = await state.describe();
    const problems = await state.check();
    const sound = problems.length === 0;
    return { ...none, engine, location, schema, bytes, runs, sound, problems: [...problems, ...warnings] };
  };
  try {
    return await withExistingState(invocation, look, 'limits');
  } catch (error) {
    if (!(error instanceof PetstockError)) throw error;
    return { ...none, problems: [error.message] };
  }
}

export function diagnosisRows(diagnosis: Diagnosis): Row[] {
  const { program, folders, state, clock, tls, terminal, completion, variables } = diagnosis;
  return [
    row('version', program.version, program.path),
    row('runtime', program.isExecutable ? `${program.runtime}, in the executable` : program.runtime, program.system),
    row('config folder', folderText(folders.config), folders.config.path),
    row('state folder', folderText(folders.state), folders.state.path),
    row('state', stateText(state), state.source ?? state.location),
    ...state.problems.map((problem) => row('state problem', problem, null)),
    row('clock', clock === null ? 'not known' : clockText(clock), null),
    row('tls', tlsText(tls), `OpenSSL ${tls.openssl}`),
    row('terminal', terminalText(terminal), terminal.kind),
    row('locale', terminal.locale ?? 'not set', null),
    ...(completion.length === 0
      ? [row('completion', 'not installed in a usual place', null)]
      : completion.map(({ shell, path }) => row('completion', shell, path))),
    row('variables', variables.length === 0 ? 'none that matter' : variables.join(', '), null),
  ];
}

function row(name: string, value: string, source: string | null): Row {
  return { name, value, source };
}

/** `read and write, 0700, 12.3 GB free` */
function folderText({ mode, rights, isOwn, free, problem }: FolderFacts): string {
  if (problem !== null) return `can't be used: ${problem}`;
  if (rights === 'missing') return 'not made yet';
  const parts = [
    rights === 'none' ? 'you have no permission to look into it' : rights,
    ...(mode === null ? [] : [mode]),
    ...(isOwn === false ? ["another user's"] : []),
    ...(free === null ? [] : [`${(free / 1e9).toFixed(1)} GB free`]),
  ];
  return parts.join(', ');
}

function stateText({ engine, schema, runs, sound }: Diagnosis['state']): string {
  if (sound === null) return engine === null ? 'none that can be read' : engine;
  const counted = runs === 1 ? '1 run' : `${grouped(runs)} runs`;
  return `${engine}, schema ${schema}, ${counted}, ${sound ? 'sound' : 'damaged'}`;
}

function tlsText({ caFile, extraCaFile, checksCertificates }: Diagnosis['tls']): string {
  if (!checksCertificates) return 'certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0)';
  const more = [caFile, extraCaFile].filter((file) => file !== null);
  return more.length === 0 ? 'authorities of the runtime' : `authorities of the runtime, and ${more.join(', ')}`;
}

function terminalText({ streams, columns, color }: Diagnosis['terminal']): string {
  if (streams.length === 0) return 'none';
  const width = columns === null ? [] : [`${columns} columns`];
  return [streams.join(' and '), ...width, color ? 'colour' : 'no colour'].join(', ');
}

/** `as the service's, within 0.6 s`, `183.2 s ahead of the service's, within 0.6 s` */
function clockText({ aheadSeconds, uncertaintySeconds }: NonNullable<Diagnosis['clock']>): string {
  const within = `within ${uncertaintySeconds} s`;
  if (Math.abs(aheadSeconds) <= uncertaintySeconds) return `as the service's, ${within}`;
  const way = aheadSeconds > 0 ? 'ahead of' : 'behind';
  return `${Math.abs(aheadSeconds)} s ${way} the service's, ${within}`;
}
