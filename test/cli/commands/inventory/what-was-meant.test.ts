import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { changeFile, confirming, openShop, type Shop, stockOf, test } from '../../../support/shop.ts';

async function named(names: Readonly<Record<string, string>>, options: Parameters<typeof openShop>[0] = {}) {
  const shop = await openShop(options);
  const rows = Object.entries(names).map(([petId, name]) => `,${petId},${name}\n`);
  await shop.run(['config', 'set', 'codes', changeFile(shop, `code,petId,name\n${rows.join('')}`, 'codes.csv')]);
  return shop;
}

const writes = ({ sent }: { readonly sent: readonly string[] }) => sent.filter((each) => each.startsWith('PATCH'));

describe('a row with the name of another pet', () => {
  const rows = 'petId,name,quantity\n4,Rex,11\n5,Puppy,7\n';
  const names = { 4: 'Rex', 5: 'Gecko', 8: 'puppy' };

  test('is a fault with --yes, and nothing is written', async () => {
    const shop = await named(names);
    const file = changeFile(shop, rows);
    const said = 'line 3: pet 5 is "Gecko", but the name here is "Puppy", which is pet 8';
    for (const words of ['--yes', '--yes --json', '--dry-run']) {
      const refused = await shop.exits(`inventory apply ${file} ${words}`, 2, words.includes('json') ? [] : said);
      expect(writes(refused)).toEqual([]);
    }
    const { stderr } = await shop.run(`inventory apply ${file} --yes`);
    expect(stderr).toContain(`Hint: petstock inventory apply ${file} --yes --env staging --ignore-names`);
    const applied = await shop.exits(`inventory apply ${file} --yes -q --ignore-names`, 0);
    expect(applied.stderr).toBe('');
    expect(writes(applied)).toHaveLength(2);
    expect(await shop.refused('inventory apply --resume latest --ignore-names')).toContain('--resume takes the rows');
  });

  test('is shown with both names at a question', async () => {
    const shop = await named(names);
    const { asked, prompts } = confirming(false);
    const { stderr } = await shop.exits(`inventory apply ${changeFile(shop, rows)}`, 2, [], { terminal: 200, prompts });
    expect(stderr).toContain('pet 5 is "Gecko", but the name here is "Puppy", which is pet 8');
    expect(asked[0]).toContain('with the name of another pet in 1 row');
  });

  test('is accepted if the pet has that name, too, and warned of if no pet has it', async () => {
    const shop = await named({ 4: 'Goldfish', 5: 'Goldfish' });
    const { stderr } = await shop.exits('inventory apply - --yes -q', 0, [], {
      stdin: 'petId,name,quantity\n4,GOLDFISH ,1\n5,Goldfish,2\n8,Leo,1\n',
    });
    expect(stderr).toMatch(/^Warning: The name on line 4 differs.*\n$/);
  });

  test('is found on each line of a pet whose deltas are added up', async () => {
    const shop = await named(names);
    const stdin = 'petId,name,delta\n4,Rex,1\n4,Gecko,1\n';
    expect((await shop.exits('inventory apply - --yes', 2, 'line 3: pet 4', { stdin })).sent).toHaveLength(1);
  });
});

describe('an id that a program rounded', () => {
  /** Opens a shop with two pets whose ids JavaScript makes equal, and one of 18 digits. */
  async function bigShop(ids: readonly string[]): Promise<Shop> {
    const shop = await openShop({ pets: 3 });
    const file = changeFile(
      shop,
      `petId,quantity,status\n${ids.map((id) => `${id},5,available\n`).join('')}`,
      'big.csv',
    );
    await shop.exits(`sandbox import ${file} --yes`, 0);
    return shop;
  }

  test.for([
    ['by jq', '675127116845989888', '675127116845989900'],
    ['by a spreadsheet', '1234567890123456789', '1234567890123460000'],
  ])('is refused as probably rounded %s, with the pet that rounds to it', async ([, exact, rounded]) => {
    const shop = await bigShop(['4', `${exact}`]);
    for (const [text, name, hint] of [
      [`petId,quantity\n${rounded},3\n`, 'a.csv', 'export .*--spreadsheet'],
      [`[{"petId":${rounded},"quantity":3}]`, 'a.json', 'export .*--string-ids'],
    ] as const) {
      const command = `inventory apply ${changeFile(shop, text, name)} --yes -e sandbox`;
      const { stderr, requests } = await shop.exits(
        command,
        2,
        `no pet ${rounded} in sandbox: the id was probably rounded`,
      );
      expect(stderr).toContain(`pet ${exact} rounds to it`);
      expect(stderr).toMatch(new RegExp(`Hint: petstock inventory ${hint}`));
      expect(stderr).not.toContain('--skip-unknown');
      expect(requests).toHaveLength(1);
    }
    const skipped = `inventory apply ${join(shop.folders.state, '../a.csv')} --yes -e sandbox --skip-unknown`;
    await shop.exits(
      skipped,
      0,
      `pet ${rounded} is left out, but the id was probably rounded, and pet ${exact} rounds to it`,
    );
  });

  test('is refused as probably rounded also where no pet rounds to it', async ({ shop }) => {
    for (const id of ['675127116845989900', '9007199254740990']) {
      const stdin = `petId,quantity\n4,1\n${id},3\n`;
      const { stderr } = await shop.exits('inventory apply - --yes', 2, 'the id was probably rounded', { stdin });
      expect(stderr).not.toContain('--skip-unknown');
    }
  });

  test('is named beyond the largest id, too', async ({ shop }) => {
    const id = '9223372036854776000';
    for (const stdin of [`petId,quantity\n${id},1\n`, `[{"petId":${id},"quantity":1}]`]) {
      expect(await shop.refused('inventory apply - --yes', { stdin })).toContain('rounded');
    }
    for (const words of [`get ${id}`, `set ${id} 4`])
      expect(await shop.refused(`inventory ${words}`)).toContain('rounded');
  });

  test('is named by get, set and adjust', async () => {
    const shop = await bigShop(['4', '9007199254740993']);
    const run = (command: string, said: string) => shop.exits(`inventory ${command} -e sandbox`, 9, new RegExp(said));
    await run('get 9007199254740990', 'in sandbox: the id was probably rounded, and pet 9007199254740993 rounds to it');
    await run(
      'get 4 9007199254740990 675127116845989900 77',
      [
        'There are no pets 9007199254740990, 675127116845989900 and 77 in sandbox',
        '│ 9007199254740990: the id was probably rounded, and pet 9007199254740993 rounds to it',
        '│ 675127116845989900: the id was probably rounded',
      ].join('[^]*'),
    );
    for (const command of ['set 9007199254740990 5', 'adjust 9007199254740990 5']) {
      await run(command, 'no pet 9007199254740990 in sandbox: the id was probably rounded');
    }
  });

  test('is found by the name of the row', async () => {
    const shop = await named({ '9007199254740992': 'Axolotl', '9007199254740993': 'Clownfish' }, { pets: 24 });
    const stdin = '[{"petId":9007199254740992,"quantity":6,"name":"Clownfish"}]';
    const { stderr } = await shop.exits('inventory apply - --yes', 2, [], { stdin });
    expect(stderr).toContain('which is pet 9007199254740993: the id was probably rounded');
    expect(stderr).not.toContain('--ignore-names');
  });

  test('is warned of if both pets exist, but not if the file has both', async () => {
    const shop = await bigShop(['9007199254740992', '9007199254740993']);
    const run = (rows: string) =>
      shop.exits('inventory apply - --yes -q -e sandbox', 0, [], { stdin: `petId,quantity\n${rows}` });
    expect((await run('9007199254740992,3\n')).stderr).toMatch(
      /^Warning: Line 2: pet 9007199254740992 .* pet 9007199254740993, .*\n$/,
    );
    expect((await run('9007199254740992,4\n9007199254740993,4\n')).stderr).toBe('');
    expect((await run('9007199254740993,6\n')).stderr).toBe('');
    await shop.run([
      'config',
      'set',
      'codes',
      changeFile(shop, 'code,petId,name\n,9007199254740992,Axolotl\n', 'codes.csv'),
    ]);
    const stdin = 'petId,name,quantity\n9007199254740992,Axolotl,7\n';
    expect((await shop.exits('inventory apply - --yes -q -e sandbox', 0, [], { stdin })).stderr).toBe('');
  });

  test('is no reason to warn about an unknown id that nothing rounds to', async () => {
    const shop = await bigShop(['4', '9007199254740993']);
    const { stderr } = await shop.exits('inventory apply - --yes -e sandbox', 2, '--skip-unknown', {
      stdin: 'petId,quantity\n1007199254740992,3\n',
    });
    expect(stderr).not.toContain('rounded');
  });
});

describe('two lines of one pet', () => {
  test('are added up in a file of deltas, and shown', async ({ shop }) => {
    const stdin = 'petId,delta,ref\n4,5,box 1\n5,1,box 1\n4,7,box 2\n';
    const before = await stockOf(shop);
    const applied = await shop.exits('inventory apply - --yes -q --json', 0, [], { stdin });
    expect(applied.stderr).toMatch(/^Warning: .* lines 2 and 4 .* pet 4: \+5 \+7 = \+12\.\n$/);
    const stock = await stockOf(shop);
    expect((stock.get('4') ?? 0) - (before.get('4') ?? 0)).toBe(12);
    const { run, rows } = JSON.parse(applied.stdout);
    expect(rows).toMatchObject([
      { line: 2, petId: 4, before: 39, after: 51 },
      { line: 3, petId: 5 },
    ]);
    const history = await shop.json(`history show ${run} --json`);
    expect(history.rows[0].ref).toBe('box 1, box 2');
    // The same file with its rows in another order is the same file.
    const again = { stdin: 'petId,delta,ref\n4,7,box 2\n4,5,box 1\n5,1,box 1\n' };
    expect(await shop.refused('inventory apply - --yes', again)).toMatch(
      /already changed under the same ref.*\n│ 4: \+12 by run \w+ at [\d:]+; now \+12\n/,
    );
    const { asked, prompts } = confirming(false);
    const other = changeFile(shop, 'petId,delta\n4,-1\n4,-2\n');
    const typed = await shop.exits(`inventory apply ${other}`, 2, [], { terminal: 200, prompts });
    expect(typed.stderr).toContain('The deltas on lines 2 and 3 are added up for pet 4: -1 -2 = -3.');
    expect(asked[0]).toContain('51 → 48');
  });

  test('may have no delta', async ({ shop }) => {
    const stdin = 'petId,delta,ref\n4,,a\n4,2,b\n5,,\n5,,\n';
    const { rows } = await shop.json('inventory apply - --yes --json', { stdin });
    expect(rows).toMatchObject([
      { line: 2, petId: 4, before: 39, after: 41 },
      { petId: 5, result: 'unchanged' },
    ]);
  });

  test('are refused with both lines if they can not be added up', async ({ shop }) => {
    for (const [, text, said] of [
      ['quantities', 'petId,quantity\n4,5\n4,5\n', 'line 3: pet 4 is already on line 2'],
      ['no quantities', 'petId,quantity\n4,\n4,\n', 'line 3: pet 4 is already on line 2'],
      ['a quantity and a delta', 'petId,quantity,delta\n4,5,\n4,,5\n', 'line 3: pet 4 is already on line 2'],
      ['other expected stocks', 'petId,delta,expected\n4,5,39\n4,5,44\n', 'pet 4 is already on line 2, with another'],
      ['a sum out of range', 'petId,delta\n4,9007199254740991\n4,1\n', 'their sum is out of range'],
    ] as const) {
      expect(await shop.refused(`inventory apply ${changeFile(shop, text)} --yes`)).toContain(said);
    }
  });
});

describe('a delta below zero', () => {
  test('is written, said apart, and counted under max-zero', async ({ shop }) => {
    const stdin = 'petId,delta\n5,-3\n';
    const refused = await shop.exits('inventory apply - --yes --max-zero 0', 2, 'below', { stdin });
    expect(writes(refused)).toEqual([]);
    const { stderr } = await shop.exits('inventory apply - --yes -q', 0, [], { stdin });
    expect(stderr).toMatch(/^Warning: Pet 5 .*1 → -2\.\n$/);
    const { asked, prompts } = confirming(false);
    await shop.exits(`inventory apply ${changeFile(shop, 'petId,delta\n5,-1\n4,1\n')}`, 2, [], {
      terminal: 200,
      prompts,
    });
    expect(asked[0]).toContain('1 pet BELOW ZERO');
  });
});

test('asks whether a file is of another environment if most rows expect another stock', async ({ shop }) => {
  const text = 'petId,expected,quantity\n1,99,1\n2,98,2\n4,39,38\n';
  const { stderr, sent } = await shop.exits('inventory apply - --yes -q', 8, [], { stdin: text });
  expect(stderr).toContain(
    'Warning: 2 of 3 rows expect another stock than staging has. Is the file of another environment or store, or an old one?',
  );
  expect(writes({ sent })).toHaveLength(1);
  // An export of another environment in which one row was edited, and fits here by chance.
  const exported = changeFile(shop, 'petId,expected,quantity\n1,99,99\n2,98,98\n4,38,37\n', 'exported.csv');
  const chance = await shop.exits(`inventory apply ${exported} --yes -q`, 0);
  expect(chance.stderr).toContain('Warning: 2 of 3 rows expect another stock than staging has.');
  // The rows of a file that was applied before expect what was there then.
  const edited = changeFile(shop, 'petId,expected,quantity\n5,1,7\n8,32,9\n', 'edited.csv');
  await shop.exits(`inventory apply ${edited} --yes -q`, 0);
  expect((await shop.exits(`inventory apply ${edited} --yes -q`, 7)).stderr).not.toContain('another environment');
});

describe('a delivery that comes again under its ref', () => {
  const delivery = 'petId,delta,ref\n4,50,N-31\n6,2,N-31\n';
  const corrected = 'petId,delta,ref\n4,5,N-31\n6,2,N-31\n';
  const extended = 'petId,delta,ref\n4,50,N-31\n6,2,N-31\n5,1,N-31\n';

  /** Applies the first delivery note, and returns a function that applies another one, and the last run. */
  async function delivered(shop: Shop) {
    const { run } = await shop.json(`inventory apply ${changeFile(shop, delivery, 'first.csv')} --yes --json`);
    const again = (text: string, words = '', options = {}) => {
      const file = changeFile(shop, text, 'again.csv');
      return shop.run(`inventory apply ${file} ${words}`.trim(), options);
    };
    return { run: run.slice(-4) as string, again };
  }

  test('is refused off a terminal, and nothing is sent', async ({ shop }) => {
    const { run, again } = await delivered(shop);
    for (const [text, said] of [
      [extended, 'add --skip-applied'],
      [corrected, 'The numbers differ'],
      // With a space and other rows.
      ['petId,delta,ref\n8,1,N-99\n6,2, N-31 \n', 'add --skip-applied'],
      ['petId,delta,ref\n6,2,n-31\n', 'add --skip-applied'],
      ['petId,delta,ref\n6,2,N-31\n6,1,N-32\n', 'The numbers differ'],
    ] as const) {
      for (const words of ['--yes', '--dry-run']) {
        const { code, stderr, requests } = await again(text, words);
        expect({ code, requests }).toEqual({ code: 2, requests: [] });
        expect(stderr).toContain('already changed under');
        expect(stderr).toContain(`6: +2 by run ${run}`);
        expect(stderr).toContain(said);
      }
    }
  });

  test('is found if one of two refs that were added up comes again', async ({ shop }) => {
    await shop.exits('inventory apply - --yes', 0, [], { stdin: 'petId,delta,ref\n4,5,box_1\n4,7,BOX 2\n' });
    const box = (ref: string) => ({ stdin: `petId,delta,ref\n4,5,${ref}\n` });
    for (const ref of ['box_1', 'Box 2']) {
      expect(await shop.refused('inventory apply - --yes', box(ref))).toMatch(
        /4: \+12 by run .* \("BOX 2, box_1"\); now/,
      );
    }
    for (const ref of ['box%1', 'box', 'box 11'])
      await shop.exits('inventory apply - --yes --dry-run', 0, [], box(ref));
    expect(await shop.json('history list --ref BOX_1 --json')).toHaveLength(1);
  });

  test('is left out with --skip-applied, but not with another number', async ({ shop }) => {
    const { again } = await delivered(shop);
    const before = await stockOf(shop);
    const { code, stdout, stderr } = await again(extended, '--yes -q --json --skip-applied');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { counts, rows } = JSON.parse(stdout);
    expect(counts).toMatchObject({ applied: 1, skipped: 2 });
    expect(rows).toMatchObject([
      { line: 2, petId: 4, result: 'skipped' },
      { line: 3, petId: 6, result: 'skipped' },
      { line: 4, petId: 5, result: 'applied' },
    ]);
    expect((await stockOf(shop)).get('4')).toBe(before.get('4'));
    expect(await again(delivery, '--yes -q --skip-applied')).toMatchObject({ code: 0, stderr: '' });
    const other = await again(corrected, '--yes --skip-applied');
    expect(other).toMatchObject({ code: 2, requests: [], stderr: expect.stringContaining('The numbers differ') });
    expect(other.stderr).toContain('1 pet was already changed');
    expect((await stockOf(shop)).get('4')).toBe(before.get('4'));
    const both = await shop.refused(`inventory apply ${changeFile(shop, delivery)} --yes --again --skip-applied`);
    expect(both).toContain("can't be used together");
  });

  test('is added once more with --again, and after a yes at a question', async ({ shop }) => {
    const { run, again } = await delivered(shop);
    const stock = async () => (await stockOf(shop)).get('4');
    const before = (await stock()) ?? 0;
    const { code, stderr } = await again(corrected, '--yes -q --again');
    expect(code).toBe(0);
    expect(stderr).toContain('Warning: 2 pets were already changed under ref "N-31", and are changed once more.');
    expect(await stock()).toBe(before + 5);
    const { asked, prompts } = confirming(false, true);
    const typed = await again(extended, '', { terminal: 200, prompts });
    expect(typed.code).toBe(2);
    expect(typed.stderr).toContain(`+50 by run ${run}`);
    expect(asked[0]).toContain('AGAIN? 2 pets were already changed under ref "N-31"');
    expect(asked[0]).not.toContain('was applied');
    expect((await again(extended, '', { terminal: 200, prompts })).code).toBe(0);
    expect(await stock()).toBe(before + 55);
  });

  test('is asked about at a terminal with --skip-applied if the number differs', async ({ shop }) => {
    const { again } = await delivered(shop);
    const { asked, prompts } = confirming(true);
    const terminal = { terminal: 200, prompts };
    expect((await again(corrected, '--skip-applied', terminal)).code).toBe(0);
    expect(asked[0]).toContain('AGAIN? 1 pet was already changed');
    const stock = await stockOf(shop);
    expect([stock.get('4'), stock.get('6')]).toEqual([39 + 50 + 5, 14 + 2]);
  });

  test('is no repetition after an undo, under another ref, or of other pets', async ({ shop }) => {
    const { again } = await delivered(shop);
    await shop.exits('undo --last --yes', 0);
    expect((await again(corrected, '--yes')).code).toBe(0);
    expect((await again(delivery.replaceAll('31', '32'), '--yes')).code).toBe(0);
    expect((await again('petId,delta,ref\n5,1,N-31\n', '--yes')).code).toBe(0);
    expect((await again('petId,delta\n4,1\n', '--yes --ref N-33')).code).toBe(0);
    expect((await again('petId,delta\n4,2\n', '--yes --ref N-33')).code).toBe(2);
  });

  test('is refused if another command applies it while the question is open', async ({ shop }) => {
    const file = changeFile(shop, delivery, 'first.csv');
    const other = changeFile(shop, extended, 'other.csv');
    const confirm = async () => (await shop.run(`inventory apply ${other} --yes`)).code === 0;
    const asked = await shop.run(`inventory apply ${file}`, { terminal: 200, prompts: { confirm } });
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain('already changed under ref "N-31"');
    expect((await stockOf(shop)).get('4')).toBe(89);
  });

  test('is recognized in scans, and scans in a file', async ({ shop }) => {
    const scans = { stdin: '4 x50\n6 x2\n' };
    await shop.exits('inventory count --add --yes --ref N-31', 0, [], scans);
    await shop.exits('inventory count --add --yes --ref N-31', 2, 'already changed under ref', scans);
    const file = changeFile(shop, corrected);
    expect(await shop.refused(`inventory apply ${file} --yes`)).toContain('already changed under ref');
    await shop.exits('inventory count --add --yes --ref N-31 --skip-applied', 0, [], scans);
    expect((await stockOf(shop)).get('4')).toBe(89);
  });
});
