import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Claims, type ClaimsOptions, openClaims } from '../../../src/history/claims/claims.ts';
import { claimsFiles } from '../../../src/history/claims/files.ts';
import { temporaryFolders } from '../../support/shop.ts';

export interface ClaimsRig {
  readonly stateFolder: string;
  readonly folder: string;
  readonly alive: Set<number>;
  readonly reasons: Error[];
  /** A process with its claims on one service. */
  open(unique: string, options?: Partial<ClaimsOptions>): Claims;
  /** Closes all claims and removes all logs. */
  clear(): void;
  /** The log of a generation. */
  log(generation?: number): string;
}

/** A state folder of its own, and processes that live as soon as they have opened their claims. */
export async function createClaimsRig(): Promise<ClaimsRig> {
  const { state: stateFolder } = await temporaryFolders();
  const alive = new Set<number>();
  const reasons: Error[] = [];
  const opened: Claims[] = [];
  const clear = () => {
    for (const claims of opened.splice(0)) claims.close();
    rmSync(folder, { recursive: true, force: true });
  };
  onTestFinished(clear);
  const { folder, scope } = claimsFiles(stateFolder, 'staging', 'this');
  return {
    stateFolder,
    folder,
    alive,
    reasons,
    open: (unique, options = {}) => {
      alive.add(Number.parseInt(unique, 10));
      const claims = openClaims({
        ...{ stateFolder, service: 'staging', boot: 'this', unique },
        isAlive: (pid) => alive.has(pid),
        onFallback: (reason) => reasons.push(reason),
        ...options,
      });
      opened.push(claims);
      return claims;
    },
    clear,
    log: (generation = 1) => join(folder, `${scope}.${generation}.log`),
  };
}
