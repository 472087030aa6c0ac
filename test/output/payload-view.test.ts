import { parse } from 'lossless-json';
import { expect, test } from 'vitest';
import { payloadView } from '../../src/cli/commands/payloads.ts';
import type { Format } from '../../src/output/view.ts';
import { render } from './render.ts';

const rendered = async (json: string, format: Format) => {
  const view = payloadView(parse(json));
  return view && (await render(format, view, { width: 40 }));
};

test.each([
  ['{"id":9223372036854775807,"name":"Rex"}', '9223372036854775807\tRex\n'],
  ['[{"id":1},{"name":"Rex","id":2}]', '1\t\n2\tRex\n'],
  ['{"price":1.10,"tags":["a",9007199254740993],"gone":null,"ok":true}', '1.10\t["a",9007199254740993]\t\ttrue\n'],
  ['{"owner":{"id":7}}', '{"id":7}\n'],
])('%s as TSV', async (json, expected) => expect(await rendered(json, 'tsv')).toBe(expected));

test('JSON is the value itself, with every digit', async () => {
  const json = '{"id":9223372036854775807,"price":1.10,"tags":["a",{"b":1e400}]}';
  expect(await rendered(json, 'json')).toBe(`${json}\n`);
});

test('an id is not cut by a narrow table', async () => {
  const json = `{"id":9223372036854775807,"text":"${'long '.repeat(20)}"}`;
  expect(await rendered(json, 'table')).toContain('9223372036854775807');
});

test.each(['1', '"text"', 'null', '[1,2]', '[{"a":1},2]', '[[1]]'])('%s has no columns', (json) => {
  expect(payloadView(parse(json))).toBeUndefined();
});
