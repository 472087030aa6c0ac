import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemProcesses } from '../../src/shared/processes.ts';
import { newFolder } from '../support/new-folder.ts';

/** Creates a `/proc` with one process, whose name has a parenthesis. */
function fakeProc(pid: number, state: string, startedAt: string): string {
  const proc = newFolder();
  mkdirSync(join(proc, 'self', 'ns'), { recursive: true });
  symlinkSync('pid:[7]', join(proc, 'self', 'ns', 'pid'));
  mkdirSync(join(proc, String(pid)));
  const fields = Array.from({ length: 49 }, (_, index) => String(index + 4));
  fields[18] = startedAt;
  writeFileSync(join(proc, String(pid), 'stat'), `${pid} (a) b (c) ${state} ${fields.join(' ')}\n`);
  return proc;
}

const failing = (code: string) => () => {
  throw Object.assign(new Error(`kill ${code}`), { code });
};
const noSuchProcess = failing('ESRCH');

const boot = () => 'b';

describe('createSystemProcesses', () => {
  const system = { boot, kill: process.kill.bind(process) };
  const real = createSystemProcesses({ ...system, pid: process.pid });

  it('identifies its own process', () => {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    expect(real.self).toMatchObject({ pid: process.pid, boot: 'b', namespace: expect.stringMatching(/^pid:\[\d+\]$/) });
    expect(stat.split(' ')).toContain(real.self.startedAt);
    expect(real.isGone(real.self)).toBe(false);
    expect(real.isStopped(real.self)).toBe(false);
  });

  it('notices that a process is stopped, or has ended', async () => {
    const child = spawn('sleep', ['60']);
    const other = createSystemProcesses({ ...system, pid: child.pid ?? 0 }).self;
    expect(real.isGone(other)).toBe(false);
    child.kill('SIGSTOP');
    await expect.poll(() => real.isStopped(other)).toBe(true);
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    expect(real.isGone(other)).toBe(true);
    expect(real.isStopped(other)).toBe(false);
  });

  it('recognizes a reused pid by its start time', () => {
    const proc = fakeProc(5, 'S', '1000');
    const processes = createSystemProcesses({ pid: 5, boot, kill: () => true, proc });
    expect(processes.self.startedAt).toBe('1000');
    expect(processes.isGone(processes.self)).toBe(false);
    expect(processes.isGone({ ...processes.self, startedAt: '999' })).toBe(true);
    expect(processes.isGone({ ...processes.self, startedAt: '' })).toBe(false);
  });

  it("never reports a process that it can't see as gone or stopped", () => {
    const processes = createSystemProcesses({ pid: 5, boot, kill: noSuchProcess, proc: fakeProc(5, 'T', '1000') });
    expect([processes.isGone(processes.self), processes.isStopped(processes.self)]).toEqual([true, true]);
    for (const elsewhere of [{ host: 'other' }, { boot: 'c' }, { namespace: 'pid:[8]' }]) {
      const other = { ...processes.self, ...elsewhere };
      expect([processes.isGone(other), processes.isStopped(other)]).toEqual([false, false]);
    }
  });

  it('decides by the pid alone on macOS, but not on a Linux without /proc', () => {
    const given = { pid: 5, boot, proc: '/nowhere' };
    const gone = createSystemProcesses({ ...given, kill: noSuchProcess, system: 'darwin' });
    expect(gone.self).toMatchObject({ namespace: '', startedAt: '' });
    expect(gone.isGone(gone.self)).toBe(true);
    const foreign = createSystemProcesses({ ...given, kill: failing('EPERM'), system: 'darwin' });
    expect(foreign.isGone(foreign.self)).toBe(false);
    const linux = createSystemProcesses({ ...given, kill: noSuchProcess, system: 'linux' });
    expect(linux.isGone(linux.self)).toBe(false);
  });
});
