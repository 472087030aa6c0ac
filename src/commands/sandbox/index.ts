import type { Command } from 'commander';
import type { Run } from '../../invocation/invocation.ts';
import { registerInfo } from './info.ts';
import { registerKeys } from './keys/index.ts';
import { registerOpenApi } from './openapi.ts';
import { registerReset } from './reset.ts';
import { registerServe } from './serve.ts';

export function registerSandbox(program: Command, run: Run): void {
  const sandbox = program.command('sandbox').summary('the embedded service, to try things and to test against');
  sandbox.description(
    'The embedded service: a real one, on this machine alone. `--env sandbox` starts it for one command.',
  );
  registerServe(sandbox, run);
  registerReset(sandbox, run);
  registerInfo(sandbox, run);
  registerKeys(sandbox, run);
  registerOpenApi(sandbox, run);
}
