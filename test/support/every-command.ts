import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCommands } from '../../.ci/reference/reference.ts';

/** The arguments with which a command is run, the formats that it refuses, and its exit code in any other format. */
export interface TriedCommand {
  /**
   * The arguments after its name. `RUN`, `KEY`, `FOLDER` and `FORMAT` stand for a run, a key of the sandbox, the folder
   * of the test, and the format.
   */
  readonly args: string;
  readonly refuses?: readonly string[];
  readonly code?: number;
}

const noTable = ['table'];
const text = ['table', 'json', 'ndjson', 'csv', 'tsv'];

/** All commands, in the order in which they run. What a command lists is created by earlier ones. */
export const everyCommand: Readonly<Record<string, TriedCommand>> = {
  'config set': { args: 'codes FOLDER/codes.csv' },
  'config set-key': { args: '-e production' },
  'config set-url': { args: 'https://stock.example.com/v1 -e production' },
  'config get': { args: 'low-stock', refuses: noTable },
  'config list': { args: '' },
  'config path': { args: '', refuses: noTable },
  'config unset-key': { args: '-e production' },
  'config unset': { args: 'url -e production' },
  'inventory codes add': { args: '4006381333931 4 Rex' },
  'inventory codes list': { args: '' },
  'inventory list': { args: '' },
  'inventory get': { args: '4 5' },
  'inventory set': { args: '4 12' },
  'inventory adjust': { args: '4 +1 --reason =cmd' },
  'inventory apply': { args: 'FOLDER/changes.csv' },
  'inventory export': { args: '', refuses: noTable },
  'inventory diff': { args: 'staging FOLDER/stock.csv' },
  'inventory watch': { args: '--now --for 1', refuses: ['json'] },
  'inventory count': { args: '-' },
  undo: { args: 'RUN' },
  'history list': { args: '' },
  'history show': { args: 'RUN' },
  'history totals': { args: '' },
  // A finished run can't be discarded. The command's own tests discard an unfinished run.
  'history discard': { args: 'RUN', code: 2 },
  'history export': { args: '', refuses: noTable },
  'history prune': { args: '--keep 100' },
  limits: { args: '' },
  'limits clear': { args: '' },
  status: { args: '' },
  'state info': { args: '' },
  'state check': { args: '' },
  // A state that is not shared has no tables to create.
  'state init': { args: '', code: 2 },
  'pets get': { args: '4' },
  'orders list': { args: '' },
  api: { args: 'GET /inventory', refuses: ['table', 'ndjson', 'csv', 'tsv'] },
  // The server never ends, so it gets an invalid port. Its own tests read its output.
  'sandbox serve': { args: '--port 65536', refuses: text, code: 2 },
  'sandbox info': { args: '' },
  'sandbox reset': { args: '--pets 5' },
  'sandbox import': { args: 'FOLDER/stock.csv' },
  'sandbox openapi': { args: '', refuses: ['table', 'ndjson', 'csv', 'tsv'] },
  completion: { args: 'bash', refuses: text },
  help: { args: 'exit-codes', refuses: text },
};

/** Returns the names of all commands that can be run, from the program itself. */
export async function commandNames(): Promise<readonly string[]> {
  const [, ...commands] = await allCommands();
  const isNoun = ({ command }: (typeof commands)[number]) =>
    command.run === undefined && command.commands !== undefined;
  return commands.filter((each) => !isNoun(each)).map(({ names }) => names.join(' '));
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
type RunCommand = (argv: readonly string[], stdin: string) => Promise<Ran>;

export interface TriedOutput extends Ran {
  readonly name: string;
  readonly isRefused: boolean;
  readonly expectedCode: number;
}

/**
 * Runs every command with a format, in a shop that has something to show.
 * @param folder the folder for its files
 */
export async function runEvery(run: RunCommand, folder: string, format: string): Promise<readonly TriedOutput[]> {
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
  file('codes.csv', 'code,petId,name\n111,4,Rex\n');
  file('stock.csv', 'petId,quantity,status\n1,2,available\n9223372036854775807,3,sold\n');
  const quietly = (command: string, stdin = '') => run([...command.split(' '), '--yes', '-q'], stdin);
  const { run: undone } = JSON.parse((await quietly('inventory apply - --json', 'petId,delta\n7,1\n8,1\n')).stdout);
  const outputs: TriedOutput[] = [];
  for (const [name, { args, refuses = [], code = 0 }] of Object.entries(everyCommand)) {
    file('changes.csv', `petId,quantity,reason\n6,30,"a, ""b"""\n9,4,=cmd\n`);
    const words = args.replace('RUN', undone).replaceAll('FOLDER', folder);
    const given = words
      .replace('FORMAT', format)
      .split(' ')
      .filter((word) => word !== '');
    const stdin = name === 'config set-key' ? 'psk_0123456789abcdef0123' : '4 x3\n111\ndone\n';
    const asked = format === 'json' ? ['--json'] : ['-o', format];
    const ran = await run([...name.split(' '), ...given, ...asked, '--yes'], stdin);
    outputs.push({
      ...ran,
      name,
      isRefused: refuses.includes(format),
      expectedCode: refuses.includes(format) ? 2 : code,
    });
  }
  return outputs;
}
