import { randomBytes } from 'node:crypto';
import { type Claims, openClaims } from '../../history/claims/claims.ts';
import { machineOf } from '../../history/machine.ts';
import type { Connection } from './connect.ts';
import type { Invocation } from './invocation.ts';

/** What keeps the writes of this command apart from those of other commands of this machine. */
export function openClaimsOf(invocation: Invocation, { environment, service }: Connection): Claims {
  const { pid, boot, isAlive } = machineOf(invocation.context);
  return openClaims({
    stateFolder: invocation.context.folders.state,
    service: `${environment} ${service}`,
    unique: `${pid}.${randomBytes(6).toString('hex')}`,
    boot,
    isAlive,
    onFallback: ({ message }) =>
      void invocation.warn(`other commands on this machine can't be told what this one writes: ${message}`),
  });
}
