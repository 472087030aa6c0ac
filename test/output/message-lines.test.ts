import { expect, test } from 'vitest';
import { messageLines } from '../../src/output/message-lines.ts';
import { visibleWidth } from '../../src/output/text-width.ts';
import fc from '../support/seeded-fast-check.ts';

test('what fits stays as it is', () => {
  expect(messageLines('  line 5: short', 40)).toEqual(['  line 5: short']);
});

test('breaks between words, and keeps the indent', () => {
  expect(messageLines('  line 5: there is no pet 777 in sandbox', 20)).toEqual([
    '  line 5: there is',
    '  no pet 777 in',
    '  sandbox',
  ]);
});

test('a command at the end stays whole, on its own line', () => {
  expect(messageLines('Take it back: petstock undo k3x9 --env sandbox', 20)).toEqual([
    'Take it back:',
    'petstock undo k3x9 --env sandbox',
  ]);
});

test('no word is lost, and no line is wider', () => {
  const words = fc.array(fc.stringMatching(/^[a-z:.]{1,12}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.integer({ min: 14, max: 60 }), (list, width) => {
      const lines = messageLines(list.join(' '), width);
      expect(lines.join(' ')).toBe(list.join(' '));
      for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
    }),
  );
});
