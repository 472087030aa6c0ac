import { createHash } from 'node:crypto';
import { committedAt, npm, root } from './commands.ts';
import { bunPackage, bunVersion } from './runtime.ts';

/** What is used of a CycloneDX document. */
interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: unknown;
}

/** Returns what is bundled, such as `undici@7.30.2`, by the first lines of the texts that `LICENSES.txt` is made of. */
export function packagesOf(licences: string): ReadonlySet<string> {
  const texts = licences.split(`\n${'-'.repeat(80)}\n\n`);
  const names = texts.map((text) => text.slice(0, text.indexOf('\n')).replace(' ', '@'));
  return new Set(names.filter((name) => !name.startsWith('petstock@')));
}

/**
 * What is inside an artefact, as CycloneDX in JSON: npm says it of all that is installed, and what is not bundled goes. Two builds of
 * a commit are the same.
 * @param target the system of an executable, which runs on bun; undefined: the package for Node
 * @throws Error if npm does not know of something that is bundled
 */
export function sbomOf(packages: ReadonlySet<string>, target?: string): string {
  const all: Sbom = JSON.parse(npm(root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  const own = all.metadata.component;
  const inside = all.components.filter(({ name, version }) => packages.has(`${name}@${version}`));
  const found = new Set(inside.map(({ name, version }) => `${name}@${version}`));
  const missing = [...packages].filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`npm sbom does not know of ${missing.join(', ')}`);
  const runtime = target === undefined ? [] : [bunFor(target)];
  const refs = new Set([own, ...inside, ...runtime].map((each) => each['bom-ref']));
  const sbom = {
    ...all,
    // npm names it after the folder, and takes all that it is built with for something to leave out.
    metadata: {
      ...all.metadata,
      timestamp: new Date(committedAt(root) * 1000).toISOString(),
      lifecycles: [{ phase: 'build' }],
      component: { ...own, name: 'petstock', type: 'application' },
    },
    components: [...inside.map(({ properties: _, ...rest }) => ({ ...rest, scope: 'required' })), ...runtime],
    dependencies: all.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn = [] }) => {
        const below = ref === own['bom-ref'] ? [...dependsOn, ...runtime.map((each) => each['bom-ref'])] : dependsOn;
        return { ref, dependsOn: below.filter((other) => refs.has(other)) };
      }),
    serialNumber: undefined as string | undefined,
  };
  // A UUID (RFC 9562, version 8) of the content.
  const hex = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
  sbom.serialNumber = `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-a$4-$5')}`;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function bunFor(target: string) {
  const name = bunPackage(target);
  return {
    'bom-ref': `${name}@${bunVersion}`,
    type: 'platform',
    name,
    version: bunVersion,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${bunVersion}`,
    licenses: [{ license: { id: 'MIT' } }],
  };
}
