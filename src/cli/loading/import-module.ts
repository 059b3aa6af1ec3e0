import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AgentModuleError } from './agent-module-error.ts';
import { describeThrown } from './describe-thrown.ts';

/**
 * Imports a module, which runs it, and returns its exports by name.
 * @param file the path as the user gave it, for the error
 * @throws AgentModuleError if it is missing or fails
 */
export async function importModule(
  file: string,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (!existsSync(path)) {
    throw new AgentModuleError(file, 'missing', 'does not exist. Check the path.');
  }
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the exports of an unknown module
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new AgentModuleError(file, 'failed', `could not be loaded: ${getFailureReason(error)}`, {
      cause: error,
    });
  }
}

function getFailureReason(error: unknown): string {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return 'this Node cannot run TypeScript. Use Node 22.18 or newer, or name the compiled .js file.';
  }
  const place = findSyntaxErrorPlace(error);
  return place === undefined ? describeThrown(error) : `${describeThrown(error)}, at ${place}`;
}

/** Node puts the file and the line of a syntax error in TypeScript before its stack, and not into its message. */
function findSyntaxErrorPlace(error: unknown): string | undefined {
  if (!(error instanceof SyntaxError)) return undefined;
  const { file, line } = /^(?<file>\S.*):(?<line>\d+)\n/.exec(error.stack ?? '')?.groups ?? {};
  if (file === undefined) return undefined;
  return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${line}`;
}
