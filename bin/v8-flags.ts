import type { Transport } from '../src/api/transport.ts';

/**
 * Sets a flag of V8. V8's flags are not a stable interface. Callers reset each flag, because V8 accepts cached code
 * only under the flags that it was compiled with. To do without flags, delete this file and its use in `run.ts`.
 */
function setFlag(name: string, value: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--${name}=${value}`);
}

/**
 * Keeps V8 of Node 20 from optimising undici's HTTP parser (WebAssembly) in the background, because the program could
 * not exit before the optimisation ends. A parser that is created while the budget is large is never optimised.
 * `inventory list` takes 3.1 times the CPU of `node -e 0`, and 7.6 times without this (November 2026). Later versions
 * of Node don't need this.
 */
export function withPlainParser(transport: Transport): Transport {
  if (!process.versions.node.startsWith('20.')) return transport;
  let isFirst = true;
  return async (request) => {
    if (!isFirst) return transport(request);
    isFirst = false;
    setFlag('wasm-tiering-budget', 100_000_000);
    try {
      return await transport(request);
    } finally {
      setFlag('wasm-tiering-budget', 1_800_000);
    }
  };
}
