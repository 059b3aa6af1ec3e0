/** An agent as its contexts and plugins see it. */
export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly subAgents: readonly AgentInfo[];
  /** This agent or one below it. */
  readonly findAgent: (name: string) => AgentInfo | undefined;
}
