import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountNamespace } from './capabilities.ts';
import type { Petstock } from './petstock.ts';
import type { ProgramOptions } from './program.ts';

/** An event by which a machine loses something that a run or a gate relies on. */
export interface Forgetting {
  readonly name: string;
  /**
   * Whether the event happens while the process of the run lives. Otherwise it happens once the process has been
   * killed.
   */
  readonly isLive?: boolean;
  happens?(petstock: Petstock): Promise<void> | void;
  /** The options of the next command, besides the usual ones. */
  readonly next?: (petstock: Petstock) => ProgramOptions;
  /** Whether the next command can't write its history, and so sends nothing. The command after it runs as usual. */
  readonly isRefused?: boolean;
}

const shell = (script: string) => ['sh', '-c', `${script} && exec "$@"`, 'sh'];
const mounting = (script: string) => [...(mountNamespace ?? []), ...shell(script)];

/** Returns options for a command that sees another boot of the machine. */
const otherBoot = ({ file }: Petstock): ProgramOptions => {
  const name = file('boot', [crypto.randomUUID()]);
  return { through: mounting(`mount --bind ${name} /proc/sys/kernel/random/boot_id`) };
};

const readOnly = ({ home: { state } }: Petstock): ProgramOptions => ({
  through: mounting(`mount --bind ${state} ${state} && mount -o remount,bind,ro ${state}`),
});

/** Returns options for a command whose wall clock was moved by some hours. */
const stepped =
  (hours: number) =>
  ({ home }: Petstock): ProgramOptions => {
    const preload = join(home.folder, 'step.cjs');
    writeFileSync(preload, `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000};\n`);
    return { env: { NODE_OPTIONS: `--require ${preload}` } };
  };

async function prune(petstock: Petstock): Promise<void> {
  const { code, stderr } = await petstock.run('history prune --keep 0 --yes');
  if (code !== 0) throw new Error(`history prune: exit ${code}, ${stderr}`);
}

const stateIn = ({ home }: Petstock) => join(home.state, 'state.db');

/** The events that can happen to any state. */
export const forgettings: readonly Forgetting[] = [
  { name: 'nothing' },
  { name: 'the clock is set back', next: stepped(-5) },
  { name: 'the clock is set ahead', next: stepped(30) },
  { name: 'the history is pruned', happens: prune },
];

/** The events that need mounts of their own. */
const mounted: readonly Forgetting[] = [
  { name: 'the machine is started anew', next: otherBoot },
  { name: 'the state folder is read-only', next: readOnly, isRefused: true },
];

export const localForgettings: readonly Forgetting[] = [
  ...forgettings,
  ...(mountNamespace === undefined ? [] : mounted),
  {
    name: 'the disk is full',
    next: () => ({ through: ['bash', '-c', 'ulimit -f 0; exec "$@"', 'bash'] }),
    isRefused: true,
  },
  {
    name: 'the write-ahead log is removed',
    isLive: true,
    happens: (petstock) => {
      for (const end of ['-wal', '-shm']) rmSync(`${stateIn(petstock)}${end}`, { force: true });
    },
  },
  {
    name: 'an older copy of the state is restored',
    isLive: true,
    happens: (petstock) => {
      const restored = `${stateIn(petstock)}.restored`;
      copyFileSync(join(petstock.home.folder, 'older.db'), restored);
      for (const end of ['', '-wal', '-shm']) rmSync(`${stateIn(petstock)}${end}`, { force: true });
      copyFileSync(restored, stateIn(petstock));
      rmSync(restored);
    },
  },
];

/** Copies the present state, while no process has it open. */
export function keepCopy(petstock: Petstock): void {
  copyFileSync(stateIn(petstock), join(petstock.home.folder, 'older.db'));
}
