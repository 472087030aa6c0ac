import { claimsFiles } from './files.ts';
import { OwnLog } from './own-log.ts';
import { ClaimsState, type Mark } from './state.ts';

export type { Mark } from './state.ts';

/**
 * Keeps the writes of the commands of one machine apart, since the service has no compare-and-set: who relies on a stock
 * that was read learns whether another command may have written it in between. The order of claims is that of a log
 * that all append to; whoever claims reads up to the own claim, so that all come to the same verdict without a lock.
 */
export interface Claims {
  /** To be taken before the stock is read. */
  mark(): Mark;
  /**
   * Claims a pet right before it is written.
   * @param since the mark before the stock that the write relies on; undefined: it relies on none, and the pet is ours
   * @returns undefined where it is ours; else who was writing at the mark, or has claimed since: then nothing may be written
   */
  claim(petId: bigint, since: Mark | undefined): string | undefined;
  /** Claims several pets at once. @returns of each that is not ours, who was there before us */
  claimAll(petIds: readonly bigint[], since: Mark | undefined): ReadonlyMap<bigint, string>;
  /** The writes are over, and it is known what became of them. */
  done(...petIds: readonly bigint[]): void;
  /** The claim was not used: nothing was sent. */
  withdraw(petId: bigint): void;
  /**
   * Whether another live process is writing the pet: one that has claimed it before us, where we have claimed it. What is
   * read then may be out of date at once. Those who claim, wait as long as this holds, and only then read, come one
   * after the other.
   */
  waitsFor(petId: bigint): boolean;
  /** Claims that are not done are left to be taken for written. */
  close(): void;
}

export interface ClaimsOptions {
  readonly stateFolder: string;
  /** The environment and the address whose stock it is about. */
  readonly service: string;
  /** Names the start of the machine: claims from before are over. */
  readonly boot: string;
  /** `<pid>.<random>`, of letters, digits, `-` and `_`. */
  readonly unique: string;
  isAlive(pid: number): boolean;
  /** Told once, with the reason, when the log can't be used: from then on this process knows nothing of others. */
  onFallback(reason: Error): void;
  /** Bytes after which a log that nobody else has open is left behind; default 1 MiB. */
  readonly sealAt?: number;
}

/** Those of this process. Another one with its number is one that had it before, which in a container is usual. */
const openHere = new Set<string>();

export function openClaims(options: ClaimsOptions): Claims {
  const { stateFolder, service, boot, unique, onFallback, sealAt = 1024 * 1024 } = options;
  const files = claimsFiles(stateFolder, service, boot);
  const ownPid = pidOf(unique);
  const isAlive = (by: string) => (pidOf(by) === ownPid ? openHere.has(by) : options.isAlive(pidOf(by)));
  const state = new ClaimsState(unique);
  let log: OwnLog | undefined;
  /** Runs on the log, or, once that has failed, gives what a process alone would get. */
  const attempt = <T>(work: (log: OwnLog) => T, alone: T): T => {
    try {
      return log === undefined ? alone : work(log);
    } catch (error) {
      log?.abandon();
      log = undefined;
      onFallback(error as Error);
      return alone;
    }
  };
  openHere.add(unique);
  try {
    log = new OwnLog({ files, own: unique, state, sealAt, isAlive });
  } catch (error) {
    onFallback(error as Error);
  }

  const claimAll: Claims['claimAll'] = (petIds, since) => {
    const rivals = attempt((own) => own.claim(petIds.map(String), since), new Map<string, string>());
    return new Map([...rivals].map(([petId, by]) => [BigInt(petId), by]));
  };
  const nowhere: Mark = { position: 0, underWay: new Map() };
  return {
    mark: () =>
      attempt((own) => {
        own.refresh();
        return state.mark(isAlive);
      }, nowhere),
    waitsFor: (petId) =>
      attempt((own) => {
        own.refresh();
        return state.waitsFor(String(petId), isAlive);
      }, false),
    claim: (petId, since) => claimAll([petId], since).get(petId),
    claimAll,
    done: (...petIds) => attempt((own) => own.end('done', petIds.map(String)), undefined),
    withdraw: (petId) => attempt((own) => own.end('withdraw', [String(petId)]), undefined),
    close: () => {
      attempt((own) => own.leave(), undefined);
      log = undefined;
      openHere.delete(unique);
    },
  };
}

function pidOf(unique: string): number {
  return Number.parseInt(unique, 10);
}
