import type { ProcessIdentity } from '../shared/processes.ts';

/** A process as one short text, as requests in flight name theirs. None of its parts holds a line feed. */
export function ownerOf({ host, namespace, boot, pid, startedAt }: ProcessIdentity): string {
  return [host, namespace, boot, pid, startedAt].join('\n');
}

/** @returns undefined for what `ownerOf` has not written */
export function processOf(owner: string): ProcessIdentity | undefined {
  const [host, namespace, boot, pid, startedAt] = owner.split('\n');
  if (host === undefined || namespace === undefined || boot === undefined || startedAt === undefined) return undefined;
  return { host, namespace, boot, pid: Number(pid), startedAt };
}
