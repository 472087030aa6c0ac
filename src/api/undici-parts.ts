/**
 * The parts of undici that send a request. The whole package would bring its fetch, its mocks, its caches and its
 * WebSockets into every start.
 */
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';

export { Agent, buildConnector };
