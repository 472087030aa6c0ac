import { onTestFinished } from 'vitest';
import { createSystemClock } from '../../bin/system-clock.ts';
import { type ServiceOptions, startService } from '../../src/service/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { changeFile, type ShopRunOptions, shopOf, temporaryFolders } from './shop.ts';

export type Team = Awaited<ReturnType<typeof openTeam>>;
/** A machine with its own folders and clocks. */
export type Machine = Awaited<ReturnType<Team['machine']>>;

/** How far a machine's clocks are ahead of the real clocks, in milliseconds. */
interface Ahead {
  readonly wall: number;
  readonly monotonic: number;
}

/** Opens a service with one key for several machines that share their state in a database. */
export async function openTeam(stateUrl: string, options: Partial<ServiceOptions> = {}) {
  const clock = createSystemClock();
  const service = await startService({ file: ':memory:', recordsRequests: true, clock, ...options });
  onTestFinished(() => service.close());
  const env = {
    PETSTOCK_URL_STAGING: service.url,
    PETSTOCK_API_KEY_STAGING: service.key,
    PETSTOCK_STATE_URL: stateUrl,
  };
  return {
    service,
    env,
    machine: async (host: string, ahead: Ahead = { wall: 0, monotonic: 0 }) => {
      const folders = await temporaryFolders();
      const shop = shopOf({ service, folders, clock: clockAhead(ahead), env: { ...env, USER: `of-${host}` } });
      return {
        host,
        run: (command: string, options: ShopRunOptions = {}) =>
          shop.run(command, { host, random: Math.random, ...options }),
        file: (name: string, lines: readonly string[]) => changeFile(shop, `${lines.join('\n')}\n`, name),
      };
    },
  };
}

function clockAhead({ wall, monotonic }: Ahead): Clock {
  const clock = createSystemClock();
  return {
    ...clock,
    now: () => clock.now() + wall,
    monotonic: () => clock.monotonic() + monotonic,
  };
}
