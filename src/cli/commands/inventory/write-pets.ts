import type { Change } from '../../../inventory/change.ts';
import { parseDelta, parseQuantity } from '../../../inventory/items.ts';
import { mayBeName } from '../../../inventory/pet-names.ts';
import { UsageError } from '../../../shared/errors.ts';
import { applyRows, commandLine, petstock, withWords } from '../../../shared/hint.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, type OptionsOf, optionRows, quantity, required } from '../command.ts';
import { experimental, petIdOf } from '../option-values.ts';

/** `set` takes the new stock, `adjust` a delta. */
type Verb = 'set' | 'adjust';

const writeOptions = optionRows(
  ['--code <bar code>', 'the pet by its bar code instead of its id (bar codes come from the setting codes)'],
  ['--reason <text>', 'reason in the history'],
  ['--ref <text>', 'your own number or name, such as a delivery note, for the history'],
  ['--dry-run', 'show the plan and write nothing'],
);

type WriteFlags = OptionsOf<typeof writeOptions> & {
  readonly expect?: number;
  readonly readFirst?: boolean;
  readonly again?: boolean;
};

export const setCommand = define({
  summary: 'set the stock of one pet',
  usage: '[options] <petId> <quantity>',
  operands: { '<petId>': 'the pet, by its id or name', '[quantity...]': 'the new stock' },
  description:
    'Sets the stock of one pet and shows the item that the service returned. Sends one request; two if it reads first: on a terminal, and with ' +
    `--expect or --read-first. For several pets see petstock inventory apply.\n\n${experimental}`,
  options: [
    ['--expect <n>', 'read first, and write only if the stock is n (otherwise exit code 7)', quantity],
    [
      '--read-first',
      'read first and show before and after, so that the change can be undone (default: see the setting read-first)',
    ],
    ['--no-read-first', 'send one request, even on a terminal (--expect still reads first)'],
    ...writeOptions,
  ],
  examples: [
    ['petstock inventory set 4 12'],
    ['petstock inventory set rabbit 12', 'by its name, or a part of it'],
    ['petstock inventory set 4 9 --expect 12', 'only if it was not changed since'],
    ['petstock inventory set 4 0 --reason "sold at the fair" --ref T-1009'],
  ],
  run: (invocation, options, ...operands) => writePet(invocation, 'set', options, operands),
});

export const adjustCommand = define({
  summary: 'add to or subtract from the stock of one pet',
  usage: '[options] <petId> <delta>',
  operands: {
    '<petId>': 'the pet, by its id or name',
    '[delta...]': 'units to add or subtract: +5, 5 or -2',
  },
  description:
    'Reads the stock of one pet, adds the delta, sets the sum, and shows before and after. Sends two requests. ' +
    'Commands that share the state take turns, and all of their changes count. But the service can only set stock, so a change made ' +
    `elsewhere between the two requests is overwritten. For several pets see petstock inventory apply.\n\n${experimental}`,
  options: [
    ['--expect <n>', 'write only if the stock is n (otherwise exit code 7)', quantity],
    ...writeOptions,
    ['--again', 'write the delta although the pet was already changed under the same --ref'],
  ],
  examples: [
    ['petstock inventory adjust 4 +5', 'five have arrived'],
    ['petstock inventory adjust 4 -2 --reason "returned to breeder"'],
  ],
  run: (invocation, options, ...operands) => writePet(invocation, 'adjust', options, operands),
});

const nouns = { set: 'stock', adjust: 'delta' };
const columns = { set: 'quantity', adjust: 'delta' } as const;

async function writePet(invocation: Invocation, verb: Verb, options: WriteFlags, operands: readonly string[]) {
  const given = options.code === undefined ? operands : await withPetOf(invocation, verb, options.code, operands);
  const { pet, value } = parseOperands(invocation, verb, given);
  const petId = await petIdOf(invocation, pet);
  const { expect: expected, reason, ref } = options;
  const [set, delta] = verb === 'set' ? [value, undefined] : [undefined, value];
  const change = { line: 1, petId, quantity: set, delta, expected, reason, ref };
  const command = `inventory ${verb}`;
  const earlier = await appliedBefore(invocation, change, options);
  const { dryRun = false } = options;
  const readsStock = delta !== undefined || expected !== undefined || readsFirst(invocation, options);
  const { writeOne } = await import('./write-one.ts');
  await writeOne(invocation, command, change, { readsStock, earlier, dryRun });
}

/**
 * Looks in the history for the same delta under the same ref.
 * @returns a clause for the question; undefined if there is none
 * @throws UsageError if there is one, and neither the user nor `--again` decides
 */
async function appliedBefore(invocation: Invocation, change: Change, { again = false, dryRun = false }: WriteFlags) {
  if (change.delta === undefined || change.ref === undefined) return undefined;
  const { AppliedBefore } = await import('../../runs/applied-before.ts');
  const access = { invocation, connection: await invocation.connections.connect({ writes: true }) };
  const { names } = await invocation.remarks('person');
  const options = { file: undefined, again, skipApplied: false, dryRun, names };
  return (await AppliedBefore.look(access, [change], options)).earlier;
}

/**
 * Reports whether to read the stock first. A person on a terminal then sees before and after, and can undo the change.
 * A script sends only one request, unless an option or a setting asks for the read.
 */
function readsFirst({ context, config }: Invocation, { readFirst }: WriteFlags): boolean {
  const setting = config.settings['read-first'] ?? 'terminal';
  const isTerminal = context.stdin.isTerminal && context.stderr.isTerminal;
  return readFirst ?? (setting === 'always' || (setting === 'terminal' && isTerminal));
}

async function withPetOf(invocation: Invocation, verb: Verb, code: string, operands: readonly string[]) {
  const [value] = operands;
  if (value === undefined || operands.length > 1 || value.includes('=')) {
    throw new UsageError(`--code already identifies the pet. Give only the ${nouns[verb]}`, {
      hint: petstock`inventory ${verb} --help`,
    });
  }
  const { petIdOfBarCode } = await import('../../shop-codes.ts');
  return [`${await petIdOfBarCode(invocation, code)}`, value];
}

/**
 * Returns the pet as typed, and the new stock or the delta.
 * @throws UsageError for operands that are not valid
 */
function parseOperands(invocation: Invocation, verb: Verb, operands: readonly string[]) {
  const { argv } = invocation.context;
  const addHint = '. To add to the stock, use petstock inventory adjust';
  const parse = (text: string) => (verb === 'set' ? parseQuantity(text, addHint) : parseDelta(text));
  const help = ['inventory', verb, '--help'];
  const hint = petstock`${help}`;
  const [first = '', second, third] = operands;
  if (operands.some((operand) => operand.includes('='))) throw assigned(invocation, verb, operands);
  if (second === undefined) {
    const missing = {
      set: 'The quantity is missing. Give the number of units in stock',
      adjust: 'The delta is missing. Give the number of units that came in (+5) or went out (-5)',
    };
    throw new UsageError(missing[verb], { hint });
  }
  if (verb === 'adjust' && third === undefined && /^[+-]\d+$/.test(first) && /^\d+$/.test(second)) {
    throw new UsageError('The pet comes first, then the delta', {
      hint: petstock`${withWords(argv, [first, second], [second, first]) ?? help}`,
    });
  }
  if (third === undefined) return { pet: first, value: required(parse(second)) };
  const words = operands.slice(0, -1);
  if (words.every((word) => mayBeName(word)) && parse(operands.at(-1) ?? '').ok) {
    throw new UsageError('Put quotes around a name of several words', {
      hint: petstock`${withWords(argv, words, [words.join(' ')]) ?? help}`,
    });
  }
  const pairs = operands.flatMap((petId, at) => (at % 2 === 0 ? [[petId, operands[at + 1] ?? '']] : []));
  throw new UsageError(`Give one pet and its ${nouns[verb]}. Nothing was sent`, {
    hint: hintForSeveral(invocation, verb, pairs),
  });
}

/** Returns the error for operands such as `4=12`. Its hint is the line for one pet, or a file for several. */
function assigned(invocation: Invocation, verb: Verb, operands: readonly string[]): UsageError {
  const { argv } = invocation.context;
  const message = `Give one pet and its ${nouns[verb]} as two words. Nothing was sent`;
  const pairs = operands.map((operand) => /^([^=]+)=([+-]?\d+)$/.exec(operand)?.slice(1) ?? []);
  if (pairs.length > 1) return new UsageError(message, { hint: hintForSeveral(invocation, verb, pairs) });
  const line = withWords(argv, operands, pairs.flat());
  const isWhole = pairs[0]?.length === 2 && line !== undefined;
  return new UsageError(message, { hint: isWhole ? petstock`${line}` : petstock`inventory ${verb} --help` });
}

/** Returns the line that applies a file with these pets and values, or help if one of them is not a number. */
function hintForSeveral(invocation: Invocation, verb: Verb, pairs: readonly (readonly string[])[]): string {
  if (!pairs.every(([petId = '', value = '']) => /^\d{1,19}$/.test(petId) && /^[+-]?\d+$/.test(value))) {
    return petstock`inventory ${verb} --help`;
  }
  const agreed = invocation.globals.typed.yes === undefined ? ['--yes'] : [];
  const changed = { expect: undefined, code: undefined, readFirst: undefined };
  return applyRows(columns[verb], pairs, [...agreed, ...commandLine(invocation, [], changed)]);
}
