import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { InterruptedError } from '../../../../src/shared/errors.ts';
import { canMakeFifos } from '../../../support/capabilities.ts';
import { rowsIn } from '../../../support/delimited-rows.ts';
import { changeFile, confirming, openShop, type Shop } from '../../../support/shop.ts';
import { test } from '../../../support/till.ts';

const fileIn = (shop: Shop) => join(shop.folders.state, '..', 'stock.csv');

describe('export to a file', () => {
  test('export to a file prints the file name on stderr, and nothing on stdout', async ({ shop }) => {
    const file = fileIn(shop);
    const result = await shop.run(['inventory', 'export', file]);
    expect(result).toMatchObject({ code: 0, stdout: '' });
    expect(result.stderr).toContain(
      `24 pets written to ${file}. Edit the column "quantity", then run: petstock inventory apply ${file}\n`,
    );
    expect(fs.readFileSync(file, 'utf8')).toBe((await shop.run('inventory export')).stdout);
  });

  test.for([0o002, 0o022, 0o077])(
    'creates a file that people edit with the mode of the umask %o',
    async (umask, { shop }) => {
      const before = process.umask(umask);
      try {
        await shop.exits(['inventory', 'export', fileIn(shop)], 0);
      } finally {
        process.umask(before);
      }
      expect(fs.statSync(fileIn(shop)).mode & 0o777).toBe(0o666 & ~umask);
    },
  );

  test('export needs a yes or --force to overwrite a file that petstock did not write', async ({ shop }) => {
    const file = fileIn(shop);
    fs.writeFileSync(file, 'hours of work');
    const { asked, prompts } = confirming(false, true);
    const person = { terminal: 80, prompts };
    await shop.refused(`inventory export ${file}`, person);
    for (const more of ['', ' --yes'])
      expect(await shop.refused(`inventory export ${file}${more}`)).toContain('--force');
    expect(fs.readFileSync(file, 'utf8')).toBe('hours of work');
    expect(await shop.run(['inventory', 'export', file], person)).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(2);
    fs.writeFileSync(file, 'an old export');
    expect(await shop.run(['inventory', 'export', file, '--force'])).toMatchObject({ code: 0 });
    const four = { petId: '4', status: 'available', expected: '39', quantity: '39' };
    expect(rowsIn(fs.readFileSync(file, 'utf8'))).toContainEqual(four);
  });

  test.for(['export', '--failed-out'])(
    "refuses to replace petstock's own files with %s, even with --force",
    async (option, { shop }) => {
      await shop.exits('inventory adjust 4 +1', 0);
      const link = join(shop.folders.state, '..', 'link.csv');
      fs.symlinkSync(join(shop.folders.state, 'state.db'), link);
      for (const file of [link, join(shop.folders.state, 'state.db')]) {
        const apply = [
          'inventory',
          'apply',
          changeFile(shop, 'petId,delta\n4,1\n'),
          '--yes',
          '--failed-out',
          file,
          '--force',
        ];
        const command = option === 'export' ? ['inventory', 'export', file, '--force'] : apply;
        expect(await shop.refused(command)).toContain(`${file} is in petstock's own folder`);
      }
      expect(await shop.json('history list --json')).toHaveLength(1);
    },
  );

  test('keeps the old export if the response breaks off', async () => {
    const shop = await openShop({ faults: ['GET /inventory:truncate'] });
    const file = fileIn(shop);
    fs.writeFileSync(file, 'as it was');
    expect(await shop.run(['inventory', 'export', file, '--force'])).toMatchObject({ code: 5 });
    expect(fs.readFileSync(file, 'utf8')).toBe('as it was');
  });
});

test.runIf(canMakeFifos)('stops an export to a pipe without a reader on Ctrl-C', async ({ shop }) => {
  const pipe = fileIn(shop);
  execFileSync('mkfifo', [pipe]);
  const interruption = new AbortController();
  const exporting = shop.run(['inventory', 'export', pipe], { interrupted: interruption.signal });
  interruption.abort(new InterruptedError('Interrupted'));
  expect(await exporting).toMatchObject({ code: 130, stdout: '', requests: [] });
  fs.closeSync(fs.openSync(pipe, 'r+'));
});

describe('export in the formats of apply', () => {
  test.for([
    ['json', /\{"petId":4,"status":"available",.*"expected":39,"quantity":39,"reason":null,"ref":null\}/],
    ['ndjson', /\{"petId":4,"status":"available",.*"expected":39,"quantity":39,"reason":null,"ref":null\}\n/],
    ['tsv', /\n4\tavailable\t+39\t39\t\t\n/],
    ['csv', /\n4,available,+39,39,,\n/],
  ] as const)('exports %s in which apply finds nothing to write', async ([format, row], { shop }) => {
    const { stdout, sent } = await shop.run(`inventory export -o ${format}`);
    expect({ stdout, sent }).toEqual({ stdout: expect.stringMatching(row), sent: ['GET /v1/inventory'] });
    const file = `${fileIn(shop).slice(0, -3)}${format}`;
    expect(await shop.run(['inventory', 'export', file])).toMatchObject({ code: 0, stdout: '' });
    expect(fs.readFileSync(file, 'utf8')).toBe(stdout);
    const applied = await shop.exits(['inventory', 'apply', file, '--json', '--yes'], 0);
    expect(JSON.parse(applied.stdout).counts).toMatchObject({ applied: 0, failed: 0, conflict: 0 });
  });

  test('refuses mistaken options of export, and sends nothing', async ({ shop }) => {
    for (const [words, why] of [
      ['stock.json -o csv', 'has the extension of json'],
      ['stock.csv -o ndjson', 'has the extension of csv'],
      ['stock.xlsx', 'workbook'],
      ['-o table', 'The valid formats are csv, tsv, json, ndjson'],
      ['-o json --spreadsheet', 'are not for json'],
      ['--delimiter :', '--delimiter takes'],
    ] as const) {
      expect(await shop.refused(`inventory export ${words}`)).toContain(why);
    }
  });
});
test('separates the cells of a spreadsheet as its locale does, and apply reads it', async ({ shop }) => {
  for (const [env, options, delimiter] of [
    [{ LANG: 'de_DE.UTF-8' }, '', ';'],
    [{ LANG: 'en_GB.UTF-8' }, '', ','],
    [{ LC_ALL: 'C', LANG: 'de_DE.UTF-8' }, '', ','],
    [{ LANG: 'de_DE.UTF-8' }, ' --delimiter |', '|'],
  ] as const) {
    const { stdout } = await shop.run(`inventory export --spreadsheet${options}`, { env });
    expect(stdout.startsWith(`\ufeffpetId${delimiter}status${delimiter}`)).toBe(true);
    const largest = { petId: '="9007199254740993"', status: 'sold', expected: '0', quantity: '0' };
    expect(rowsIn(stdout)).toContainEqual(largest);
    const { counts } = await shop.json('inventory apply - --json --yes', { stdin: stdout });
    expect(counts).toMatchObject({ notEdited: 24, applied: 0, failed: 0, conflict: 0 });
  }
});

test('refuses inventory export --no-header, and sends nothing', async ({ shop }) => {
  const result = await shop.exits('inventory export --no-header', 2, 'Leave out --no-header');
  expect(result).toMatchObject({ stdout: '', sent: [] });
});
