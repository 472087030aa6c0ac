import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Refusal, refusalAnswer } from '../http/answer.ts';
import type { Exchange } from '../http/exchange.ts';
import { discard, send } from '../http/send.ts';
import type { Service } from '../service.ts';

/** Does what was asked and answers it, with the fault that strikes this request, if one does. */
export async function answerFaulty(
  exchange: Exchange,
  service: Service,
  path: string,
  operate: () => Promise<Answer>,
): Promise<void> {
  const { delayMs, harm } = service.faults.draw(exchange.method, path);
  if (delayMs > 0) await pause(exchange, delayMs);

  switch (harm?.kind) {
    case 'status': {
      const headers = harm.retryAfter === null ? {} : { 'Retry-After': harm.retryAfter };
      const refusal = new Refusal(harm.status, 'injected_fault', 'A fault was asked for here.', headers);
      return send(exchange, refusalAnswer(refusal), service.headersOf(exchange));
    }
    case 'reset':
      reset(exchange);
      return;
    case 'hang':
      exchange.abandoned = true;
      exchange.request.resume();
      return;
    case 'commit-then-drop':
      await discard((await operate()).body);
      exchange.request.socket.destroy();
      return;
  }
  await send(exchange, await operate(), service.headersOf(exchange), harm);
}

/** Over TLS there is no way to the connection itself: it is ended without the good-bye of TLS. In bun the socket is no `TLSSocket`. */
function reset({ request: { socket } }: Exchange): void {
  if ('encrypted' in socket && socket.encrypted) socket.destroy();
  else socket.resetAndDestroy();
}

/** Ends early when the client hangs up. */
async function pause({ response }: Exchange, milliseconds: number): Promise<void> {
  const gone = new AbortController();
  const abort = () => gone.abort();
  response.once('close', abort);
  await sleep(milliseconds, undefined, { signal: gone.signal }).catch(() => {});
  response.off('close', abort);
}
