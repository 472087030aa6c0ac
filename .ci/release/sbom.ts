import { hash } from 'node:crypto';
import { committedAt, npm, root } from '../commands.ts';
import { bunPackage, bunVersion } from './runtime.ts';

/** The part of a CycloneDX document that is used here. */
interface Sbom {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: { readonly 'bom-ref': string; readonly [name: string]: unknown }[];
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

/**
 * Returns the contents of an artefact, as CycloneDX in JSON: npm's list of everything installed, without the packages
 * that are not bundled. Two builds of a commit give the same document.
 * @param licences the text of `LICENSES.txt`, in which each part begins with a bundled package
 * @param target the system of an executable (it runs on bun); undefined for the package for Node
 * @throws Error if npm does not know a bundled package
 */
export function sbomOf(licences: string, target?: string): string {
  const all: Sbom = JSON.parse(npm(root, 'sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'));
  // npm uses the name of the folder, and marks all build tools as optional.
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
  if (components.length < inside.length) throw new Error(`npm sbom does not list all of ${inside.join(', ')}`);
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
  // The serial number is a UUID (RFC 9562, version 8) of the content.
  const hex = hash('sha256', JSON.stringify(sbom));
  sbom.serialNumber = `urn:uuid:${hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-a$4-$5')}`;
  return `${JSON.stringify(sbom, null, 2)}\n`;
}
