import type { Change } from '../../../inventory/change.ts';
import { isPetStatus, parseDelta, parseQuantity } from '../../../inventory/items.ts';
import { mayBeName } from '../../../inventory/pet-names.ts';
import { UsageError } from '../../../shared/errors.ts';
import { petstock, withWords } from '../../../shared/hint.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { define, type OptionsOf, optionRows } from '../define.ts';
import { bulkOptions, experimental, needsPlan, petIdOf, quantityOf, required } from '../option-values.ts';
import type { Verb } from './write-several.ts';

const writeOptions = optionRows(
  ['--code <bar code>', 'the pet by its bar code instead of its id (bar codes come from the setting codes)'],
  ['--reason <text>', 'reason in the history'],
  ['--ref <text>', 'your own number or name, such as a delivery note, for the history'],
  ...bulkOptions,
);

type WriteFlags = OptionsOf<typeof writeOptions> & { readonly expect?: string; readonly readFirst?: boolean };

export const defineSet = define({
  usage: '[options] <petId> <quantity>\n       petstock inventory set [options] <petId>=<quantity>…',
  operands: {
    '<petId>': 'the pet, by its id or name; or petId=quantity, once or several times',
    '[quantity...]': 'the new stock',
  },
  description:
    'Sets the stock of one pet and shows the item that the service returned. Sends one request; two if it reads first: on a terminal, and with ' +
    '--expect or --read-first.\n\n' +
    'Several pets, as petId=quantity, are one run in the history, as with `petstock inventory apply`: petstock reads the stock, shows the plan, ' +
    'and asks for confirmation. That takes one request, plus one per pet that changes. The same applies to one pet with ' +
    `--dry-run or one of the options that follow it.\n\n${experimental}`,
  options: [
    ['--expect <n>', 'read first, and write only if the stock is n (otherwise exit code 7)'],
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
    ['petstock inventory set 4=12 5=9', 'several, as one run'],
  ],
  action: (invocation, options, ...operands) => writePets(invocation, 'set', options, operands),
});

export const defineAdjust = define({
  usage: '[options] <petId> <delta>\n       petstock inventory adjust [options] <petId>=<delta>…',
  operands: {
    '<petId>': 'the pet, by its id or name; or petId=delta, once or several times',
    '[delta...]': 'units to add or subtract: +5, 5 or -2',
  },
  description:
    'Reads the stock of one pet, adds the delta, sets the sum, and shows before and after. Sends two requests. ' +
    'Commands that share the state take turns, and all of their changes count. But the service can only set stock, so a change made ' +
    'elsewhere between the two requests is overwritten.\n\n' +
    'Several pets, as petId=delta, are one run in the history, as with `petstock inventory apply`. The same applies to one pet ' +
    `with --dry-run or one of the options that follow it.\n\n${experimental}`,
  options: [['--expect <n>', 'write only if the stock is n (otherwise exit code 7)'], ...writeOptions],
  examples: [
    ['petstock inventory adjust 4 +5', 'five have arrived'],
    ['petstock inventory adjust 4 -2 --reason "returned to breeder"'],
    ['petstock inventory adjust 4=+1 6=-2', 'several, as one run'],
  ],
  action: (invocation, options, ...operands) => writePets(invocation, 'adjust', options, operands),
});

/** A pet and the value to write. The pet is the typed text at first, and an id later. */
interface Assignment<Pet = bigint> {
  readonly petId: Pet;
  /** The new stock, or the delta. */
  readonly value: number;
}

const nouns = { set: 'stock', adjust: 'delta' };
const samples = { set: ['4=12', '4 12', '4=12 5=9'], adjust: ['4=+1', '4 +1', '4=+1 5=-2'] };

/** Runs `set` or `adjust`: one pet as `4 12`, or several as `4=12 5=9` in one run. */
async function writePets(invocation: Invocation, verb: Verb, options: WriteFlags, operands: readonly string[]) {
  const given = options.code === undefined ? operands : await withPetOf(invocation, verb, options.code, operands);
  const assignments = await withPetIds(invocation, parseAssignments(verb, given, invocation.context.argv));
  const [first, ...others] = assignments;
  const expected = quantityOf(options.expect, '--expect');
  if (expected !== undefined && others.length > 0) {
    throw new UsageError('--expect is for one pet. Leave it out, or put the expected stock of each pet into a file', {
      hint: 'petstock inventory apply --help',
    });
  }
  const { reason, ref } = options;
  const changeOf = ({ petId, value }: Assignment, index: number): Change => {
    const [quantity, delta] = verb === 'set' ? [value, undefined] : [undefined, value];
    return { line: index + 1, petId, quantity, delta, expected, reason, ref };
  };
  if (others.length > 0 || needsPlan(options)) {
    const { writeSeveral } = await import('./write-several.ts');
    return writeSeveral(invocation, verb, assignments.map(changeOf), options);
  }
  const { writeSingle } = await import('../../runs/single-write-command.ts');
  await writeSingle(
    invocation,
    { ...changeOf(first, 0), command: `inventory ${verb}` },
    {
      readsFirst: readsFirst(invocation, options),
      printsRun: given.some((operand) => operand.includes('=')),
      check: async (item) => {
        if (!isPetStatus(item.status)) await (await import('./stock.ts')).warnOfStatus(invocation, item);
      },
    },
  );
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
 * Returns the assignments that were typed, at least one.
 * @throws UsageError for operands that are not valid
 */
function parseAssignments(
  verb: Verb,
  operands: readonly string[],
  argv: readonly string[],
): readonly Assignment<string>[] {
  const addHint = '. To add to the stock, use petstock inventory adjust';
  const parse = (text: string) => (verb === 'set' ? parseQuantity(text, addHint) : parseDelta(text));
  const help = ['inventory', verb, '--help'];
  const hint = petstock`${help}`;
  const [one, , several] = samples[verb];
  const [first = '', second, third] = operands;
  if (!operands.some((operand) => operand.includes('='))) {
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
    if (third === undefined) return [{ petId: first, value: required(parse(second)) }];
    const words = operands.slice(0, -1);
    if (words.every((word) => mayBeName(word)) && parse(operands.at(-1) ?? '').ok) {
      throw new UsageError('Put quotes around a name of several words', {
        hint: petstock`${withWords(argv, words, [words.join(' ')]) ?? help}`,
      });
    }
    throw new UsageError(`To ${verb} several pets, write a pet and its ${nouns[verb]} as one word: ${several}`, {
      hint,
    });
  }
  return operands.map((operand) => {
    const at = operand.indexOf('=');
    if (at < 0) {
      throw new UsageError(
        `The ${nouns[verb]} of "${operand}" is missing. Write ${one} for each pet, or ${samples[verb][1]} for one`,
        { hint },
      );
    }
    return { petId: operand.slice(0, at), value: required(parse(operand.slice(at + 1))) };
  });
}

/**
 * Returns the assignments with pet ids.
 * @throws UsageError for a repeated pet, or a name that no pet or several pets have
 */
async function withPetIds(invocation: Invocation, typed: readonly Assignment<string>[]) {
  const seen = new Set<bigint>();
  const assignments: Assignment[] = [];
  for (const { petId: text, value } of typed) {
    const petId = await petIdOf(invocation, text);
    if (seen.has(petId)) throw new UsageError(`Pet ${petId} appears twice. Leave one out`);
    seen.add(petId);
    assignments.push({ petId, value });
  }
  return assignments as [Assignment, ...Assignment[]];
}
