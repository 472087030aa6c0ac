import { grouped } from '../../inventory/values.ts';
import type { Row } from '../../output/view.ts';
import type { Diagnosis } from './diagnose.ts';
import type { FolderFacts } from './files.ts';

/** A diagnosis line by line, for people. */
export function diagnosisRows({
  program,
  folders,
  state,
  clock,
  tls,
  terminal,
  completion,
  variables,
}: Diagnosis): Row[] {
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
