import { createHash } from 'node:crypto';
import { npm } from './commands.ts';
import { bunVersion } from './runtime.ts';

/** What is used of a CycloneDX document. */
interface Sbom {
  serialNumber: string;
  metadata: { timestamp: string; component: Component; lifecycles?: unknown };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly scope?: string;
  readonly [other: string]: unknown;
}

export interface SbomOptions {
  readonly root: string;
  /** What is inside, such as `undici@7.30.2`. */
  readonly packages: ReadonlySet<string>;
  /** The package of bun that it runs on, such as `@oven/bun-linux-aarch64`; undefined: Node. */
  readonly runtime?: string;
  /** Of the commit, in seconds: two builds of a commit are the same. */
  readonly builtAt: number;
}

/** Returns what is bundled, such as `undici@7.30.2`, by the first lines of the texts that `LICENSES.txt` is made of. */
export function packagesOf(licences: string): ReadonlySet<string> {
  const texts = licences.split(`\n${'-'.repeat(80)}\n\n`);
  const names = texts.map((text) => text.slice(0, text.indexOf('\n')).replace(' ', '@'));
  return new Set(names.filter((name) => !name.startsWith('petstock@')));
}

/**
 * What is inside an artefact, as CycloneDX in JSON: npm says it of all that is installed, and what is not bundled goes.
 * @throws where npm does not know of something that is bundled
 */
export function sbomOf({ root, packages, runtime, builtAt }: SbomOptions): string {
  const sbom: Sbom = JSON.parse(npm(root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  const { component } = sbom.metadata;
  const own = component['bom-ref'];
  const inside = sbom.components.filter((each) => packages.has(`${each.name}@${each.version}`));
  const found = new Set(inside.map(({ name, version }) => `${name}@${version}`));
  const missing = [...packages].filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`npm sbom does not know of ${missing.join(', ')}`);
  const refs = new Set([own, ...inside.map((each) => each['bom-ref'])]);
  const runtimes = runtime === undefined ? [] : [bunOf(runtime)];
  sbom.components = [...inside.map(required), ...runtimes];
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: [
        ...dependsOn.filter((other) => refs.has(other)),
        ...(ref === own ? runtimes.map((each) => each['bom-ref']) : []),
      ],
    }));
  // npm names it after the folder, and takes all that it is built with for something to leave out.
  sbom.metadata = {
    ...sbom.metadata,
    timestamp: new Date(builtAt * 1000).toISOString(),
    lifecycles: [{ phase: 'build' }],
    component: { ...component, name: 'petstock', type: 'application' },
  };
  sbom.serialNumber = serialNumber(JSON.stringify({ ...sbom, serialNumber: undefined }));
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function bunOf(name: string): Component {
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

function required(component: Component): Component {
  const { properties: _, ...rest } = component;
  return { ...rest, scope: 'required' } as Component;
}

/** A UUID (RFC 9562, version 8) of the content. */
function serialNumber(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  return `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-a$4-$5')}`;
}
