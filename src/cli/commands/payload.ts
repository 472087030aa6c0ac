import { jsonWriter } from '../../output/json.ts';
import { payloadView } from '../../output/payload-view.ts';
import type { Json } from '../../shared/json.ts';
import type { Invocation } from '../invocation/invocation.ts';

/** Prints an answer of unspecified shape: in columns where it has them, else as JSON. */
export async function printPayload(invocation: Invocation, value: Json): Promise<void> {
  const view = payloadView(value);
  if (view !== undefined) return await invocation.results.print(view);
  const text = jsonWriter(invocation.globals.stringIds === true)(value);
  await invocation.results.quote(text);
}
