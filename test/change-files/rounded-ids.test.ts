import { expect, test } from 'vitest';
import { RoundedIds, roundedForms } from '../../src/change-files/rounded-ids.ts';
import fc, { property } from '../support/properties.ts';

test.each([
  ['by jq', 675127116845989888n, 675127116845989900n],
  ['by JavaScript', 9007199254740993n, 9007199254740992n],
  ['by a double printed exactly', 9223372036854775807n, 9223372036854775808n],
  ['by C with 17 digits', 1234567890123456789n, 1234567890123456800n],
  ['by a spreadsheet that cuts off', 9007199254740993n, 9007199254740990n],
  ['by a spreadsheet that cuts off', 1234567890123456789n, 1234567890123450000n],
  ['by a spreadsheet that rounds', 1234567890123456789n, 1234567890123460000n],
  ['below zero', -9007199254740993n, -9007199254740992n],
  ['below zero by a spreadsheet that rounds', -1234567890123456789n, -1234567890123460000n],
])('recognizes an id that was rounded %s', (_how, exact, rounded) => {
  expect(roundedForms(exact)).toContain(rounded);
  const ids = new RoundedIds([rounded]);
  for (const petId of [4n, exact, rounded]) ids.see({ petId });
  expect(ids.exactOf(rounded)).toEqual([exact]);
});

property(
  'rounds no id of 15 digits, and every rounded id to itself',
  [fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  (id) => {
    if (`${id}`.replace('-', '').length <= 15) expect(roundedForms(id).size).toBe(0);
    for (const form of roundedForms(id)) expect(roundedForms(form)).toContain(form);
  },
);
