import { createSystemClock } from '../../src/shared/clock.ts';
import { keptBoot } from '../../src/shared/kept-boot.ts';

/** Asks for the name of the boot, on a system that has none: argv names the state folder. Starts when its input ends; prints the name. */
const [, , folder = ''] = process.argv;
process.stdin.resume().once('end', () => {
  const clock = createSystemClock(process.hrtime.bigint, {
    kept: (monotonic) => keptBoot({ folder: folder, monotonic }),
    bootId: '/nowhere',
  });
  process.stdout.write(clock.boot());
});
process.stderr.write('ready');
