import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { petrichorProject } from './petrichor-package.ts';

/** The installed version of a measured package. */
export function versionOf(name: string): string {
  const folder = name === 'petrichor' ? petrichorProject : import.meta.dirname;
  const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
