import { hash } from 'node:crypto';
import { committedAt, npm, root } from '../commands.ts';
import { bunPackage, bunVersion } from './runtime.ts';

type Component = { readonly 'bom-ref': string; readonly properties?: unknown };

/** What is used of a CycloneDX document. */
interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/**
 * What is inside an artefact, as CycloneDX in JSON: npm says it of all that is installed, and what is not bundled goes. Two builds of
 * a commit are the same.
 * @param licences the text of `LICENSES.txt`: each of its parts begins with a package that is bundled
 * @param target the system of an executable, which runs on bun; undefined: the package for Node
 * @throws Error if npm does not know of something that is bundled
 */
export function sbomOf(licences: string, target?: string): string {
  const [, ...texts] = licences.split(`\n${'-'.repeat(80)}\n\n`);
  const packages = texts.map((text) => text.slice(0, text.indexOf('\n')).replace(' ', '@'));
  const all: Sbom = JSON.parse(npm(root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  const bundled = all.components.filter((each) => packages.includes(each['bom-ref']));
  if (bundled.length < packages.length) throw new Error(`npm sbom does not know all of ${packages.join(', ')}`);
  // npm names it after the folder, and takes all that it is built with for something to leave out.
  const component = { ...all.metadata.component, name: 'petstock', type: 'application' };
  const runtime = target === undefined ? [] : [bunFor(target)];
  const components = [...bundled.map(({ properties: _, ...each }) => ({ ...each, scope: 'required' })), ...runtime];
  const inside = [component, ...components].map((each) => each['bom-ref']);
  const uses = [
    ...all.dependencies,
    ...runtime.map((bun) => ({ ref: component['bom-ref'], dependsOn: [bun['bom-ref']] })),
  ];
  const sbom = {
    ...all,
    serialNumber: '',
    metadata: { ...all.metadata, timestamp: committedAt().toISOString(), lifecycles: [{ phase: 'build' }], component },
    components,
    dependencies: inside.map((ref) => {
      const used = uses.flatMap((each) => (each.ref === ref ? (each.dependsOn ?? []) : []));
      return { ref, dependsOn: used.filter((other) => inside.includes(other)) };
    }),
  };
  // A UUID (RFC 9562, version 8) of the content.
  const hex = hash('sha256', JSON.stringify(sbom));
  sbom.serialNumber = `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-a$4-$5')}`;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}

function bunFor(target: string) {
  const [name, version] = [bunPackage(target), bunVersion];
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = [{ license: { id: 'MIT' } }];
  return { 'bom-ref': `${name}@${version}`, type: 'platform', name, version, scope: 'required', purl, licenses };
}
