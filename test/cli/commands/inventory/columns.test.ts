import { describe, expect } from 'vitest';
import { changeFile, test } from '../../../support/shop.ts';

const supplier = 'SKU;Name;Stock on hand;id\n4;"Rex; the dog";12;77\n9007199254740993;Tweety;3;78\n';

const ndjson = '{"SKU":"4","Name":null,"Pieces":-2}\n{"sku":5,"pieces":3}\n';

test.for([
  ['csv', supplier, '--column petId=sku --column quantity=stock-on-hand', '4 12', '9007199254740993 3'],
  ['ndjson', ndjson, '--column petId=SKU --column delta=Pieces', '4 37', '5 4'],
] as const)(
  'reads %s columns named by --column, and ignores other columns with --ignore-columns',
  async ([format, text, columns, ...writes], { shop }) => {
    const file = changeFile(shop, text, `delivery.${format}`);
    const { sent } = await shop.exits(`inventory apply ${file} ${columns} --ignore-columns --yes`, 0);
    const patches = writes.map((write) => `PATCH /v1/inventory/${write.replace(/ (.*)/, ' {"quantity":$1}')}`);
    expect(sent.slice(1).sort()).toEqual(patches);
  },
);

test('reports an unknown column, and a second column for the same field', async ({ shop }) => {
  const command = `inventory apply ${changeFile(shop, supplier)} --column petId=SKU --column quantity=Name --yes`;
  const stderr = await shop.refused(command);
  expect(stderr).toContain('"Stock on hand" is not a column');
  expect(stderr).toContain('"SKU" is already the column for petId. Leave out "id"');
});

test('repeats the column options in hints, quoted for a shell', async ({ shop }) => {
  const file = changeFile(shop, supplier);
  const columns = ['--column', 'petId=SKU', '--column', 'quantity=Stock on hand'];
  const hint = `Hint: petstock inventory apply ${file} --column petId=SKU --column 'quantity=Stock on hand' --ignore-columns --max-zero 0`;
  const command = ['inventory', 'apply', file, ...columns, '--ignore-columns', '--max-zero', '0'];
  expect(await shop.refused(command)).toContain(`${hint} --env staging --dry-run\n`);
  const stopped = await shop.run([...command, '--dry-run'], { ctrlCAt: /staging/ });
  expect(stopped).toMatchObject({ code: 130, stderr: expect.stringContaining(`${hint} --dry-run --env staging\n`) });
});
test('refuses mistaken column options', async ({ shop }) => {
  for (const [words, said] of [
    ['FILE --column SKU', '"SKU"'],
    ['FILE --column colour=SKU', 'The fields are petId'],
    ['FILE --column status=SKU', 'The fields are petId'],
    ['FILE --column petId=', 'such as petId=SKU'],
    ['FILE --column petId=a --column id=b', '--column gives two columns for petId'],
    ['FILE --column petId=a --column quantity=a', 'for two fields'],
    [
      '--resume 20260101T000000Z-abcd --column petId=a -e sandbox',
      'apply --resume 20260101T000000Z-abcd --env sandbox',
    ],
  ] as const) {
    const file = changeFile(shop, 'petId,quantity\n4,12\n');
    expect(await shop.refused(`inventory apply ${words.replace('FILE', file)}`)).toContain(said);
  }
});

describe('apply of a file with other column names', () => {
  const stock = '`--column quantity=<name>`, or `--column delta=<name>` for a delivery';

  test('asks which column is meant instead of guessing', async ({ shop }) => {
    for (const [text, question] of [
      [
        'id;price;pieces\n4;9;12\n',
        `Which column is the stock: price or pieces? ${stock}. To ignore the others, add \`--ignore-columns\``,
      ],
      ['id,Stock\n4,12\n', `Which column is the stock: Stock? ${stock}\n`],
      [
        'SKU;Count;Name\n4;12;Rex\n',
        'Which column is the pet id, and which is the stock: SKU or Count? `--column petId=<name>` and `--column q',
      ],
      ['Artikel,Bestand\n4,12\n', 'Which column is the pet id, and which is the stock: Artikel or Bestand?'],
      ['petId,quantity,expcted\n4,12,39\n', 'Is "expcted" the stock that a row expects? `--column expected=expcted`\n'],
      ['[{"petId":4,"price":9,"pieces":12}]', 'Which field is the stock: price or pieces?'],
    ] as const) {
      const file = changeFile(shop, text, text.startsWith('[') ? 'stock.json' : 'stock.csv');
      const stderr = await shop.refused(`inventory apply ${file}`);
      expect(stderr).toContain(`Hint: ${question}`);
      expect(stderr).not.toMatch(/SKU=|=Stock|=price|=Count/);
    }
  });

  test('suggests --ignore-columns, with which the file is applied', async ({ shop }) => {
    for (const [quantity, text] of [
      [12, 'petId,quantity,Colour\n4,12,red\n'],
      [13, 'petId,quantity,stock\n4,13,39\n'],
      [14, '[{"Colour":"red","petId":4,"quantity":14}]'],
    ] as const) {
      const file = changeFile(shop, text, text.startsWith('[') ? 'stock.json' : 'stock.csv');
      const stderr = await shop.refused(`inventory apply ${file}`);
      expect(stderr).toContain(`Hint: petstock inventory apply ${file} --ignore-columns --env staging\n`);
      const { sent } = await shop.run(`inventory apply ${file} --ignore-columns --yes`);
      expect(sent.slice(1)).toEqual([`PATCH /v1/inventory/4 {"quantity":${quantity}}`]);
    }
  });

  test('refuses what may hold a secret or two preconditions, without a hint', async ({ shop }) => {
    for (const [text, secret] of [
      // The content of a file that may hold a secret is not repeated.
      ['psk_0123456789abcdefghijklmnop\n', 'psk_01'],
      ['KEY=abc,12\n4,12\n', 'KEY=ab'],
      ['Secret0123,x9\n', 'Secret'],
      // Two columns may both be the precondition, so no command can be suggested.
      ['petId,quantity,expcted,expectd\n4,12,39,39\n', 'Hint:'],
    ] as const) {
      const stderr = await shop.refused(`inventory apply ${changeFile(shop, text)}`);
      expect(stderr).not.toContain('Hint:');
      expect(stderr).not.toContain(secret);
    }
  });
});

test.for([
  ['petId,quantity,Colour\n4,x,red\n', '--ignore-columns', '"x" is not a quantity'],
  ['petId,delta\n4,9007199254740991\n404,1\n', '--skip-unknown', 'out of range'],
] as const)('does not suggest the failed command again: %j %s', async ([text, options, fault], { shop }) => {
  const { stderr } = await shop.exits(`inventory apply ${changeFile(shop, text)} ${options} --yes`, 2, fault);
  expect(stderr).not.toContain('Hint:');
});
