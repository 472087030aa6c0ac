import type { Action } from './scripted-service.ts';
import { errorBody } from './scripted-service.ts';

type Headers = Readonly<Record<string, string>>;

/** Responds as the specification says. */
export const normally: Action = (exchange) => exchange.answerNormally();

/** The write happens, the answer is lost. */
export const commitThenDrop: Action = (exchange) => {
  exchange.commit();
  exchange.drop();
};

/** The connection breaks, and nothing was written. */
export const drop: Action = (exchange) => exchange.drop();

/** No answer, and no write. */
export const hang: Action = () => {};

/** Writes, and sends no response. */
export const commitThenHang: Action = (exchange) => exchange.commit();

/** Answers without doing anything. */
export function answers(status: number, headers?: Headers, body = errorBody('scripted', status)): Action {
  return (exchange) => exchange.answer(status, status === 204 ? '' : body, headers);
}

/** The write happens, and the answer says something else. */
export function commitThenAnswer(status: number, headers?: Headers): Action {
  return (exchange) => {
    exchange.commit();
    answers(status, headers)(exchange);
  };
}

/** Stores another quantity than it was asked for, and answers with what it has stored. */
export function storeInstead(quantity: number): Action {
  return (exchange) => {
    exchange.commit(quantity);
    exchange.answer(200, `{"petId":${exchange.change?.petId},"quantity":${quantity},"status":"available"}`);
  };
}

/** The write happens, and the answer names another pet. */
export function answerForPet(petId: number): Action {
  return (exchange) => {
    exchange.commit();
    exchange.answer(200, `{"petId":${petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
  };
}

/** Writes, and sends half of the response. */
export const commitThenBreakOff: Action = (exchange) => {
  exchange.commit();
  exchange.breakOff(`{"petId":${exchange.change?.petId},"quantity":${exchange.change?.quantity},"status":"available"}`);
};

/** Does something once the request has been carried out and answered, such as a sale. */
export function andThen(action: Action, after: () => void): Action {
  return async (exchange) => {
    await action(exchange);
    after();
  };
}

/** Holds a request until the test lets it go on. */
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

/** Responds to everything after this many milliseconds, so that requests of several processes overlap. */
export function slowly(ms: number): Action {
  return (exchange) =>
    new Promise((resolve) => {
      setTimeout(() => {
        exchange.answerNormally();
        resolve();
      }, ms);
    });
}
