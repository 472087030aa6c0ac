/**
 * The parts of undici that send a request. The whole package would bring its fetch, its mocks, its caches and its
 * WebSockets into every start.
 */
import type { Dispatcher } from 'undici';
import requestWith from 'undici/lib/api/api-request.js';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export { Agent, buildConnector };

/** `dispatcher.request(options)`, which only the whole package gives to its dispatchers. */
export function request(dispatcher: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
  return requestWith.call(dispatcher, options);
}
