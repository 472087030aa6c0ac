import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** `npm run bench -- <name> [options]`. Each benchmark is a folder beside this file, whose `main.ts` exports `run`. */
const folder = fileURLToPath(new URL('.', import.meta.url));
const [name = '', ...args] = process.argv.slice(2);
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .flatMap((path) => /^([\w-]+)[\\/]main\.ts$/.exec(path)?.[1] ?? [])
  .sort();

if (names.includes(name)) {
  const { run } = (await import(`./${name}/main.ts`)) as { run(args: readonly string[]): Promise<void> };
  await run(args);
} else {
  process.stderr.write(`Usage: npm run bench -- <name> [--quick]\nBenchmarks: ${names.join(', ')}\n`);
  process.exitCode = 2;
}
