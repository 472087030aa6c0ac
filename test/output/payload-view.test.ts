import { parse } from 'lossless-json';
import { expect, test } from 'vitest';
import { payloadView } from '../../src/cli/commands/payloads.ts';
import { loadRenderer } from '../../src/cli/invocation/results.ts';
import { plainPaint } from '../../src/output/terminal.ts';
import type { Format } from '../../src/output/view.ts';

async function render(json: string, format: Format): Promise<string | undefined> {
  const view = payloadView(parse(json));
  if (view === undefined) return undefined;
  let text = '';
  for await (const piece of (await loadRenderer(format))(view, { header: undefined, width: 40, paint: plainPaint }))
    text += piece;
  return text;
}

test.each([
  ['{"id":9223372036854775807,"name":"Rex"}', '9223372036854775807\tRex\n'],
  ['[{"id":1},{"name":"Rex","id":2}]', '1\t\n2\tRex\n'],
  ['{"price":1.10,"tags":["a",9007199254740993],"gone":null,"ok":true}', '1.10\t["a",9007199254740993]\t\ttrue\n'],
  ['{"owner":{"id":7}}', '{"id":7}\n'],
])('%s as TSV', async (json, expected) => {
  expect(await render(json, 'tsv')).toBe(expected);
});

test('JSON is the value itself, with every digit', async () => {
  const json = '{"id":9223372036854775807,"price":1.10,"tags":["a",{"b":1e400}]}';
  expect(await render(json, 'json')).toBe(`${json}\n`);
});

test('an id is not cut by a narrow table', async () => {
  const json = `{"id":9223372036854775807,"text":"${'long '.repeat(20)}"}`;
  expect(await render(json, 'table')).toContain('9223372036854775807');
});

test.each(['1', '"text"', 'null', '[1,2]', '[{"a":1},2]', '[[1]]'])('%s has no columns', (json) => {
  expect(payloadView(parse(json))).toBeUndefined();
});
