import type { Tool, Toolset } from '../../tools/index.ts';
import type { McpServerConfig } from './agent-def.ts';
import type { SessionEnvironment } from './managed-runtime.ts';

/**
 * Makes the tools behind a built-in's name, for sessions of this environment; undefined for a name it has none for.
 * @throws InvalidInputError when the environment cannot be honoured
 */
export type BuiltInSource = (
  name: string,
  environment: SessionEnvironment,
) => Promise<readonly (Tool | Toolset)[] | undefined>;

/** The tools of one MCP server, while it is connected. */
export interface ServerTools {
  readonly tools: Toolset;
  readonly close: () => Promise<void>;
}

/** Connects to a server of a definition. @throws when it cannot be reached */
export type McpSource = (server: McpServerConfig) => Promise<ServerTools>;

/** What an agent can learn when it needs to. */
export interface Skill {
  readonly name: string;
  /** When to use it: the model sees this always. */
  readonly description: string;
  /** How: the model reads this when it asks for the skill. */
  readonly instructions: string;
  readonly tools?: readonly Tool[];
}

/** Finds a skill by its id; undefined when there is none. */
export type SkillSource = (skillId: string) => Promise<Skill | undefined>;
