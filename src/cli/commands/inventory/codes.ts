import { readBarCode } from '../../../change-files/read-codes.ts';
import { codeProblem, petIdOfCode } from '../../../inventory/count/scan-line.ts';
import type { Column, Row } from '../../../output/view.ts';
import { recordView } from '../../../output/view.ts';
import { UsageError } from '../../../shared/errors.ts';
import { capitalized } from '../../../shared/parsed.ts';
import { addCodes, requireCodesFile } from '../../shop-codes.ts';
import { type Command, define, fieldsOption, files } from '../command.ts';
import { petIdOf } from '../option-values.ts';

const add = define({
  summary: 'add a bar code for a pet',
  operands: {
    '<code>': 'the scanned bar code',
    '<petId>': 'the pet, by its id or name',
    '[name]': "your shop's name for the pet",
  },
  description:
    "Adds a line to the file of the setting `codes`, or else to the sandbox's own. Sends nothing, so it does not check whether the pet exists.",
  options: [['--codes <file>', 'add it to this file, as `inventory count --codes` reads it', files('.csv')]],
  examples: [['petstock inventory codes add 4006381333931 42 "Red hamster"', 'a new product']],
  run: async function* (invocation, options, text: string, pet: string, name?: string) {
    // The code is read like those in the file.
    const code = readBarCode(text);
    const problem = codeProblem(code);
    if (problem !== undefined) throw new UsageError(capitalized(problem));
    const petId = await petIdOf(invocation, pet);
    const { messages, context } = invocation;
    const { file, codes } = await requireCodesFile(invocation, 'codes add', options.codes);
    const [added] = await addCodes(file, [{ code, petId, name: name?.trim() }], context);
    if (added === undefined) await messages.note(`${code} is already in ${file}, for pet ${petId}.`);
    else if (added.code === '') await messages.note(`Added the name of pet ${petId} to ${file}.`);
    else await messages.note(`Added ${code} to ${file}, for pet ${petId}.`);
    const other = petIdOfCode(code);
    const known = new Set([...codes.pets.values(), ...codes.names.keys()]);
    const mayBePet = other !== undefined && (known.has(other) || code.length < minCode);
    if (mayBePet && other !== petId) {
      await messages.warn(`${code} may also be the id of another pet. In a count, it now means pet ${petId}.`);
    }
    if (!invocation.results.isFormatNamed) return;
    yield recordView({
      code,
      petId,
      name: name ?? codes.names.get(petId) ?? null,
      changed: added !== undefined,
    });
  },
});

/** Number of digits of the shortest bar code on goods. */
const minCode = 8;

const columns: readonly Column[] = [
  { field: 'code', title: 'Code', whole: true },
  { field: 'petId', title: 'Pet', align: 'right' },
  { field: 'name', title: 'Name', foreign: 'name' },
  { field: 'low', title: 'Low', align: 'right' },
  { field: 'units', title: 'Units', align: 'right' },
];

const list = define({
  summary: 'list all bar codes',
  description:
    "Lists the bar codes, names, levels and units of cases in the file of the setting `codes`, or else the sandbox's own. Sends nothing.",
  options: [fieldsOption],
  examples: [['petstock inventory codes list'], ['petstock inventory codes list -o csv']],
  run: async function* (invocation) {
    const { pets, names, lows, units } = (await requireCodesFile(invocation, 'codes list')).codes;
    const coded = new Set(pets.values());
    const about = (petId: bigint) => ({ petId, name: names.get(petId) ?? null, low: lows.get(petId) ?? null });
    const uncoded = [...new Set([...names.keys(), ...lows.keys()])].filter((petId) => !coded.has(petId));
    const rows: Row[] = [
      ...Array.from(pets, ([code, petId]) => ({ code, ...about(petId), units: units.get(code) ?? null })),
      ...uncoded.map((petId) => ({ code: null, ...about(petId), units: null })),
    ];
    yield { shape: 'list', columns, rows: [rows] };
  },
});

export const codesCommand: Command = {
  summary: 'show and extend the file of your bar codes',
  description: 'Shows and extends the file of the setting `codes`: the bar codes, names and levels of your pets.',
  commands: { add, list },
};
