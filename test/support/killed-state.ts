import { openState } from '../../src/state/open-state.ts';
import type { Lock, Store } from '../../src/state/state-store.ts';

/** The state of a command that runs in this process and can be killed: its locks then end, and it records no more. */
export function killableState(): { readonly openState: typeof openState; kill(): Promise<void> } {
  const locks = new Set<Lock>();
  let isDead = false;
  const forever = new Promise<never>(() => {});
  const whileAlive = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (isDead) return forever;
    const result = await work();
    return isDead ? forever : result;
  };
  const kept = <Taken extends Lock | undefined>(lock: Taken): Taken => {
    if (lock !== undefined) locks.add(lock);
    return lock;
  };
  const openKillable = async (...options: Parameters<typeof openState>): Promise<Store> => {
    const state = await openState(...options);
    return new Proxy(state, {
      get(target, name) {
        const { transact, ask, takeTurn, lockRun } = target;
        const methods: Partial<Store> = {
          transact: (...args) => whileAlive(() => transact.apply(target, args) as never),
          ask: (...args) => whileAlive(() => ask.apply(target, args)),
          lockRun: (...args) => whileAlive(async () => kept(await lockRun.apply(target, args))),
          takeTurn: (...args) =>
            whileAlive(async () => {
              const turn = kept(await takeTurn.apply(target, args));
              return new Proxy(turn, {
                get: (of, key) =>
                  key === 'transact'
                    ? (...given: Parameters<Store['transact']>) => whileAlive(() => of.transact(...given))
                    : bound(of, key),
              });
            }),
        };
        return methods[name as keyof Store] ?? bound(target, name);
      },
    });
  };
  return {
    openState: openKillable,
    kill: async () => {
      isDead = true;
      for (const lock of locks) await lock.release();
    },
  };
}

function bound<Target extends object>(target: Target, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name, target);
  return typeof value === 'function' ? value.bind(target) : value;
}
