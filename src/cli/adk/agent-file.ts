import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { UsageError } from '../command/usage-error.ts';

const AGENT_FILES: readonly string[] = ['agent.ts', 'agent.js', 'agent.mts', 'agent.mjs'];

/**
 * Finds the module of an operand of ADK's command line: a file, a folder with `agent.ts`, or a folder with one such
 * folder.
 * @throws UsageError if the folder has no such module, or several
 */
export function findAgentFile(operand: string, cwd: string): string {
  const path = resolve(cwd, operand);
  if (!existsSync(path) || !statSync(path).isDirectory()) return operand;
  const own = listAgentFiles(path);
  const folders = readdirSync(path, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.'),
  );
  const found =
    own.length > 0 ? own : folders.flatMap(({ name }) => listAgentFiles(join(path, name)));
  const [file, ...more] = found;
  if (file === undefined)
    throw new UsageError(`${operand} has no agent.ts or agent.js, nor has a folder in it.`, 'adk');
  if (more.length > 0)
    throw new UsageError(
      `${operand} has several agents: ${found.map((one) => relative(cwd, one)).join(', ')}. Name one of them, or a module that exports all.`,
      'adk',
    );
  return file;
}

function listAgentFiles(folder: string): readonly string[] {
  return AGENT_FILES.map((name) => join(folder, name)).filter((file) => existsSync(file));
}
