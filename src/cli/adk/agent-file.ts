import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { UsageError } from '../command/usage-error.ts';

/** The modules of an agent's folder. The first one counts. */
const AGENT_FILES: readonly string[] = ['app', 'agent'].flatMap((name) =>
  ['ts', 'js', 'mts', 'mjs'].map((type) => `${name}.${type}`),
);

/** A folder with the module of an agent. */
export interface AgentFolder {
  readonly name: string;
  readonly file: string;
}

/**
 * Finds the module of an operand of ADK's command line: a file, a folder with `agent.ts` or `app.ts`, or a folder with one
 * such folder.
 * @throws UsageError if the folder has no such module, or several
 */
export function findAgentFile(operand: string, cwd: string): string {
  const folders = listAgentFolders(operand, cwd);
  if (folders === undefined) return findOwnFile(resolve(cwd, operand)) ?? operand;
  const [only, ...more] = folders;
  if (only !== undefined && more.length === 0) return only.file;
  const files = folders.map(({ file }) => relative(cwd, file)).join(', ');
  throw new UsageError(`${operand} has several agents: ${files}. Name one of them.`, 'adk');
}

/**
 * Lists the folders with agents in a folder that has no agent itself.
 * @returns undefined if the operand is a file, or the folder of one agent
 * @throws UsageError if there are none
 */
export function listAgentFolders(operand: string, cwd: string): readonly AgentFolder[] | undefined {
  const path = resolve(cwd, operand);
  if (!isFolder(path) || findOwnFile(path) !== undefined) return undefined;
  const folders = readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }): readonly AgentFolder[] => {
      const file = isFolder(join(path, name)) ? findOwnFile(join(path, name)) : undefined;
      return file === undefined ? [] : [{ name, file }];
    });
  if (folders.length > 0) return folders;
  throw new UsageError(`${operand} has no agent.ts or agent.js, nor has a folder in it.`, 'adk');
}

function findOwnFile(path: string): string | undefined {
  if (!isFolder(path)) return undefined;
  return AGENT_FILES.map((name) => join(path, name)).find((file) => existsSync(file));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
