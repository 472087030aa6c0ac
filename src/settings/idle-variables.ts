import { nearest } from '../shared/did-you-mean.ts';
import { remoteEnvironmentNames } from './settings.ts';
import { optionVariables } from './shared-options.ts';
import { type Environment, keyVariables, storesOfVariables, urlVariable, variable } from './variables.ts';

const prefix = 'PETSTOCK_';

/** The variables that are neither those of an option nor of an environment. */
const others = ['CONFIG_DIR', 'STATE_DIR', 'RUNTIME_DIR', 'STATE_URL', 'SANDBOX_KEY', 'NO_CACHE'];

/** Returns a warning for each variable that begins like those of petstock, is set, and has no effect. */
export function idleVariables(env: Environment): readonly string[] {
  const set = Object.keys(env).filter((name) => /^PETSTOCK_/i.test(name) && variable(env, name) !== undefined);
  if (set.length === 0) return [];
  const known = [
    ...others.map((name) => prefix + name),
    ...optionVariables().map(([name]) => name.replace(/=.*/, '')),
    ...[undefined, ...storesOfVariables(env)].flatMap((store) =>
      remoteEnvironmentNames.flatMap((name) => [urlVariable(name, store), ...keyVariables(name, store)]),
    ),
  ];
  const idle = set.filter((name) => !known.includes(name));
  return idle.map((name) => {
    const names = known.map((each) => each.slice(prefix.length));
    const typed = name.slice(prefix.length);
    const meant = names.find((each) => each === `${typed}_STAGING`) ?? nearest(typed, names);
    return `${name} has no effect.${meant === undefined ? '' : ` Did you mean ${prefix}${meant}?`}`;
  });
}
