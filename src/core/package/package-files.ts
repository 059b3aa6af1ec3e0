/** Where the files of this package are. The code that asks may be source, built, or part of a shared chunk. */

/** Returns the URL of a file of this package by its path from the `package.json`. */
export function packageFile(path: string): URL {
  return new URL(path, import.meta.resolve('petrichor/package.json'));
}

/**
 * Returns the URL of a module of this package that runs in a process or thread of its own, for example `cli/main`: the
 * source when this is the source, otherwise the built file. The build has a list of these modules.
 */
export function packageProgram(name: string): URL {
  return packageFile(import.meta.url.endsWith('.ts') ? `src/${name}.ts` : `dist/${name}.js`);
}
