import type { Answer } from '../http/answer.ts';
import type { Call } from './route.ts';

/** GET /inventory: all items. One page is answered as a whole, more are streamed as the client reads. */
export async function listInventory({ store }: Call): Promise<Answer> {
  const pages = store.inventory();
  const first = await pages.next();
  if (first.done === true) return { status: 200, body: '[]' };
  const second = await pages.next();
  if (second.done === true) return { status: 200, body: `[${first.value}]` };
  return { status: 200, body: listOf(first.value, second.value, pages) };
}

async function* listOf(
  first: string,
  second: string,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  try {
    yield `[${first}`;
    yield `,${second}`;
    for await (const page of rest) yield `,${page}`;
    yield ']';
  } finally {
    await rest.return();
  }
}
