import { version as released } from '../../package.json';

/** The commit of a build that is not a release, such as `8c639f0`. The build inserts it; the sources have none. */
declare const COMMIT: string | undefined;

/** The version by Semantic Versioning: `0.2.0`, or `0.2.0+8c639f0`. */
export const version = typeof COMMIT === 'string' ? `${released}+${COMMIT}` : released;
