import type { Suspension } from '../src/writes/write-context.ts';

/** Listens for Ctrl-Z while something has to be released first; otherwise the system stops the process at once. */
export function listenForSuspension(): Suspension {
  const releases = new Set<() => Promise<void>>();
  const onStop = async () => {
    await Promise.allSettled([...releases].map((release) => release()));
    process.kill(process.pid, 'SIGSTOP');
  };
  return {
    add: (release) => {
      if (process.platform === 'win32') return () => {};
      if (releases.size === 0) process.on('SIGTSTP', onStop);
      releases.add(release);
      return () => {
        releases.delete(release);
        if (releases.size === 0) process.off('SIGTSTP', onStop);
      };
    },
  };
}
