import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';

/** The manual that goes with the program. */
const manual = join(dirname(inject('program')), 'man', 'petstock.1');

test('mandoc finds nothing to say about the manual', () => {
  const { status, stdout, stderr } = spawnSync('mandoc', ['-Tlint', '-Wall', manual], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('the manual can be read', () => {
  const { stdout } = spawnSync('mandoc', ['-Tascii', '-O', 'width=80', manual], { encoding: 'utf8' });
  const text = stdout.replace(/.\x08/g, '');
  expect(text).toMatch(/^NAME\n {5,}petstock - look at and adjust the stock of a pet store$/m);
  expect(text).toMatch(/^ +petstock inventory apply --resume <run>$/m);
  expect(text).toMatch(/^EXIT STATUS$/m);
});

test('the package says where it is', () => {
  const { man } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(existsSync(manual)).toBe(true);
  // npm 11 does nothing with a name that is not in a list.
  expect(man).toEqual(['./dist/man/petstock.1']);
});
