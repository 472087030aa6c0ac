import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openApiDocument } from '../../src/service/index.ts';
import { runOn } from '../support/installation.ts';
import { test } from './usage.ts';

test('generates an OpenAPI document that the Redocly linter accepts', async ({ machine }) => {
  const file = join(machine.folder, 'openapi.json');
  const lint = () => runOn(machine, ['npx', '--yes', '@redocly/cli@2.77.0', 'lint', file]);
  const document = JSON.stringify(openApiDocument('http://127.0.0.1/v1'));
  writeFileSync(file, document);
  await lint();
  // The linter must reject a broken document.
  writeFileSync(file, document.replaceAll('"type":"string"', '"type":"text"'));
  await expect(lint()).rejects.toThrow('can be one of the following only');
});
