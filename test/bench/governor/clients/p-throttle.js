import { setTimeout as delay } from 'node:timers/promises';
import pThrottle from 'p-throttle';
import { patch } from './request.js';

export function connect(service) {
  const throttled = pThrottle({ limit: service.limit, interval: service.windowMs })(patch(service));
  return async function write(petId, quantity) {
    try {
      await throttled(petId, quantity);
    } catch (error) {
      if (error.retryAfter === undefined) throw error;
      await delay(error.retryAfter);
      await write(petId, quantity);
    }
  };
}
