import type { HttpRequest, Transport } from '../../api/transport.ts';
import type { Clock } from '../../shared/clock.ts';

/** In milliseconds: an answer that takes longer is worth a line. */
const patience = 1000;

/** The head of an answer, with the wall clock of this machine around it: milliseconds since the Unix epoch. */
export interface SeenHead {
  /** Its `Date`, as it came. */
  readonly date: string;
  readonly sentAt: number;
  readonly receivedAt: number;
}

export interface AnswerWatch {
  readonly clock: Clock;
  /** Called for each request that has no answer after a second, with what is waited for. */
  onSlow(line: string): void;
  /** Called with each answer that says what time it is. */
  onHead(head: SeenHead): void;
}

export function watchAnswers(transport: Transport, { clock, onSlow, onHead }: AnswerWatch): Transport {
  return async (request: HttpRequest) => {
    const deadline = clock.deadline(patience, () => onSlow(waitingText(request)));
    const sentAt = clock.now();
    try {
      const answer = await transport(request);
      const { date } = answer.headers;
      if (typeof date === 'string') onHead({ date, sentAt, receivedAt: clock.now() });
      return answer;
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
