import { makePrivateFolder } from '../../src/shared/private-files.ts';

/** Makes folders in a process of its own: argv names one to make them in and how many. Starts when its input ends; prints how many. */
const [, , parent = '', count = '0'] = process.argv;
process.stdin.resume().once('end', () => {
  for (let made = 0; made < Number(count); made += 1) makePrivateFolder(`${parent}/${made}/a/b`);
  process.stdout.write(count);
});
process.stderr.write('ready');
