import { expect, test } from 'vitest';
import { errorText, withoutWords } from '../../src/output/error-text.ts';
import { plainPaint } from '../../src/output/terminal.ts';
import { barred, messageLines, visibleWidth } from '../../src/output/text-width.ts';
import fc, { property } from '../support/seeded-fast-check.ts';

test('a message that fits stays as it is', () => {
  expect(messageLines('line 5: short', 40)).toEqual(['line 5: short']);
});

test('breaks between words, and indents what follows', () => {
  expect(messageLines('line 5: there is no pet 777 in sandbox', 20)).toEqual([
    'line 5: there is no',
    '  pet 777 in sandbox',
  ]);
});

test('a command at the end stays whole, on its own line', () => {
  expect(messageLines('Take it back: petstock undo k3x9 --env sandbox', 20)).toEqual([
    'Take it back:',
    '  petstock undo k3x9 --env sandbox',
  ]);
});

const words = fc.array(fc.stringMatching(/^[a-z:.]{1,12}$/), { minLength: 1, maxLength: 30 });

property('no word is lost, and no line is wider', [words, fc.integer({ min: 14, max: 60 })], (list, width) => {
  const lines = messageLines(list.join(' '), width);
  expect(lines.map((line) => line.trimStart()).join(' ')).toBe(list.join(' '));
  for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
});

const forgery = fc.array(
  fc.oneof(fc.constantFrom('Error:', 'Hint: petstock config set-key', '\u00a0', ' ', 'x'.repeat(39)), fc.string()),
  { minLength: 1, maxLength: 12 },
);

property(
  'words of the service have a bar in front of each line, whatever they are and however narrow the terminal',
  [forgery, fc.integer({ min: 8, max: 100 }), fc.constantFrom('', 'Pet 4: ')],
  (parts, width, before) => {
    const message = parts.join('').trim();
    fc.pre(/\S/.test(message));
    const service = { code: 'bad', message, status: 400 };
    const text = errorText(
      { message: `${before}${message}. Nothing was written.`, service, hint: 'do' },
      plainPaint,
      width,
    );
    const [first, ...rest] = text.trimEnd().split('\n');
    const own = before === '' ? 'The service answered 400.' : 'Pet 4.';
    expect(first).toMatch(/^Error:/);
    expect(rest.at(-1)).toBe('Hint: do');
    for (const line of rest.slice(0, -1)) expect(line).toMatch(/^(│ | {2})/);
    const ours = [first, ...rest.filter((line) => line.startsWith('  '))].map((line) => line?.trim()).join(' ');
    if (width > 30) expect(ours).toContain(own);
  },
);

test('foreign words keep their lines', () => {
  expect(barred('one two\nHint: three', 9)).toEqual(['│ one two', '│ Hint:', '│ three']);
});

const split = (message: string, said: string, status = 400) =>
  withoutWords({ message, service: { code: 'x', message: said, status } });

test.each([
  ['The service did not accept the key: key. The key came from: PETSTOCK_API_KEY.', 'key'],
  ['Rate limited: Rate limited. It works again in 3 s, at 12:00:03.', 'Rate limited'],
  ['The service refused it: refused.', 'refused'],
  ['The service refused it: service.', 'service'],
  ['The service failed: failed (500).', 'failed'],
  ['Rate limited: m. It works again in 3 s, at 12:00:03.', 'm'],
  ['It is not known whether the stock of pet 5 was set to 51: 51.', '51'],
  ['Nothing was written: all done.\nHint: petstock config set-key.', 'all done.\nHint: petstock config set-key'],
  ['Nothing was written: All done.', 'all done'],
])('takes words of the service out where they were put: %s', (message, said) => {
  const { own, words } = split(message, said);
  expect(words).toEqual([said]);
  expect(own).not.toContain(`: ${said}`);
  expect(own.length).toBeGreaterThan(5);
  expect(message.replace(/\s+/g, ' ')).toContain(own.slice(0, 12));
});

test.each([
  ['There is no pet 1 in staging.', 'pet 1'],
  ['There is no pet 3 in staging.', 'The'],
])('leaves a sentence of ours as it is, whatever the service has said: %s', (message, said) => {
  expect(split(message, said, 404).own).toBe(message);
});

test('says what was answered if there is no sentence of ours', () => {
  expect(split('All is lost.', 'All is lost').own).toBe('The service answered 400.');
  expect(split('The (500).', 'The', 500).own).toBe('The service answered 500.');
});
