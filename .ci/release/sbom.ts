import { hash } from 'node:crypto';
import { committedAt, npm, root } from '../commands.ts';
import { bunPackage, bunVersion } from './runtime.ts';

/** What is used of a CycloneDX document. */
interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: { readonly 'bom-ref': string; readonly [name: string]: unknown }[];
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

/**
 * What is inside an artefact, as CycloneDX in JSON: npm says it of all that is installed, and what is not bundled goes. Two builds of
 * a commit are the same.
 * @param licences the text of `LICENSES.txt`: each of its parts begins with a package that is bundled
 * @param target the system of an executable, which runs on bun; undefined: the package for Node
 * @throws Error if npm does not know of something that is bundled
 */
export function sbomOf(licences: string, target?: string): string {
  const all: Sbom = JSON.parse(npm(root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  // npm names it after the folder, and takes all that it is built with for something to leave out.
  const component = { ...all.metadata.component, name: 'petstock', type: 'application' };
  const [, ...texts] = licences.split(`\n${'-'.repeat(80)}\n\n`);
  const inside = texts.map((text) => text.slice(0, text.indexOf('\n')).replace(' ', '@'));
  if (target !== undefined) {
    const [name, version] = [bunPackage(target), bunVersion];
    const [ref, purl] = [`${name}@${version}`, `pkg:npm/${name.replace('@', '%40')}@${version}`];
    const licenses = [{ license: { id: 'MIT' } }];
    all.components.push({ 'bom-ref': ref, type: 'platform', name, version, scope: 'required', purl, licenses });
    all.dependencies[0]?.dependsOn.push(ref);
    all.dependencies.push({ ref, dependsOn: [] });
    inside.push(ref);
  }
  const components = all.components.filter((each) => inside.includes(each['bom-ref']));
  if (components.length < inside.length) throw new Error(`npm sbom does not know all of ${inside.join(', ')}`);
  inside.push(component['bom-ref']);
  const sbom = {
    ...all,
    serialNumber: '',
    metadata: { ...all.metadata, timestamp: committedAt().toISOString(), lifecycles: [{ phase: 'build' }], component },
    components: components.map(({ properties: _, ...each }) => ({ ...each, scope: 'required' })),
    dependencies: all.dependencies
      .filter(({ ref }) => inside.includes(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => inside.includes(other)) })),
  };
  // A UUID (RFC 9562, version 8) of the content.
  const hex = hash('sha256', JSON.stringify(sbom));
  sbom.serialNumber = `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-a$4-$5')}`;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}
