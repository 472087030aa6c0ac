/**
 * undici's Agent and connector, imported by file. The files are not a public interface, but the public entry also loads
 * fetch, mocks, caches and WebSockets. `inventory list` takes 2.8 times the CPU of `node -e 0` with these files, and
 * 3.9 times with the entry (Node 20, November 2026).
 *
 * To remove this, delete this file and `undici-lib.d.ts`, and import `undici` in `undici.ts`.
 */
export { default as buildConnector } from 'undici/lib/core/connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
