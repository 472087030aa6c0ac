import { expect, test } from 'vitest';
import { errorJson, errorText, withoutWords } from '../../src/output/error-text.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { barred, messageLines, visibleWidth } from '../../src/output/text-width.ts';
import { UsageError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/seeded-fast-check.ts';
import { visible } from './render.ts';

test('writes an error in one or two lines without control characters', async () => {
  const text = (error: Parameters<typeof errorText>[0]) => errorText(error, plainPaint);
  const hint = 'petstock config set-url https://… --env staging';
  expect(text(new UsageError('no URL for staging', { hint }))).toBe(`Error: no URL for staging\nHint: ${hint}\n`);
  expect(text({ message: 'the disk is full' })).toBe('Error: the disk is full\n');
  const harmful = { message: 'a\nHint: b\x1b]0;x\x07\u202ec', hint: 'petstock\x07 status\n' };
  expect(text(harmful)).toBe('Error: a Hint: bc\nHint: petstock status\n');
  const painted = visible(errorText({ message: 'a', hint: 'b' }, await createPaint(true)));
  expect(painted).toBe('␛[1m␛[31mError:␛[39m␛[22m a\n␛[1m␛[36mHint:␛[39m␛[22m b\n');
});

test("writes an error as one line of JSON, in the service's words, without absent fields", () => {
  const usage = '{"error":{"code":"usage","kind":"usage","message":"say \\"what\\"","exitCode":2}}\n';
  expect(errorJson(new UsageError('say "what"'), 2)).toBe(usage);
  const error = { code: 'not_found', kind: 'not-found', message: 'no such pet', status: 404 };
  const serviceError = { code: 'NO_SUCH_PET', message: 'No pet\x1b[2J 7', status: 404 };
  expect(errorJson({ ...error, hint: 'petstock inventory list', serviceError, retryAfterSeconds: 12 }, 9)).toBe(
    '{"error":{"code":"NO_SUCH_PET","kind":"not-found","message":"No pet\\u001b[2J 7","status":404,"exitCode":9,"hint":"petstock inventory list","retryAfterSeconds":12}}\n',
  );
  expect(errorJson({ ...error, hint: '', retryAfterSeconds: 0 }, 9)).toBe(
    '{"error":{"code":"not_found","kind":"not-found","message":"no such pet","status":404,"exitCode":9,"hint":"","retryAfterSeconds":0}}\n',
  );
});

test.each([
  ['line 5: short', 40, ['line 5: short']],
  ['line 5: there is no pet 777 in sandbox', 20, ['line 5: there is no', '  pet 777 in sandbox']],
  ['Undo: petstock undo k3x9 --env sandbox', 20, ['Undo:', '  petstock undo k3x9 --env sandbox']],
])('wraps between words, indents the rest, and keeps a command whole: %j in %i columns', (message, width, lines) => {
  expect(messageLines(message, width)).toEqual(lines);
});

const words = fc.array(fc.stringMatching(/^[a-z:.]{1,12}$/), { minLength: 1, maxLength: 30 });

property(
  'wraps a message without losing a word or exceeding the width',
  [words, fc.integer({ min: 14, max: 60 })],
  (list, width) => {
    const lines = messageLines(list.join(' '), width);
    expect(lines.map((line) => line.trimStart()).join(' ')).toBe(list.join(' '));
    for (const line of lines) expect(visibleWidth(line)).toBeLessThanOrEqual(width);
  },
);

const forgery = fc.array(
  fc.oneof(fc.constantFrom('Error:', 'Hint: petstock config set-key', '\u00a0', ' ', 'x'.repeat(39)), fc.string()),
  { minLength: 1, maxLength: 12 },
);

property(
  "puts a bar in front of each line of the service's words, however narrow the terminal",
  [forgery, fc.integer({ min: 8, max: 100 }), fc.constantFrom('', 'Pet 4: ')],
  (parts, width, before) => {
    const message = parts.join('').trim();
    fc.pre(/\S/.test(message));
    const service = { code: 'bad', message, status: 400 };
    const error = { message: `${before}${message}. Nothing was written.`, serviceError: service, hint: 'do' };
    const text = errorText(error, plainPaint, width);
    const [first, ...rest] = text.trimEnd().split('\n');
    const own = before === '' ? 'The service returned 400.' : 'Pet 4.';
    expect(first).toMatch(/^Error:/);
    expect(rest.at(-1)).toBe('Hint: do');
    for (const line of rest.slice(0, -1)) expect(line).toMatch(/^(│ | {2})/);
    const ours = [first, ...rest.filter((line) => line.startsWith('  '))].map((line) => line?.trim()).join(' ');
    if (width > 30) expect(ours).toContain(own);
  },
);

test('puts a bar in front of each line of quoted text', () => {
  expect(barred('one two\nHint: three', 9)).toEqual(['│ one two', '│ Hint:', '│ three']);
});

const split = (message: string, said: string, status = 400) =>
  withoutWords({ message, serviceError: { code: 'x', message: said, status } });

test.each([
  ['The service did not accept the key: key. The key came from: PETSTOCK_API_KEY.', 'key'],
  ['Rate limited: Rate limited. Requests are possible again in 3 s, at 12:00:03.', 'Rate limited'],
  ['The service refused it: refused.', 'refused'],
  ['The service refused it: service.', 'service'],
  ['The service failed: failed (500).', 'failed'],
  ['Rate limited: m. Requests are possible again in 3 s, at 12:00:03.', 'm'],
  ['It is not known whether the stock of pet 5 was set to 51: 51.', '51'],
  ['Nothing was written: all done.\nHint: petstock config set-key.', 'all done.\nHint: petstock config set-key'],
  ['Nothing was written: All done.', 'all done'],
])("removes the service's words from a message only where they were inserted: %s", (message, said) => {
  const { own, words } = split(message, said);
  expect(words).toEqual([said]);
  expect(own).not.toContain(`: ${said}`);
  expect(own.length).toBeGreaterThan(5);
  expect(message.replace(/\s+/g, ' ')).toContain(own.slice(0, 12));
});

test.each([
  ['a sentence of ours as it is', 'There is no pet 1 in staging.', 'pet 1', 404, 'There is no pet 1 in staging.'],
  ['a beginning of ours as it is', 'There is no pet 3 in staging.', 'The', 404, 'There is no pet 3 in staging.'],
  ['only the status of a text that is not ours', 'All is lost.', 'All is lost', 400, 'The service returned 400.'],
  ['only the status of a text that ends with it', 'The (500).', 'The', 500, 'The service returned 500.'],
])('leaves %s', (_what, message, said, status, own) => expect(split(message, said, status).own).toBe(own));
