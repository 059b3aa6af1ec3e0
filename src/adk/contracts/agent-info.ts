/** An agent as its contexts and plugins see it. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AgentInfo[];
  /** Finds this agent or one of its descendants by name. */
  readonly findAgent: (name: string) => AgentInfo | undefined;
}
