import { version as released } from '../../package.json';

/** The commit of a build that is no release, such as `8c639f0`: the build puts it here. It is missing in the sources. */
declare const COMMIT: string | undefined;

/** After Semantic Versioning: `0.2.0`, or `0.2.0+8c639f0`. */
export const version = typeof COMMIT === 'string' ? `${released}+${COMMIT}` : released;
