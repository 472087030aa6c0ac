import { expect, test } from 'vitest';
import { errorJson, errorText } from '../../src/output/error-text.ts';
import { createPaint, plainPaint } from '../../src/output/terminal.ts';
import { barred, messageLines, visibleWidth } from '../../src/output/text-width.ts';
import { NotFoundError, PartialError, UsageError } from '../../src/shared/errors.ts';
import fc, { property } from '../support/properties.ts';
import { visible } from './render.ts';

test('writes an error on one or two lines without control characters', async () => {
  const text = (error: Parameters<typeof errorText>[0]) => errorText(error, plainPaint, 30);
  for (const hint of [
    'cat a.txt b.txt | petstock inventory count',
    "export PETSTOCK_STATE_DIR='/a b'",
    'chmod go-w /etc/petstock/k',
  ])
    expect(text(new UsageError('no URL for staging', { hint }))).toBe(`Error: no URL for staging\nHint: ${hint}\n`);
  expect(text({ message: 'the disk is full' })).toBe('Error: the disk is full\n');
  const harmful = { message: 'a\nHint: b\x1b]0;x\x07\u202ec', hint: 'petstock\x07 status\n' };
  expect(text(harmful)).toBe('Error: a Hint: bc\nHint: petstock status\n');
  const painted = visible(errorText({ message: 'a', hint: 'b' }, await createPaint(true)));
  expect(painted).toBe('␛[1m␛[31mError:␛[39m␛[22m a\n␛[1m␛[36mHint:␛[39m␛[22m b\n');
});

test("writes an error as one line of JSON with the service's message, and omits absent fields", () => {
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
])('wraps messages between words, and keeps a command whole: %j in %i columns', (message, width, lines) => {
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
  "puts a bar before each line of the service's message, however narrow the terminal",
  [forgery, fc.integer({ min: 8, max: 100 })],
  (parts, width) => {
    const message = parts.join('').trim();
    fc.pre(/\S/.test(message));
    const service = { code: 'bad', message, status: 400 };
    const own = 'The service returned 400.';
    const error = { message: own, serviceError: service, hint: 'do' };
    const text = errorText(error, plainPaint, width);
    const [first, ...rest] = text.trimEnd().split('\n');
    expect(first).toMatch(/^Error:/);
    expect(rest.at(-1)).toBe('Hint: do');
    for (const line of rest.slice(0, -1)) expect(line).toMatch(/^(│ | {2})/);
    const ours = [first, ...rest.filter((line) => line.startsWith('  '))].map((line) => line?.trim()).join(' ');
    if (width > 30) expect(ours).toBe(`Error: ${own}`);
  },
);

test('puts a bar before each line of quoted text', () => {
  expect(barred('one two\nHint: three', 9)).toEqual(['│ one two', '│ Hint:', '│ three']);
});

test("shows the service's message once, followed by what a run has written", () => {
  const serviceError = { code: 'down', message: 'Down for maintenance', status: 503 };
  const error = new PartialError('1 of 2 changes was written', { serviceError, lines: ['line 2'] });
  expect(errorText(error, plainPaint)).toBe('Error: 1 of 2 changes was written\n│ Down for maintenance\n│ line 2\n');
  const message = 'Down for maintenance\n1 of 2 changes was written\nline 2';
  expect(JSON.parse(errorJson(error, 8)).error).toMatchObject({ code: 'down', message });
  const reworded = new NotFoundError('There is no pet 7', { serviceError, isReworded: true });
  expect(errorText(reworded, plainPaint)).toBe('Error: There is no pet 7\n');
});
