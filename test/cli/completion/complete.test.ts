import { expect, test } from 'vitest';
import { completionTable } from '../../../.ci/reference/completion-table.ts';
import type { TableCommand, Word } from '../../../src/cli/completion/command-table.ts';
import { complete, type Knowledge } from '../../../src/cli/completion/complete.ts';
import { fieldNames, shownFields } from '../../../src/inventory/item-fields.ts';
import fc, { anyText, property } from '../../support/properties.ts';

const table = await completionTable();
const known: Knowledge = async (what) => [[`a-${what}`, 'something']];

/** Returns the candidates for the last word of a line. */
async function proposed(line: string, knowledge = known): Promise<readonly string[] | string> {
  const words = line.split(' ');
  const current = words.pop() ?? '';
  const { candidates, files } = await complete(table, { words, current }, knowledge);
  const proposals = candidates.map(([word]) => word);
  return files === undefined ? proposals : [...proposals, `files ${files.prefix}${files.endings.join(' ')}`].join(' ');
}

test.each([
  ['config ', ['set-key', 'unset-key', 'set-url', 'set', 'get', 'unset', 'list', 'path']],
  ['--env ', ['staging', 'production', 'sandbox']],
  ['inventory list -e ', ['staging', 'production', 'sandbox']],
  ['inventory list -qe ', ['staging', 'production', 'sandbox']],
  ['inventory list -qepro', ['-qestaging', '-qeproduction', '-qesandbox']],
  ['--output=', ['table', 'json', 'ndjson', 'csv', 'tsv', 'html'].map((format) => `--output=${format}`)],
  ['-e sandbox -q inventory list --sort ', fieldNames],
  ['inventory list --fields petId,', shownFields.slice(1).map((field) => `petId,${field}`)],
  ['inventory list --pet ', ['a-pets']],
  ['inventory get 4 a-pets ', []],
  ['inventory get 4 ', ['a-pets']],
  ['inventory set 4 ', []],
  ['inventory adjust -- ', ['a-pets']],
  ['inventory get -- -', ['a-pets']],
  ['undo ', ['a-runs']],
  ['inventory apply --resume ', ['a-incomplete-runs']],
  ['inventory count ', 'files .txt .csv'],
  ['--store ', ['a-stores']],
  ['config set default-store ', ['a-stores']],
  ['config set default-env ', ['staging', 'production', 'sandbox']],
  ['config set constructor ', []],
  ['config set ca-file ', 'files '],
  ['inventory apply ', 'files .csv .tsv .tab .txt .json .ndjson .jsonl'],
  ['inventory count --to=', 'files --to=.csv'],
  ['inventory diff ', 'a-targets files .csv .json .ndjson .jsonl'],
  ['completion ', ['bash', 'zsh', 'fish', 'powershell']],
  ['help no such ', []],
  ['no such ', ['such']],
] as const)('completes the command line "petstock %s"', async (line, words) => {
  if (line === 'no such ') return expect(await proposed('no such ')).not.toContain('inventory');
  expect(await proposed(line)).toEqual(words);
});

test('completes the options of the command first, and omits options already given', async () => {
  const words = await proposed('inventory list --status sold --limit 3 -q -');
  expect(words[0]).toBe('--status');
  expect(words.indexOf('--env')).toBeGreaterThan(words.indexOf('--pet'));
  for (const given of ['--limit', '--quiet']) expect(words).not.toContain(given);
});

test('completes options without a dash if nothing else can follow', async () => {
  expect(await proposed('inventory list ')).toContain('--summary');
});

/** Options whose values only the user knows. A new one is added here or to the table. */
const unknown =
  '--after --ban-seconds --ban-strikes --before --code --command --concurrency --cors --data --delimiter --expect --fault ' +
  '--fields --for --header --host --interval --keep --key --limit --limit-day --limit-minute --max-changes --max-quantity ' +
  '--max-wait --max-zero --min-quantity --min-rows --name --pets --port --reason --ref --retries --seed --since ' +
  '--timeout --until --url --user --window-seconds';

test('completes the values of every option, except free-form ones', () => {
  const without = ({ options, commands }: TableCommand): readonly string[] => [
    ...options.flatMap(({ flags, value }) =>
      value?.kind === 'words' && value.words.length === 0 ? flags.slice(-1) : [],
    ),
    ...commands.flatMap(without),
  ];
  expect([...new Set(without(table))].sort()).toEqual(unknown.split(' '));
});

const hostile = fc.array(fc.tuple(anyText(), anyText()), { maxLength: 4 });

property('completes only words that are harmless in a shell', [hostile, anyText()], async (words, typed) => {
  const knowledge = async () => words as readonly Word[];
  for (const line of [['undo'], ['--store'], ['inventory', 'list', '--pet']]) {
    const { candidates } = await complete(table, { words: line, current: typed }, knowledge);
    const isHarmless = (word: string, about: string) => /^[\w.,=+/-]+$/.test(word) && !/[\0-\x1f\x7f-\x9f]/.test(about);
    expect(candidates.filter(([proposed, about]) => !isHarmless(proposed, about ?? ''))).toEqual([]);
  }
});

const word = fc.oneof(
  fc.string(),
  fc.constantFrom(...'inventory list --env --env= - -- -e --merge count help config set'.split(' '), ''),
);

property('completes any line without an error', [fc.array(word, { maxLength: 6 }), word], async (words, current) => {
  await expect(complete(table, { words, current }, known)).resolves.toBeDefined();
});
