import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

/** A project with the packed package, as a user installs it. */
export const petrichorProject: string = join(import.meta.dirname, '.petrichor');

/** The root entry of the installed package. */
export const petrichorEntry: string = pathToFileURL(
  join(petrichorProject, 'node_modules', 'petrichor', 'dist', 'index.js'),
).href;

/** Packs the built package and installs it beside the peers, with its dependencies from the cache of npm where they are. */
export function installPetrichor(): void {
  if (!existsSync(join(root, 'dist', 'index.js')))
    throw new Error('The package is not built. Run `npm run build` in the root folder first.');
  rmSync(petrichorProject, { recursive: true, force: true });
  mkdirSync(petrichorProject, { recursive: true });
  const npm = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', petrichorProject];
  const packed: unknown = JSON.parse(npm(args, root));
  const [{ filename }] = (Array.isArray(packed) ? packed : Object.values(packed as object)) as [
    { readonly filename: string },
  ];
  const zod = JSON.parse(
    execFileSync(process.execPath, ['-p', 'JSON.stringify(require("zod/package.json").version)'], {
      cwd: import.meta.dirname,
      encoding: 'utf8',
    }),
  ) as string;
  writeFileSync(join(petrichorProject, 'package.json'), '{ "private": true, "type": "module" }');
  npm(
    [
      'install',
      '--prefer-offline',
      '--ignore-scripts',
      '--no-audit',
      `./${filename}`,
      `zod@${zod}`,
    ],
    petrichorProject,
  );
}
