import type { HttpRequest, Transport } from '../../api/transport.ts';
import type { Clock } from '../../shared/clock.ts';

/** In milliseconds: an answer that takes longer is worth a line. */
const patience = 1000;

/** Calls `onSlow` for each request that has no answer after a second, with what is waited for. */
export function watchAnswers(transport: Transport, clock: Clock, onSlow: (line: string) => void): Transport {
  return async (request: HttpRequest) => {
    const deadline = clock.deadline(patience, () => onSlow(waitingText(request)));
    try {
      return await transport(request);
    } finally {
      deadline.clear();
    }
  };
}

/** `Waiting for https://shop.example to answer GET /inventory…` */
function waitingText({ method, url }: HttpRequest): string {
  const { origin, pathname } = new URL(url);
  return `Waiting for ${origin} to answer ${method} ${pathname.replace(/^.*\/v1(?=\/)/, '')}…`;
}
