import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { AgentModuleError } from './agent-module-error.ts';

/** What a module exports, by name. This runs it. @param file as it was given, for the error @throws AgentModuleError */
export async function importModule(
  file: string,
  path: string,
): Promise<Readonly<Record<string, unknown>>> {
  if (!existsSync(path)) {
    throw new AgentModuleError(file, 'missing', 'is not there: check the path.');
  }
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a module's exports, of which nothing is known yet
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new AgentModuleError(file, 'failed', `could not be loaded: ${getFailureReason(error)}`, {
      cause: error,
    });
  }
}

function getFailureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ERR_UNKNOWN_FILE_EXTENSION') {
    return 'this Node cannot run TypeScript. Use Node 22.18 or newer, or name the compiled .js file.';
  }
  return error.message;
}
