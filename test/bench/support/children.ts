import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';

const running = new Set<ChildProcess>();

/** Nothing that a benchmark has started outlives it. */
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

/** A process that talks to its parent by messages. Its stderr is shown. */
export function startWorker(path: string): ChildProcess {
  return kept(fork(path, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'], env: bare() }));
}

/** A Node process whose stdout and stderr are read. */
export function startNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return kept(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...bare(), ...env } }));
}

/** The next message of a worker. @throws when it ends without one, or takes longer */
export async function nextMessage<T>(worker: ChildProcess, ms: number): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const ended = once(worker, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`a worker ended with ${code ?? by}`);
  });
  try {
    const [message] = await Promise.race([once(worker, 'message', { signal }), ended]);
    return message as T;
  } catch (error) {
    throw signal.aborted ? new Error(`a worker is not done within ${ms / 1000} s`) : error;
  }
}

export async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

function kept(child: ChildProcess): ChildProcess {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/**
 * Without what npm puts there and what the user of this machine has set for the program; and without more certificates,
 * which Node reads at its start: that takes longer than all else, so that every ratio would be near 1.
 */
export function bare(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|PETSTOCK_|NODE_OPTIONS$|NODE_EXTRA_CA_CERTS$|.*_proxy$)/i.test(name),
    ),
  );
}
