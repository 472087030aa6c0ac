import { release } from 'node:os';
import process from 'node:process';
import { wantsColor } from '../../output/terminal.ts';
import { parseHttpDate } from '../../rate-limit/headers.ts';
import { maskDatabaseUrl } from '../../shared/database-url.ts';
import { PetstockError } from '../../shared/errors.ts';
import { version } from '../../shared/version.ts';
import type { Invocation } from '../invocation/invocation.ts';
import type { SeenHead } from '../invocation/network.ts';
import { sharedStateOf, withExistingState } from '../invocation/state.ts';
import { type CompletionFacts, completionFacts, type FolderFacts, folderFacts } from './files.ts';

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
    variables: Object.keys(env).filter(counts).sort(),
  };
}

const others =
  /^(https?|no)_proxy$|^NODE_(OPTIONS|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)$|^(NO_COLOR|FORCE_COLOR|PAGER)$/i;

function counts(name: string): boolean {
  return name.startsWith('PETSTOCK_') || others.test(name);
}

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
