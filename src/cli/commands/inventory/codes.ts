import { codeProblem, codeText } from '../../../inventory/count/scan-line.ts';
import type { Column, Row } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { sentence } from '../../../shared/parsed.ts';
import { addCodes, requireShopCodes, writableCodesFile } from '../../shop-codes.ts';
import { define, fieldsOption } from '../define.ts';
import { petIdOf } from '../option-values.ts';
import { printOutcome } from '../print-record.ts';

export const defineCodesAdd = define({
  operands: {
    '<code>': 'the bar code, as it is scanned',
    '<petId>': 'the pet that it stands for, by its id or name',
    '[name]': 'what your shop calls the pet',
  },
  description:
    'Adds a line to the file of the setting `codes`. Sends nothing: whether there is such a pet is not checked.',
  examples: [['petstock inventory codes add 4006381333931 42 "Red hamster"', 'a new product']],
  action: async (invocation, _options, text: string, pet: string, name?: string) => {
    const code = codeText(text);
    const problem = codeProblem(code);
    if (problem !== undefined) throw new UsageError(sentence(problem));
    const petId = await petIdOf(invocation, pet);
    await requireShopCodes(invocation, 'codes add');
    const file = (await writableCodesFile(invocation)) ?? '';
    const added = await addCodes(file, [{ code, petId, name }], invocation.context);
    await invocation.messages.note(
      added.length > 0
        ? `Added ${code} to ${file}, for pet ${petId}.`
        : `${code} is in ${file} already, for pet ${petId}.`,
    );
    await printOutcome(invocation, { code, petId, name: name ?? null, changed: added.length > 0 });
  },
});

const columns: readonly Column[] = [
  { field: 'code', title: 'Code', whole: true },
  { field: 'petId', title: 'Pet', align: 'right' },
  { field: 'name', title: 'Name', foreign: 'name' },
  { field: 'low', title: 'Low', align: 'right' },
];

export const defineCodesList = define({
  description: 'Lists the bar codes, names and levels of the file of the setting `codes`. Sends nothing.',
  options: [fieldsOption],
  examples: [['petstock inventory codes list'], ['petstock inventory codes list -o csv']],
  action: async (invocation) => {
    const { pets, names, lows } = await requireShopCodes(invocation, 'codes list');
    const coded = new Set(pets.values());
    const about = (petId: bigint) => ({ petId, name: names.get(petId) ?? null, low: lows.get(petId) ?? null });
    const uncoded = [...new Set([...names.keys(), ...lows.keys()])].filter((petId) => !coded.has(petId));
    const rows: Row[] = [
      ...Array.from(pets, ([code, petId]) => ({ code, ...about(petId) })),
      ...uncoded.map((petId) => ({ code: null, ...about(petId) })),
    ];
    await invocation.results.print({ shape: 'list', columns, rows: [rows] });
  },
});
