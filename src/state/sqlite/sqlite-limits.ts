import type { KeyState } from '../../rate-limit/key-state.ts';
import type { Moment, Work } from '../store.ts';
import { type Change, type Known, StoredLimits } from '../stored-limits.ts';
import type { SqliteStore } from './sqlite-store.ts';

/** The limits of this machine: the file is looked at whenever they are asked for. */
export class SqliteLimits extends StoredLimits {
  readonly #store: SqliteStore;

  constructor(store: SqliteStore) {
    super(store);
    this.#store = store;
  }

  peek(scope: string): KeyState {
    return this.take(scope, this.#store.askNow(this.reading(scope))[0]);
  }

  protected async write(scope: string, hasGate: boolean, change: Change): Promise<KeyState> {
    // A gate outlasts a power cut: nothing leaves within a Retry-After that was seen. The rest need not.
    const kind = hasGate ? 'durable' : 'quick';
    const written = await this.#store.transact(kind, undefined, (at) => this.#work(at, scope, change));
    return this.keep(scope, written);
  }

  *#work({ writes }: Moment, scope: string, change: Change): Work<Known> {
    const [[row] = []] = yield [this.reading(scope)];
    this.take(scope, row);
    const { next, writing } = this.next(scope, (state) => change(state, false));
    writes.push(writing);
    return next;
  }
}
