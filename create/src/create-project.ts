import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';

/** A project that cannot be created. Nothing was written. */
export class CreateError extends Error {
  override readonly name = 'CreateError';
}

export interface Project {
  readonly folder: string;
  /** The name of a folder in `templates`. */
  readonly template: string;
  /** A version range, or the path of a packed package. */
  readonly petrichor: string;
  /** The folder that has the templates. */
  readonly templates: string;
}

/**
 * Writes a project and returns the name of its package.
 * @throws CreateError when the folder is not empty, is a file, or its name cannot be that of a package, and for a path
 * of a package that does not exist.
 */
export function createProject({ folder, template, petrichor, templates }: Project): string {
  const target = resolve(folder);
  const name = packageName(basename(target));
  const dependency = dependencyOf(petrichor, target);
  makeEmptyFolder(target, folder);

  for (const source of ['shared', template])
    cpSync(join(templates, source), target, { recursive: true });
  // npm leaves a file named .gitignore out of a package.
  renameSync(join(target, 'gitignore'), join(target, '.gitignore'));

  const manifest = join(target, 'package.json');
  const { dependencies, ...rest }: { readonly dependencies: Readonly<Record<string, string>> } =
    JSON.parse(readFileSync(manifest, 'utf8'));
  const complete = { name, ...rest, dependencies: { petrichor: dependency, ...dependencies } };
  writeFileSync(manifest, `${JSON.stringify(complete, undefined, 2)}\n`);
  return name;
}

/** The rules of npm for new names: https://docs.npmjs.com/cli/configuring-npm/package-json#name */
function packageName(folder: string): string {
  const name = folder.toLowerCase();
  if (!/^[a-z0-9][a-z0-9._-]{0,213}$/.test(name))
    throw new CreateError(
      `FOLDER: '${folder}' cannot be the name of a package. Use letters, digits, '.', '_' and '-', and begin with a letter or a digit.`,
    );
  return name;
}

function dependencyOf(petrichor: string, target: string): string {
  if (!petrichor.endsWith('.tgz')) return petrichor;
  const path = isAbsolute(petrichor) ? petrichor : resolve(petrichor);
  if (!existsSync(path)) throw new CreateError(`--petrichor: there is no file '${petrichor}'.`);
  return `file:${relative(target, path).replaceAll('\\', '/')}`;
}

function makeEmptyFolder(target: string, folder: string): void {
  try {
    mkdirSync(target, { recursive: true });
    if (readdirSync(target).length === 0) return;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CreateError(`FOLDER: '${folder}' cannot be a folder: ${reason}`);
  }
  throw new CreateError(`FOLDER: '${folder}' is not empty. Name a new folder.`);
}
