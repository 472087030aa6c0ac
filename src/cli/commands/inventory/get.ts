import { RoundedIds } from '../../../change-files/rounded-ids.ts';
import { inventoryItemView, inventoryListView } from '../../../output/inventory-view.ts';
import { UsageError } from '../../../shared/errors.ts';
import type { Invocation } from '../../invocation/invocation.ts';
import { anyText, define, fieldsOption, repeated } from '../command.ts';
import { petIdsOf } from '../option-values.ts';
import { findItems, requireFound } from './find-pets.ts';

export const getCommand = define({
  summary: 'show the stock level of one or more pets',
  operands: { '[petId...]': 'the pets, by id or name (names come from the setting codes)' },
  description:
    'Shows the stock level of one pet, or of several in the given order. Sends one request. If a pet is not ' +
    'in the list, the command shows the others and exits with code 9. JSON is an object for one pet, and an array for several.',
  options: [
    ['--code <bar code>', 'a pet by its bar code (bar codes come from the setting codes)', repeated(anyText)],
    fieldsOption,
  ],
  examples: [
    ['petstock inventory get 4'],
    ['petstock inventory get 4 5 8'],
    ['petstock inventory get rabbit'],
    ['petstock inventory get 4 --json'],
  ],
  run: async function* (invocation, { code = [] }, ...texts) {
    const { petIds, errors } = await petIdsOf(invocation, texts, { coded: await petIdsOfCodes(invocation, code) });
    if (petIds.length === 0) {
      throw new UsageError('The petId is missing. Give a pet by its id or name, or by its bar code with --code', {
        hint: 'petstock inventory get --help',
      });
    }
    const options = await invocation.remarks();
    await invocation.results.requireFields(inventoryListView([], options));
    const { client } = await invocation.connections.connect({ isShown: true });
    const asked = new Set(petIds);
    const rounded = new RoundedIds(asked);
    const items = await findItems(invocation, client, asked, rounded);
    const found = petIds.flatMap((petId) => items.get(petId) ?? []);
    const [first] = found;
    if (texts.length + code.length > 1) {
      yield { ...inventoryListView([found], options), noteWhenEmpty: false };
    } else if (first !== undefined) {
      yield inventoryItemView(first, options);
    }
    const missing = [...asked].filter((petId) => !items.has(petId));
    requireFound(invocation, missing, errors, rounded);
  },
});

async function petIdsOfCodes(invocation: Invocation, codes: readonly string[]): Promise<bigint[]> {
  if (codes.length === 0) return [];
  const { petIdOfBarCode } = await import('../../shop-codes.ts');
  return Promise.all(codes.map((code) => petIdOfBarCode(invocation, code)));
}
