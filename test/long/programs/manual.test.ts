import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import own from '../../../package.json';

const manual = join(dirname(inject('program')), 'man', 'petstock.1');

test('builds a manual that mandoc accepts', () => {
  const { status, stdout, stderr } = spawnSync('mandoc', ['-Tlint', '-Wall', manual], { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('shows name, examples and exit status in the manual, and lists its file for npm', () => {
  const { stdout } = spawnSync('mandoc', ['-Tascii', '-O', 'width=80', manual], { encoding: 'utf8' });
  const text = stdout.replace(/.\x08/g, '');
  expect(text).toMatch(/^NAME\n {5,}petstock - look at and adjust the stock of a pet store$/m);
  expect(text).toMatch(/^ +petstock inventory apply --resume <run>$/m);
  expect(text).toMatch(/^EXIT STATUS$/m);
  // npm 11 ignores a name that is not in a list.
  expect(own.man).toEqual(['./dist/man/petstock.1']);
});
