/**
 * Writes `repository`, `homepage` and `bugs` into the `package.json` of each published package, from `repositoryUrl` of
 * `site/site-settings.json`. A release runs it before it publishes: npm checks the provenance of a package against
 * `repository`. Without an address the fields are left out.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import siteSettings from '../site/site-settings.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
const settings: { readonly repositoryUrl: string | null } = siteSettings;
const url = settings.repositoryUrl;
if (url === null)
  throw new Error(
    'repositoryUrl of site/site-settings.json is null, so the packages would name no repository. Set it to the address of the repository, such as https://host/owner/name.',
  );

for (const directory of ['', 'create']) {
  const path = join(root, directory, 'package.json');
  const fields: Record<string, unknown> = JSON.parse(readFileSync(path, 'utf8'));
  fields['repository'] = {
    type: 'git',
    url: `git+${url}.git`,
    ...(directory === '' ? {} : { directory }),
  };
  fields['homepage'] = `${url}#readme`;
  fields['bugs'] = `${url}/issues`;
  writeFileSync(path, `${JSON.stringify(fields, null, 2)}\n`);
}
