import { join } from 'node:path';
import type { McpSource, SessionEnvironment, Skill } from '../../src/managed/index.ts';
import { webFetchTool } from '../../src/tools/built-in/index.ts';
import { tool } from '../../src/tools/index.ts';
import { mcpSource } from '../../src/tools/mcp/index.ts';
import type { Tool } from '../../src/tools/index.ts';

const pathOnly = {
  type: 'object',
  properties: { path: { type: 'string' } },
  required: ['path'],
} as const;

/** The built-in tools that the agents of the fixtures can name. */
export const fixtureTools: readonly Tool[] = [
  tool({
    name: 'delete_file',
    description: 'Deletes a file.',
    parameters: pathOnly,
    execute: ({ path }) => ({ deleted: path }),
  }),
  tool({
    name: 'web_search',
    description: 'Searches the web.',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string' } },
      required: ['query'],
    },
    readOnly: true,
    execute: ({ query }) => ({ found: `about ${String(query)}` }),
  }),
  tool({
    name: 'slow',
    description: 'Takes its time, and hears no abort.',
    execute: async () =>
      new Promise(() => {
        // Never resolves.
      }),
  }),
  tool({
    name: 'count',
    description: 'Counts in the state of the session.',
    execute: (_args, { state }) => {
      state.increment('count', 1);
      return { counted: true };
    },
  }),
];

/** Returns the built-in tools with this name, for sessions of an environment. */
export function builtInsFor(name: string, environment: SessionEnvironment): readonly Tool[] {
  if (name === 'web_fetch') return [webFetchTool({ hosts: ['169.254.169.254'] })];
  if (name === 'show_environment')
    return [
      tool({
        name,
        description: 'Shows where it runs.',
        readOnly: true,
        execute: () => ({ ...environment }),
      }),
    ];
  return fixtureTools.filter((one) => one.name === name);
}

/** Starts the server of the fixtures instead of the program that they name. */
export const openFixtureServer: McpSource = async (server) =>
  mcpSource()({
    ...server,
    command: process.execPath,
    args: [join(import.meta.dirname, 'file-reader.ts')],
  });

export function findSkill(id: string): Skill | undefined {
  if (id !== 'releases') return undefined;
  return {
    name: 'releases',
    description: 'How releases are made here.',
    instructions: 'Tag first, then publish.',
  };
}
