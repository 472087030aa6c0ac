import type { Action } from './scripted-service.ts';
import { errorBody } from './scripted-service.ts';

type Headers = Readonly<Record<string, string>>;

/** Responds as the specification says. */
export const normally: Action = (exchange) => exchange.answerNormally();

/** Writes, then resets the connection without a response. */
export const commitThenDrop: Action = (exchange) => {
  exchange.commit();
  exchange.drop();
};

/** Resets the connection without writing. */
export const drop: Action = (exchange) => exchange.drop();

/** Neither writes nor responds. */
export const hang: Action = () => {};

/** Writes, but sends no response. */
export const commitThenHang: Action = (exchange) => exchange.commit();

/** Responds without writing. */
export function answers(status: number, headers?: Headers, body = errorBody('scripted', status)): Action {
  return (exchange) => exchange.answer(status, status === 204 ? '' : body, headers);
}

/** Writes, but responds with another status. */
export function commitThenAnswer(status: number, headers?: Headers): Action {
  return (exchange) => {
    exchange.commit();
    answers(status, headers)(exchange);
  };
}

/** Stores another quantity than the requested one, and responds with the stored quantity. */
export function storeInstead(quantity: number): Action {
  return (exchange) => {
    exchange.commit(quantity);
    exchange.answer(200, `{"petId":${exchange.change?.petId},"quantity":${quantity},"status":"available"}`);
  };
}

/** Writes, but responds with the id of another pet. */
export function answerForPet(petId: number): Action {
  return (exchange) => {
    exchange.commit();
    exchange.answer(200, `{"petId":${petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
  };
}

/** Writes, and sends only half of the response. */
export const commitThenBreakOff: Action = (exchange) => {
  exchange.commit();
  exchange.breakOff(`{"petId":${exchange.change?.petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
};

/** Does something after the action, such as selling a pet. */
export function andThen(action: Action, after: () => void): Action {
  return async (exchange) => {
    await action(exchange);
    after();
  };
}

/** Holds a request until the test calls `release()`. `reached` resolves once the request has come. */
export function hold(action: Action = normally) {
  let release = (): void => {};
  let reach = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const held: Action = async (exchange) => {
    reach();
    await released;
    await action(exchange);
  };
  return { action: held, reached, release };
}

/** Responds to each request after this many milliseconds, so that requests of several processes overlap. */
export function slowly(ms: number): Action {
  return (exchange) =>
    new Promise((resolve) => {
      setTimeout(() => {
        exchange.answerNormally();
        resolve();
      }, ms);
    });
}
