import { seeded } from '../rate-limit/seeded.ts';
import type { Action, Exchange, ScriptedService } from './scripted-service.ts';
import { errorBody } from './scripted-service.ts';

export interface Storm {
  /**
   * Handles one PATCH by chance: responds, at once or late, with 200, 202 or 503; loses the request or the response;
   * writes late; or never responds.
   */
  readonly action: Action;
  /** Returns a number in [0, 1). The same seed gives the same numbers. */
  random(): number;
  /** Returns every write that was carried out, with the stock before and after it. */
  writes(): readonly { readonly petId: number; readonly before: number; readonly after: number }[];
  /** Returns how many requests are delayed and have not been carried out yet. */
  onTheWay(): number;
}

export function stormOf(service: Pick<ScriptedService, 'stockOf'>, seed: number): Storm {
  const writes: { petId: number; before: number; after: number }[] = [];
  let late = 0;
  const random = seeded(seed);
  const commit = (exchange: Exchange): void => {
    const petId = Number(exchange.change?.petId);
    const before = service.stockOf(petId) ?? 0;
    exchange.commit();
    writes.push({ petId, before, after: service.stockOf(petId) ?? 0 });
  };
  const later = async (ms: number): Promise<void> => {
    late += 1;
    await new Promise((resolve) => setTimeout(resolve, ms));
    late -= 1;
  };
  const item = ({ change }: Exchange) =>
    `{"petId":${change?.petId},"quantity":${change?.quantity},"status":"available"}`;
  const answered = (exchange: Exchange, status: number): void => {
    commit(exchange);
    exchange.answer(status, status < 300 ? item(exchange) : errorBody('scripted', status));
  };
  const fates: readonly (readonly [number, Action])[] = [
    [0.4, (exchange) => answered(exchange, 200)],
    [0.5, (exchange) => later(400).then(() => answered(exchange, 200))],
    [0.6, (exchange) => exchange.drop()],
    [
      0.7,
      (exchange) => {
        commit(exchange);
        exchange.drop();
      },
    ],
    [0.8, () => {}],
    [
      0.9,
      (exchange) => {
        exchange.drop();
        // The write is carried out before the client times out.
        return later(200 + random() * 800).then(() => commit(exchange));
      },
    ],
    [0.95, (exchange) => answered(exchange, 503)],
    [1, (exchange) => later(300).then(() => answered(exchange, 202))],
  ];
  return {
    action: (exchange) => {
      const chance = random();
      return fates.find(([limit]) => chance < limit)?.[1](exchange);
    },
    random,
    writes: () => writes,
    onTheWay: () => late,
  };
}
