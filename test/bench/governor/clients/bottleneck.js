import Bottleneck from 'bottleneck';
import { patch } from './request.js';

/** Its intervals begin when it is made: made with the first write, each falls into a window of its own. */
export function connect(service) {
  let write;
  return (petId, quantity) => {
    write ??= limiterOf(service).wrap(patch(service));
    return write(petId, quantity);
  };
}

function limiterOf({ limit, windowMs, atOnce }) {
  const limiter = new Bottleneck({
    maxConcurrent: atOnce,
    reservoir: limit,
    reservoirRefreshAmount: limit,
    reservoirRefreshInterval: windowMs,
  });
  limiter.on('failed', (error) => error.retryAfter);
  return limiter;
}
