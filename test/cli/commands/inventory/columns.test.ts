import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openShop, type Shop, sent } from '../../../support/shop.ts';

async function shopWith(name: string, text: string): Promise<Shop & { readonly file: string }> {
  const shop = await openShop();
  const file = join(shop.folders.config, '..', name);
  writeFileSync(file, text);
  return { ...shop, file };
}

const supplier = 'SKU;Name;Stock on hand;id\n4;"Rex; the dog";12;77\n9007199254740993;Tweety;3;78\n';

test('--column names columns, --ignore-columns passes over the others', async () => {
  const shop = await shopWith('delivery.csv', supplier);
  const columns = ['--column', 'petId=sku', '--column', 'quantity=stock-on-hand', '--ignore-columns'];
  const result = await shop.run(['inventory', 'apply', shop.file, ...columns, '--yes']);
  expect(result.code).toBe(0);
  expect(sent(result).slice(1).sort()).toEqual([
    'PATCH /v1/inventory/4 {"quantity":12}',
    'PATCH /v1/inventory/9007199254740993 {"quantity":3}',
  ]);
});

test('the same of JSON', async () => {
  const shop = await shopWith('delivery.ndjson', '{"SKU":"4","Name":null,"Pieces":-2}\n{"sku":5,"pieces":3}\n');
  const columns = '--column petId=SKU --column delta=Pieces --ignore-columns';
  const result = await shop.run(`inventory apply ${shop.file} ${columns} --yes`);
  expect(sent(result).slice(1).sort()).toEqual([
    'PATCH /v1/inventory/4 {"quantity":37}',
    'PATCH /v1/inventory/5 {"quantity":4}',
  ]);
});

test('without --ignore-columns each unknown column is a fault, and so is the name that was taken from a field', async () => {
  const shop = await shopWith('delivery.csv', supplier);
  const stderr = await shop.refused(`inventory apply ${shop.file} --column petId=SKU --column quantity=Name --yes`);
  expect(stderr).toContain('"Stock on hand" is not a column');
  expect(stderr).toContain('petId is read from "SKU", so there can be no column "id" beside it');
});

test('the hints have the options, so that they run as they stand', async () => {
  const shop = await shopWith('delivery.csv', supplier);
  const columns = ['--column', 'petId=SKU', '--column', 'quantity=Stock on hand', '--ignore-columns'];
  const { stderr } = await shop.run(['inventory', 'apply', shop.file, ...columns]);
  expect(stderr).toContain(
    `Hint: petstock inventory apply ${shop.file} --column petId=SKU --column 'quantity=Stock on hand' --ignore-columns --env staging --dry-run\n`,
  );
});

test.each([
  ['--column SKU', '"SKU"'],
  ['--column colour=SKU', 'The fields are petId'],
  ['--column status=SKU', 'The fields are petId'],
  ['--column petId=', 'such as petId=SKU'],
  ['--column petId=a --column id=b', '--column names petId twice'],
  ['--column petId=a --column quantity=a', 'for two fields'],
  ['--resume 20260101T000000Z-abcd --column petId=a', '--resume takes the rows from the history'],
])('%s is exit 2, with nothing sent', async (options, said) => {
  const shop = await shopWith('stock.csv', 'petId,quantity\n4,12\n');
  const file = options.includes('--resume') ? '' : `${shop.file} `;
  expect(await shop.refused(`inventory apply ${file}${options}`)).toContain(said);
});

describe('the hint of a file with other names never guesses a column', () => {
  const stock = '`--column quantity=<name>`, or `--column delta=<name>` for a delivery';
  test.each([
    [
      'id;price;pieces\n4;9;12\n',
      `Which column is the stock: price or pieces? ${stock}. \`--ignore-columns\` lets the`,
    ],
    ['id,Stock\n4,12\n', `Which column is the stock: Stock? ${stock}\n`],
    [
      'SKU;Count;Name\n4;12;Rex\n',
      'Which column is the pet id: SKU, Count or Name? `--column petId=<name>`. Which column',
    ],
    ['Artikel,Bestand\n4,12\n', 'Which column is the pet id: Artikel or Bestand?'],
    ['petId,quantity,expcted\n4,12,39\n', 'Is "expcted" the stock that a row expects? `--column expected=expcted`\n'],
  ])('%j', async (text, question) => {
    const shop = await shopWith('stock.csv', text);
    const { code, requests, stderr } = await shop.run(['inventory', 'apply', shop.file]);
    expect({ code, requests }).toEqual({ code: 2, requests: [] });
    expect(stderr).toContain(`Hint: ${question}`);
    expect(stderr).not.toMatch(/SKU=|=Stock|=price|=Count/);
  });

  test.each(['petId,quantity,Colour\n4,12,red\n', 'petId,quantity,stock\n4,12,39\n'])(
    '%j can be read as it is',
    async (text) => {
      const shop = await shopWith('stock.csv', text);
      const { stderr } = await shop.run(['inventory', 'apply', shop.file]);
      expect(stderr).toContain(`Hint: petstock inventory apply ${shop.file} --ignore-columns --env staging\n`);
      const again = await shop.run(['inventory', 'apply', shop.file, '--ignore-columns', '--yes']);
      expect(sent(again).slice(1)).toEqual(['PATCH /v1/inventory/4 {"quantity":12}']);
    },
  );

  test.each(['psk_0123456789abcdefghijklmnop\n', 'KEY=abc,12\n4,12\n', 'Secret0123,x9\n'])(
    'nothing of an unknown file is repeated: %j',
    async (text) => {
      const shop = await shopWith('stock.csv', text);
      const { stderr } = await shop.run(['inventory', 'apply', shop.file]);
      expect(stderr).not.toContain('Hint:');
      expect(stderr).not.toContain(text.slice(0, 6));
    },
  );

  test('the same of JSON', async () => {
    const shop = await shopWith('stock.json', '[{"Colour":"red","petId":4,"quantity":12}]');
    const { stderr } = await shop.run(['inventory', 'apply', shop.file]);
    expect(stderr).toContain(`Hint: petstock inventory apply ${shop.file} --ignore-columns --env staging\n`);
    const asked = await shopWith('stock.json', '[{"petId":4,"price":9,"pieces":12}]');
    expect((await asked.run(['inventory', 'apply', asked.file])).stderr).toContain(
      'Hint: Which field is the stock: price or pieces?',
    );
  });

  test('two names that may both be a precondition: there is no such command', async () => {
    const shop = await shopWith('stock.csv', 'petId,quantity,expcted,expectd\n4,12,39,39\n');
    expect((await shop.run(['inventory', 'apply', shop.file])).stderr).not.toContain('Hint:');
  });
});

test.each([
  ['petId,quantity,Colour\n4,x,red\n', '--ignore-columns', '"x" is not a quantity'],
  ['petId,delta\n4,9007199254740991\n404,1\n', '--skip-unknown', 'is out of range'],
])('no hint repeats the command that has just failed: %j %s', async (text, options, fault) => {
  const shop = await shopWith('bad.csv', text);
  const { code, stderr } = await shop.run(`inventory apply ${shop.file} ${options} --yes`);
  expect(code).toBe(2);
  expect(stderr).toContain(fault);
  expect(stderr).not.toContain('Hint:');
});
