import { isSameBoot } from '../rate-limit/key-state.ts';
import type { Processes, ProcessIdentity } from '../shared/processes.ts';
import { type Holder, isAlive } from './decide.ts';
import { leaseEnds } from './other-boots.ts';
import type { TransactionContext, TransactionSteps } from './state-database.ts';
import { among, json, name, number, type Row, statement, text } from './statements.ts';

export interface PresentProcess {
  readonly process: ProcessIdentity;
  /** The command of the process, like `inventory apply`. */
  readonly command: string;
  /** The user who runs the process, if the state stores users (a shared state does). */
  readonly user?: string | undefined;
  /** When the process became present, in milliseconds since the Unix epoch. */
  readonly since: number;
}

export interface LivingProcess {
  /** A name for messages, like `process 7 on till-2`. */
  readonly name: string;
  /**
   * When the lease ends unless it is renewed, by the state's clock, for a process that may belong to an earlier boot of
   * this machine or to a container on it; undefined for any other process.
   */
  readonly otherBootLeaseEnd: number | undefined;
}

/** The processes that are alive, by id. */
export type Living = ReadonlyMap<string, LivingProcess>;

const selectPresence = 'SELECT id, identity, os_user, command, since, boot, expires, lasts FROM petstock.presence';

/** Returns the living processes among those in the column `holder` of some rows, and this process. */
export function* aliveAmong(
  { id: own, processes }: { readonly id: string; readonly processes: Processes },
  at: TransactionContext,
  held: readonly Row[],
): TransactionSteps<Living> {
  const others = new Set(held.flatMap(({ holder }) => text(holder) ?? []));
  others.delete(own);
  const [rows = []] = yield [among(`${selectPresence} WHERE id IN ?*`, [], [...others])];
  const living = new Map<string, LivingProcess>([[own, { name: 'this process', otherBootLeaseEnd: undefined }]]);
  for (const { row, identity, ends } of yield* livingIn(at, rows, processes)) {
    const otherBootLeaseEnd = isOtherBootOrContainer(identity, at, processes.self) ? ends : undefined;
    living.set(String(row.id), { name: `process ${identity.pid} on ${name(identity.host)}`, otherBootLeaseEnd });
  }
  return living;
}

/** Returns the processes that are registered as writing and are alive. */
export function* presentProcesses(
  at: TransactionContext,
  processes: Processes,
): TransactionSteps<readonly PresentProcess[]> {
  const [rows = []] = yield [statement(`${selectPresence} ORDER BY since, id`)];
  const present = yield* livingIn(at, rows, processes);
  return present.map(({ row, identity }) => ({
    process: { ...identity, host: name(identity.host) },
    command: name(row.command),
    since: Math.round(number(row.since) ?? 0),
    ...(row.os_user !== null && { user: name(row.os_user) }),
  }));
}

function* livingIn(
  at: TransactionContext,
  rows: readonly Row[],
  processes: Processes,
): TransactionSteps<readonly (Holder & { readonly row: Row })[]> {
  const endOf = yield* leaseEnds(at, rows);
  const holders = rows.map((row) => ({ row, identity: identityIn(row), ends: endOf(row) ?? 0 }));
  return holders.filter((holder) => isAlive(holder, at.now, (process) => processes.isGone(process)));
}

/**
 * Reports whether a process may belong to an earlier boot of this machine or to a container on it. Then only its lease
 * shows whether it has ended.
 */
function isOtherBootOrContainer(
  { host, namespace, boot }: ProcessIdentity,
  at: TransactionContext,
  self: ProcessIdentity,
): boolean {
  const isHere = isSameBoot(at.boot, self.boot);
  if (!isSameBoot(boot, self.boot)) return isHere || host === self.host;
  return isHere && (host !== self.host || namespace !== self.namespace);
}

/** Returns the stored identity of a process. Any field may be missing or invalid, because others can write the row. */
function identityIn(row: Row): ProcessIdentity {
  const { host = '', namespace = '', boot = '', pid = 0, startedAt = '' } = Object(json(row.identity));
  return { host: `${host}`, namespace: `${namespace}`, boot: `${boot}`, pid: Number(pid), startedAt: `${startedAt}` };
}
