import type { Tool, Toolset } from '../../tools/index.ts';
import type { McpServerConfig } from './agent-def.ts';
import type { SessionEnvironment } from './managed-runtime.ts';

/**
 * Creates the tools behind a built-in's name, for sessions with this environment. Returns `undefined` for an unknown
 * name.
 * @throws InvalidInputError if the environment cannot be provided
 */
export type BuiltInSource = (
  name: string,
  environment: SessionEnvironment,
) => Promise<readonly (Tool | Toolset)[] | undefined>;

/** The tools of one connected MCP server. */
export interface ServerTools {
  readonly tools: Toolset;
  readonly close: () => Promise<void>;
}

/**
 * Connects to a server of a definition.
 * @throws if the server cannot be reached
 */
export type McpSource = (server: McpServerConfig) => Promise<ServerTools>;

/** Instructions and tools that an agent loads on demand. */
export interface Skill {
  readonly name: string;
  /** When to use the skill. Always part of the agent's instruction. */
  readonly description: string;
  /** How to do it. Returned when the model reads the skill. */
  readonly instructions: string;
  readonly tools?: readonly Tool[];
}

/** Finds a skill by its id. Returns `undefined` if there is none. */
export type SkillSource = (skillId: string) => Promise<Skill | undefined>;
