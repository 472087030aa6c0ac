import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { petstockAt } from '../../support/petstock.ts';
import { temporaryHome } from '../../support/program.ts';
import { scriptedService } from '../../support/scripted-service.ts';

const twice = '[{"petId":1,"quantity":5,"status":"available"},{"petId":1,"quantity":7,"status":"available"}]';

test.each([
  'get 1',
  'get 1 2',
  'adjust 1 +1',
  'set 1 9 --expect 5',
  'set 1 9 --read-first',
  'set 1=4 2=3 --yes',
  'apply FILE --yes',
])('%s refuses a list that has the pet twice, and writes nothing', async (command) => {
  const service = await scriptedService();
  service.always('GET /inventory', ({ answer }) => answer(200, twice));
  const file = join(temporaryHome().folder, 'changes.csv');
  writeFileSync(file, 'petId,quantity\n1,3\n');
  const result = await petstockAt(service).run(`inventory ${command.replace('FILE', file)}`);
  expect(result).toMatchObject({ code: 1, stdout: '' });
  expect(result.stderr).toContain('pet 1 is in it twice');
  expect(service.seen('PATCH')).toEqual([]);
});
