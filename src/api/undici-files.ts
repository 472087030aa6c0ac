/**
 * undici's Agent and connector by their files, which are no public interface: its public entry loads its fetch, its mocks, its caches and its
 * WebSockets, too. `inventory list` takes 2.8 times the CPU of `node -e 0` by these files, 3.9 by the entry (Node 20, November 2026).
 *
 * To do without, delete this file and `undici-lib.d.ts`, and have `undici.ts` import `undici` in its place.
 */
export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
