import { basename } from 'node:path';
import type { ExportRow } from '../../../change-files/change-file-text.ts';
import { readStockList } from '../../../change-files/read-stock-list.ts';
import { comparedFields } from '../../../inventory/item-fields.ts';
import { counted, grouped } from '../../../inventory/items.ts';
import { type Difference, StockList } from '../../../inventory/stock-list.ts';
import type { View } from '../../../output/view.ts';
import { ChangesFound, FailureError, InterruptedError, systemCode, UsageError } from '../../../shared/errors.ts';
import { didYouMean, environmentNames, flagWords, petstock } from '../../../shared/hint.ts';
import type { Context } from '../../context.ts';
import { faultyFile, readNamedFile } from '../../input-file.ts';
import type { NamedTarget } from '../../invocation/globals.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, fieldsOption, type OptionsOf, oneOf, optionRows, suggesting } from '../command.ts';
import { scanStock } from './find-pets.ts';

const diffOptions = optionRows(
  [
    '--only <field>',
    `${comparedFields.join(' or ')}: compare only this field, of pets that both sides have`,
    oneOf(comparedFields),
  ],
  ['--exit-code', 'exit with code 3 if the sides differ'],
  fieldsOption,
  ['--changes', 'print a change file (CSV) that makes left like right'],
);
/** An environment, or a stock list. */
const side = suggesting({ kind: 'files', endings: ['.csv', '.json', '.ndjson', '.jsonl'], or: 'targets' });
type DiffOptions = OptionsOf<typeof diffOptions>;

export const diffCommand = define({
  summary: 'compare the stock of two environments or files',
  operands: {
    '<left>': ['an environment, store/environment, a file, or - for stdin', side],
    '<right>': ['the other side, in the same form', side],
  },
  description:
    'Compares two stock lists. Each is the current stock of an environment, or a file from `petstock inventory export` or ' +
    '`list -o csv`, `json` or `ndjson`. Shows the pets that differ, by id: added (only on the right), removed (only on the left), ' +
    'changed. Sends one request per environment. For a file that has the name of an environment, write ./staging.',
  options: diffOptions,
  examples: [
    ['petstock inventory diff staging production'],
    ['petstock inventory diff north/production south/production', 'two stores'],
    ['petstock inventory diff stock.csv staging --only quantity', 'what has changed since the export'],
    ['petstock inventory diff staging stock.csv --changes > back.csv', 'a file that restores the export'],
    ['petstock inventory apply back.csv --dry-run'],
    ['petstock inventory list -o ndjson | petstock inventory diff - staging', 'a list from a pipe'],
  ],
  run: async function* (invocation, options, leftName, rightName) {
    if (invocation.environment.source === '--env') {
      throw new UsageError('diff takes environments as operands. Leave out --env', {
        hint: petstock`inventory diff ${leftName} ${rightName} ${flagWords(options)}`,
      });
    }
    const [left, right] = [sideOf(leftName), sideOf(rightName)];
    requireConsistentOptions(invocation, options, [left, right]);
    yield* diff(invocation, [left, right], options);
  },
});

/**
 * Returns the side that an operand names: an environment, `store/environment`, `-` for stdin, otherwise a file. A file
 * that is named like an environment must be written `./staging`.
 * @throws UsageError for an empty name, or a store of the sandbox
 */
function sideOf(name: string): Side {
  const [, store, text = name] = /^([^./\\][^/\\]*)\/([^/\\]+)$/.exec(name) ?? [];
  const environment = environmentNames.find((known) => known === text);
  if (environment === 'sandbox' && store !== undefined) {
    throw new UsageError(`The sandbox has no stores: write sandbox alone. For a file of that name, write ./${name}`);
  }
  if (environment !== undefined) return { kind: 'environment', name, target: { name: environment, store } };
  if (name === '') throw new UsageError('The name of a side is empty. Give an environment, a file, or - for stdin');
  return { kind: 'file', name: name === '-' ? 'stdin' : name, file: name };
}

/** @throws UsageError if some of the options and sides can't be used together */
function requireConsistentOptions({ globals }: Invocation, { only, changes }: DiffOptions, sides: readonly Side[]) {
  if (sides.every((side) => side.kind === 'file' && side.file === '-')) {
    throw new UsageError('Only one side can be stdin');
  }
  const { json, typed } = globals;
  const asksFormat = json === true || (typed.output !== undefined && typed.output !== 'csv');
  if (changes && asksFormat) throw new UsageError('--changes prints CSV. Leave out -o and --json');
  if (changes && only !== undefined && only !== 'quantity') {
    throw new UsageError(`--changes can only set quantities, so it can't be combined with --only ${only}`);
  }
}

async function* diff(
  invocation: Invocation,
  [leftSide, rightSide]: readonly [Side, Side],
  options: DiffOptions,
): AsyncGenerator<View, void> {
  const { differencesView } = await import('../../../output/difference-view.ts');
  const [leftTitle, rightTitle] = titlesOf(leftSide, rightSide);
  const { names } = await invocation.remarks();
  const viewOptions = { left: leftTitle, right: rightTitle, names };
  await invocation.results.requireFields(differencesView([], viewOptions));
  const targets = [leftSide, rightSide].flatMap((side) => (side.kind === 'environment' ? [side.target] : []));
  // Opens the connections first, so that nothing is sent if a side lacks an address or a key.
  for (const target of targets) {
    await invocation.connections.at(target, async () => {}, { isShown: options.changes !== true });
  }
  const early = rightSide.kind === 'file' ? await readSide(invocation, rightSide) : undefined;
  const left = await readSide(invocation, leftSide);
  const right = early ?? (await readSide(invocation, rightSide));
  const counts = { added: 0, removed: 0, changed: 0, quantity: 0 };
  const found = counting(StockList.differences(left, right, options.only), counts);
  if (options.changes) await printChanges(invocation, found);
  else yield { ...differencesView(found, viewOptions), noteWhenEmpty: false };
  const differing = counts.added + counts.removed + counts.changed;
  const sizes = `${leftSide.name} has ${counted(left.size, 'pet')}, ${rightSide.name} ${counted(right.size, 'pet')}`;
  await invocation.messages.note(`${sizes}: ${differenceText(counts)}.`);
  if (options.changes) await warnOfRest(invocation, leftSide.name, counts);
  if (options.exitCode && differing > 0) throw new ChangesFound('They differ');
}

function titlesOf(left: Side, right: Side): readonly [string, string] {
  const [one, other] = [left, right].map(({ kind, name }) => (kind === 'file' ? basename(name) : name));
  return one === other || one === undefined || other === undefined ? [left.name, right.name] : [one, other];
}

interface Counts {
  added: number;
  removed: number;
  changed: number;
  /** Number of changed pets whose quantity differs. */
  quantity: number;
}

function* counting(batches: Iterable<readonly Difference[]>, counts: Counts): Generator<readonly Difference[]> {
  for (const batch of batches) {
    for (const { change, left, right } of batch) {
      counts[change] += 1;
      if (change === 'changed' && left?.quantity !== right?.quantity) counts.quantity += 1;
    }
    yield batch;
  }
}

async function printChanges({ results, globals }: Invocation, batches: Iterable<readonly Difference[]>): Promise<void> {
  const { changeFileText } = await import('../../../change-files/change-file-text.ts');
  const rows = function* (): Generator<readonly ExportRow[]> {
    for (const batch of batches) {
      yield batch.flatMap(({ petId, left, right }) => {
        if (left === undefined || right === undefined || left.quantity === right.quantity) return [];
        return { ...left, petId, expected: left.quantity, quantity: right.quantity };
      });
    }
  };
  for await (const piece of changeFileText(rows(), { raw: globals.raw === true })) await results.write(piece);
}

/** Warns of differences that a change file can't express, because it only sets quantities of existing pets. */
async function warnOfRest({ messages }: Invocation, left: string, counts: Counts): Promise<void> {
  const { added, removed, changed, quantity } = counts;
  const parts = [
    ...(added === 0 ? [] : [`add ${counted(added, 'pet')} that ${left} does not have`]),
    ...(removed === 0 ? [] : [`remove ${counted(removed, 'pet')} that only ${left} has`]),
    ...(changed === quantity ? [] : [`change the status of ${counted(changed - quantity, 'pet')}`]),
  ];
  if (parts.length > 0)
    await messages.warn(`A change file only sets quantities: this one can't ${parts.join(', or ')}.`);
}

function differenceText({ added, removed, changed }: Counts): string {
  const parts = Object.entries({ changed, added, removed }).filter(([, count]) => count > 0);
  return parts.length === 0 ? 'no difference' : parts.map(([word, count]) => `${grouped(count)} ${word}`).join(', ');
}

type Side =
  | { readonly kind: 'environment'; readonly name: string; readonly target: NamedTarget }
  /** `file` is a path, or `-` for stdin. */
  | { readonly kind: 'file'; readonly name: string; readonly file: string };

/**
 * Returns the stock of one side.
 * @throws UsageError for a file that can't be read or has errors, FailureError if a service lists a pet twice
 */
async function readSide(invocation: Invocation, side: Side): Promise<StockList> {
  if (side.kind === 'file') {
    return readFile(invocation.context, side.file).catch((error) => {
      throw unreadableSide(side.file, error);
    });
  }
  const list = await invocation.connections.at(side.target, ({ client }) =>
    StockList.gather(scanStock(invocation, client)),
  );
  const repeated = list.repeated();
  if (repeated === undefined) return list;
  throw new FailureError(`The list of ${side.name} is not valid: pet ${repeated} appears twice`);
}

async function readFile(context: Context, file: string): Promise<StockList> {
  const name = file === '-' ? undefined : file;
  const result = await readStockList(readNamedFile(file, context), { name, format: undefined });
  if (result.ok) return result.list;
  throw faultyFile(file, result, 'nothing was compared');
}

/** Returns the error about a file. If there is no such file, the name may be a mistyped environment. */
function unreadableSide(file: string, error: unknown): unknown {
  if (error instanceof InterruptedError) return error.with({ message: 'Interrupted. Nothing was sent' });
  const meant = didYouMean(file, environmentNames);
  if (!(error instanceof UsageError) || systemCode(error.cause) !== 'ENOENT' || meant === '') return error;
  return error.with({ message: `${error.message}, nor an environment of that name.${meant}` });
}
