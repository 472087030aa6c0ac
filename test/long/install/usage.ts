import { expect, test as plain } from 'vitest';
import { manifest, newMachine, newProject, type Output } from '../../support/installation.ts';

/** A test that is given a machine, and a project on it. */
export const test = plain.extend('machine', () => newMachine()).extend('project', ({ machine }) => newProject(machine));

/** Runs petstock with these arguments, in the way in which a test has installed it. */
export type Petstock = (...args: readonly string[]) => Promise<Output>;

/** Prints the version, lists and changes the sandbox's stock, and reads the history and a setting. */
export async function usesProgram(petstock: Petstock): Promise<void> {
  const { stdout: version } = await petstock('--version');
  expect(version.replace(/\+[\da-f]{7,}\n$/, '\n')).toBe(`${manifest.version}\n`);
  const sandbox = ['--env', 'sandbox', '--json'];
  const list = await petstock(...sandbox, 'inventory', 'list');
  expect(JSON.parse(list.stdout)).toHaveLength(24);
  const set = await petstock(...sandbox, 'inventory', 'set', '4', '12');
  expect(JSON.parse(set.stdout)).toMatchObject({ petId: 4, quantity: 12, status: 'available' });
  const again = await petstock(...sandbox, 'inventory', 'get', '4');
  expect(JSON.parse(again.stdout)).toMatchObject({ petId: 4, quantity: 12 });
  const history = JSON.parse((await petstock('history', 'list', '--json')).stdout) as unknown[];
  expect(history).toHaveLength(1);
  await petstock('config', 'set', 'low-stock', '7');
  expect((await petstock('config', 'get', 'low-stock')).stdout).toBe('7\n');
  // SQLite is experimental in some releases of Node, but users must see no warning about it.
  for (const { stderr } of [list, set, again]) expect(stderr).not.toMatch(/warning/i);
}
